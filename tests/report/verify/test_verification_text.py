from __future__ import annotations

import math
import re
from itertools import product

import pytest

from tests.report.measured.test_measured_json import told
from tests.report.strict_page import Page
from tests.report.verify.sample_results import (
    comparison,
    counters,
    environment,
    estimate,
    fix,
    lanes,
    many,
    numerics,
    result,
    rich,
)
from torchlint.experiment.figures import TIMES
from torchlint.report.terminal.safe_text import Paint
from torchlint.report.verify import verification_page
from torchlint.report.verify.verification_text import render
from torchlint.report.verify.verification_words import changed_program
from torchlint.runtime.sandbox.side_effects import SideEffect
from torchlint.verify.result import (
    Agreement,
    Noise,
    Required,
    Result,
    Verdict,
)


def text(found: Result, width: int = 140, *, details: bool = False) -> str:
    return "\n".join(render(found, Paint(), width, details=details))


def flat(found: Result, width: int = 140, *, details: bool = False) -> str:
    """The report on one line, so that a sentence is found wherever it is broken."""
    return " ".join(text(found, width, details=details).split())


# the room that there is --------------------------------------------------------------------


@pytest.mark.parametrize("count", [16, 40])
def test_what_is_folded_is_counted_and_found_in_the_json(count: int) -> None:
    lines = render(many(count), Paint(), 80)
    shown = sum(bool(re.match(r"TL\d+ ", line)) for line in lines)
    (folded,) = (line for line in lines if "not shown" in line)
    assert folded.startswith(f"{count - shown} more fix")
    assert "--details" in folded
    assert shown >= 6
    assert text(many(count), 80, details=True).count("dataloader-no-workers") == count


def test_what_is_done_fewer_of_is_in_the_report_and_the_rest_in_the_details() -> None:
    before = counters(kernels=None, missing={"kernels": "there is no GPU"})
    after = counters(reads=0, kernels=None)
    alone = comparison(counters=after)
    found = result(counters=before, total=alone, fixes=(fix(1, alone=alone), fix(2)))
    assert "counts a step: reads 3 → 0 machine" in flat(found)
    details = flat(found, details=True)
    assert "counts a step: reads 3 · operations 412.5 · bytes copied 4.1 k" in details
    assert "TL101: reads 3 → 0 total: reads 3 → 0 not counted: kernels (there is no GPU)" in details
    assert "not counted" not in flat(found)
    shown = page(found)
    assert "What a step does" in shown
    assert "Not counted: kernels (there is no GPU)." in shown


def test_where_nothing_differs_no_counts_are_shown() -> None:
    found = result(counters=counters(), total=comparison(counters=counters()))
    assert "counts" not in text(found)
    assert "counts" in text(found, details=True)


def test_less_work_is_a_reason_of_its_own() -> None:
    less = comparison(counters=counters(), less_work="1 → 0.5 batches a step")
    found = result(counters=counters(batches=1), total=less, fixes=())
    assert "LESS WORK (total): 1 → 0.5 batches a step" in flat(found)
    assert "LESS WORK" in page(found)


def test_an_unfit_machine_hides_no_counts() -> None:
    unfit = Noise(estimate(1.1), 0.2, fit=False, why="identical programs may differ")
    why = f"does fewer: 3 → 0 reads a step; {unfit.why}"
    found = result(aa=unfit, total=comparison(Verdict.UNRESOLVED, why=why), fixes=())
    assert "UNRESOLVED (total): does fewer: 3 → 0 reads a step machine" in flat(found)


def test_bounds_are_listed_with_what_came_of_them() -> None:
    bounds = (
        Required("reads<=0", 0, held=True),
        Required("bytes<1", 4, held=False),
        Required("kernels<9", None, held=None, why="there is no GPU"),
    )
    found = result(required=bounds, counters=counters())
    for shown in (flat(found), flat(found, details=True), page(found)):
        for words in ("reads<=0 holds", "bytes<1 DOES NOT HOLD (", "kernels<9 is not known"):
            assert words in shown


def test_nothing_is_called_folded_where_all_is_shown() -> None:
    assert "not shown" not in text(rich())


def test_folding_keeps_the_fixes_that_matter() -> None:
    quiet = [fix(number, Verdict.NEUTRAL, 1.0) for number in range(1, 30)]
    loud = [fix(30, Verdict.SLOWER, 0.8), fix(31, Verdict.CONFIRMED, 1.3)]
    shown = [line[:5] for line in render(result(fixes=(*quiet, *loud)), Paint(), 80)]
    assert {"TL101", "TL130", "TL131"} <= set(shown)


def page(found: Result) -> str:
    return Page(verification_page.render(found)).text()


def test_every_missing_part_leaves_a_report_a_page_and_a_null() -> None:
    known = rich()
    for plan, aa, total, fixes in product(*[(True, False)] * 4):
        found = result(
            plan=known.plan if plan else None,
            aa=known.aa if aa else None,
            total=known.total if total else None,
            fixes=known.fixes if fixes else (),
            strips=known.strips if aa else (),
        )
        for shown in (text(found, 80, details=True), page(found)):
            assert ("AdamW.step" in shown) == plan
            assert ("against itself" in shown) == aa
            assert ("16.6 → 9.34 ms" in shown) == total
            assert ("manual-grad-zeroing" in shown) == fixes
        keys = told(found)
        assert (keys["plan"] is not None, keys["aa"] is not None) == (plan, aa)
        assert (keys["total"] is not None, bool(keys["fixes"])) == (total, fixes)


def test_a_wide_terminal_gets_a_line_for_each_fix() -> None:
    (line,) = (line for line in render(rich(), Paint(), 140) if line.startswith("TL301 "))
    cells = re.split(r"  +", line)
    assert cells == [
        "TL301",
        "cells/models/residual.py:21",
        "1.197 [1.176, 1.219]",
        "1.014 [0.996, 1.032]",
        "equal to rounding",
        "CONFIRMED",
    ]


def test_the_name_of_a_rule_is_there_where_it_fits() -> None:
    for width, first in ((80, "TL101 "), (140, "TL101 dataloader-no-workers  ")):
        (line,) = (line for line in render(result(), Paint(), width) if line.startswith("TL101"))
        assert line.startswith(first)
    narrow = render(result(), Paint(), 80)
    assert "       CONFIRMED · bitwise equal · dataloader-no-workers" in narrow


def test_words_that_do_not_fit_behind_a_verdict_are_left_out() -> None:
    declares = numerics(Agreement.DECLARED)
    alone = comparison(Verdict.NOT_MEASURABLE, 1.0, numerics=declares)
    lines = render(result(fixes=(fix(name="a-rule-with-a-long-name", alone=alone),)), Paint(), 72)
    assert "       NOT MEASURABLE HERE · differs as declared" in lines


def test_fixes_of_one_rule_are_told_apart_by_their_files() -> None:
    twice = comparison(Verdict.UNRESOLVED, 1.0, why="who knows")
    paths = ("a/train.py", "b/train.py", "model.py")
    fixes = tuple(fix(1, path=path, alone=twice) for path in paths)
    shown = flat(result(fixes=(*fixes, fix(2, alone=twice))))
    listed = "TL101 in a/train.py, TL101 in b/train.py, TL101 in model.py, TL102"
    assert f"UNRESOLVED ({listed}): who knows" in shown


def test_a_single_pair_has_no_interval() -> None:
    one = estimate(1.2, ci=(0.0, math.inf), strict=(0.0, math.inf), pairs=1)
    shown = text(result(total=comparison(Verdict.UNRESOLVED, estimate=one), fixes=()), details=True)
    assert f"{TIMES}1.200 no interval" in shown
    assert "also     1 pair" in shown


def test_the_columns_of_a_wide_table_line_up() -> None:
    lines = render(rich(), Paint(), 140)
    rows = [line for line in lines if re.match(r"TL\d+ ", line)]
    header = next(line for line in lines if line.startswith("fix "))
    column = header.index("verdict")
    assert [row[column:] for row in rows] == [each.alone.verdict.value for each in rich().fixes]


def test_a_narrow_terminal_gets_two() -> None:
    lines = render(rich(), Paint(), 80)
    at = next(at for at, line in enumerate(lines) if line.startswith("TL301 "))
    assert lines[at].endswith("1.197 [1.176, 1.219]  1.014 [0.996, 1.032]")
    assert "models/residual.py:21" in lines[at]
    assert lines[at + 1].split(" · ") == [
        " " * 7 + "CONFIRMED",
        "equal to rounding",
        "conv-bias-before-norm",
    ]


# what it says ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 140])
def test_every_verdict_and_agreement_is_said_in_its_own_word(width: int) -> None:
    for verdict in Verdict:
        assert verdict.value in text(result(fixes=(fix(1, verdict, 1.0),)), width)
    for agreement in Agreement:
        found = comparison(numerics=numerics(agreement))
        assert agreement.value in text(result(total=None, fixes=(fix(alone=found),)), width)


def test_the_first_line_is_the_answer() -> None:
    lines = render(result(), Paint(), 100)
    assert lines[0] == (
        f"CONFIRMED {TIMES}1.777 [1.745, 1.809] · 16.6 → 9.34 ms a step · bitwise equal over 30 steps"
    )
    assert lines[1] == "torchlint verify train.py (48 s)"


def test_wrong_numbers_come_before_any_gain() -> None:
    wrong = numerics(Agreement.DIFFERS, apart=0.01)
    (first, *_) = render(result(total=comparison(numerics=wrong)), Paint(), 140)
    assert first.startswith(f"DIFFERS from step 4 on · CONFIRMED {TIMES}1.200")


def test_what_was_not_measured_has_its_reason_in_the_first_line() -> None:
    found = result(total=None, aa=None, fixes=(), exit=6, summary="It took no step.")
    assert render(found, Paint(), 100)[:2] == [
        "It took no step.",
        "torchlint verify train.py (48 s)",
    ]


def test_a_run_that_fails_before_a_ratio_is_known_comes_before_the_verdict() -> None:
    unknown = comparison(Verdict.UNRESOLVED, None, numerics=numerics())
    found = result(total=unknown, aa=None, exit=4, summary="A run failed: boom\n  line 57")
    lines = render(found, Paint(), 100)
    assert lines[0] == "A run failed: boom"
    assert lines[2:4] == ["UNRESOLVED · bitwise equal over 30 steps", "    line 57"]


def test_an_answer_too_long_for_its_line_goes_on_in_the_next() -> None:
    declares = comparison(numerics=numerics(Agreement.DECLARED))
    lines = render(result(total=declares), Paint(on=True), 72)
    assert lines[0].endswith("ms a step")
    assert lines[1] == "differs as declared over 30 steps"


def test_the_machine_is_said_in_one_line() -> None:
    shown = text(rich(), 100)
    assert "machine  cpu, 2 processors · noise 1.2% · CPU ratios do not predict GPU ratios" in shown
    gpu = environment(device="cuda", gpu={"name": "NVIDIA H100"})
    assert "machine  NVIDIA H100 · noise 1.2%" in text(result(environment=gpu))


def test_a_device_that_no_run_has_shown_is_left_out() -> None:
    early = result(aa=None, total=None, exit=4, environment=environment(device="unknown"))
    assert "machine  2 processors" in text(early)
    assert "unknown" not in text(early, details=True)


def test_the_plan_and_the_noise_are_details() -> None:
    parts = (
        "cpu · 1 thread on 2 processors · torch 2.13.0+cpu · Python 3.11.7 · load 0.41",
        "set: MALLOC_TOP_PAD_",
        "4, 8, 16 pairs · 10 blocks of 5 steps · warm-up 10 · margin 2% · alpha 0.05 · seed 0",
        "a step ends at AdamW.step (optimizer 1 of 1)",
        f"against itself {TIMES}1.004 [0.992, 1.016] · floor 1.2% · fit for claims",
        f"CPU time of the training process {TIMES}1.155 · peak memory 812 → 806 MB",
        "An interval covers this session only",
    )
    short, long = flat(rich()), flat(rich(), details=True)
    for part in parts:
        assert part in long
        assert part not in short


def test_identical_programs_that_lay_apart_are_said_in_words() -> None:
    aa = Noise(estimate(1.104, 0.05), 0.104, fit=True)
    said = f"came to {TIMES}1.104 [1.050, 1.161], which does not hold 1; a claim here has to exceed 10%."
    assert said in flat(result(aa=aa))
    assert "does not hold 1" not in flat(result())


def test_what_the_compared_steps_did_not_reach_is_said() -> None:
    found = result(unreached=("evaluation", "the end of the first pass"))
    said = "compared over 30 steps; not reached: evaluation, the end of the first pass."
    assert said in flat(found)


def test_each_word_that_needs_a_reason_gets_one_sentence() -> None:
    shown = flat(rich())
    for part in (
        "NOT MEASURABLE HERE (TL201, TL202): it avoids waiting for a GPU, and this run has none",
        "NOT EXERCISED (TL601): none of its lines ran in the measured part",
        "UNRESOLVED (TL105): about 23 pairs would tell",
        "DIFFERS (TL304): the losses leave the envelope; from step 4 on",
        "differs as declared (TL101, total): random numbers are drawn in other processes",
        "hidden (TL301): after the others, the step waits for data loading",
        "The fix of TL103 at cells/data.py:40 overlaps another fix",
    ):
        assert part in shown


def test_what_speaks_against_a_fix_comes_first() -> None:
    lines = render(rich(), Paint(), 140)
    first = next(line for line in lines if "): " in line)
    assert first.startswith("DIFFERS (TL304)")


def test_a_fix_that_is_slower_after_the_others_is_named() -> None:
    late = fix(after=1.0)
    slower = comparison(Verdict.SLOWER, 0.9)
    found = result(fixes=(fix(1, after=1.2), fix(2, alone=late.alone, after=0.9)))
    assert "when the other fixes are made" not in text(found)
    fixes = (found.fixes[0], fix(2, Verdict.SLOWER, 0.9, after=0.9, alone=late.alone))
    assert slower.verdict is Verdict.SLOWER
    assert "SLOWER (TL102): when the other fixes are made" in text(result(fixes=fixes))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (result(), True),
        (result(environment=environment(device="cuda")), False),
        (result(aa=None, total=None, fixes=(), exit=4), False),
    ],
)
def test_cpu_ratios_are_said_not_to_predict_gpu_ratios(found: Result, said: bool) -> None:
    for shown in (text(found), text(found, details=True), page(found)):
        assert ("CPU ratios do not predict GPU ratios" in shown) == said


@pytest.mark.parametrize(("device", "whose"), [("cpu", ""), ("cuda", " of the host")])
def test_without_a_fix_it_says_whose_step_is_shown(device: str, whose: str) -> None:
    found = result(
        environment=environment(device=device), lanes=lanes(), plan=None, aa=None, total=None
    )
    assert f"step     16.9 ms{whose}: data 49%, backward" in text(found)


def test_an_unfit_machine_is_called_so() -> None:
    aa = Noise(estimate(1.09, 0.08), 0.08, fit=False, why="the load was 7 on 2 processors")
    shown = flat(result(aa=aa), details=True)
    assert "floor 8% · UNFIT for claims · the load was 7 on 2 processors" in shown
    on_page = page(result(aa=aa))
    assert "This machine was unfit for claims: the load was 7 on 2 processors." in on_page
    assert "noise of this machine, 8%: a claim has to clear it" in on_page


def test_a_failed_script_leaves_its_last_lines() -> None:
    summary = "The original script failed: boom\n" + "\n".join(f"  line {n}" for n in range(20))
    lines = render(result(aa=None, total=None, fixes=(), exit=4, summary=summary), Paint(), 80)
    assert lines[0] == "The original script failed: boom"
    assert lines[2:10] == [f"    line {number}" for number in range(12, 20)]


def test_a_long_line_of_a_script_keeps_its_end() -> None:
    summary = "It failed.\n    " + "a long path/" * 12 + " returncode=2"
    lines = render(result(aa=None, total=None, fixes=(), exit=4, summary=summary), Paint(), 80)
    assert lines[2].startswith("      a long")
    assert lines[4].endswith("returncode=2")
    summary = "It failed.\n" + "a long path/" * 40 + " returncode=2"
    lines = render(result(aa=None, total=None, fixes=(), exit=4, summary=summary), Paint(), 80)
    assert lines[2].endswith("…")
    assert lines[4].endswith("returncode=2")


def test_details_name_what_was_held_back() -> None:
    found = tuple(SideEffect("create", f"{name}.txt", kept=False) for name in range(30))
    shown = flat(result(side_effects=found), details=True)
    assert "30 new files (0.txt, 1.txt, 2.txt, 3.txt" in shown
    assert "19.txt and 10 more)" in shown


@pytest.mark.parametrize(
    ("verdict", "agreement", "offered"),
    [
        (Verdict.CONFIRMED, Agreement.BITWISE, True),
        (Verdict.CONFIRMED, Agreement.ROUNDING, True),
        (Verdict.CONFIRMED, Agreement.DECLARED, False),
        (Verdict.CONFIRMED, Agreement.DIFFERS, False),
        (Verdict.CONFIRMED, Agreement.UNKNOWN, False),
        (Verdict.NEUTRAL, Agreement.BITWISE, False),
        (Verdict.SLOWER, Agreement.BITWISE, False),
    ],
)
def test_only_what_came_out_well_is_offered(
    verdict: Verdict, agreement: Agreement, offered: bool
) -> None:
    found = result(fixes=(fix(alone=comparison(verdict, numerics=numerics(agreement))),))
    assert ("torchlint fix --verified train.py --apply" in text(found)) == offered


@pytest.mark.parametrize(
    ("argv", "command"),
    [
        (("my train.py",), "torchlint fix --verified 'my train.py' --apply"),
        (("a.py", "--lr", "1"), "torchlint fix --verified a.py --apply -- --lr 1"),
        (("-m", "pkg.a", "-x"), "torchlint fix --verified -m pkg.a --apply -- -x"),
    ],
)
def test_the_offered_command_is_one_that_a_shell_takes(argv: tuple[str, ...], command: str) -> None:
    assert render(result(argv=argv), Paint(), 140)[-2] == f"apply    {command}"


def test_a_program_that_does_not_repeat_itself_is_said_to() -> None:
    why = "the original computes other numbers each time that it runs"
    aa = Noise(estimate(1.0), 0.01, fit=True, numerics=numerics(Agreement.UNKNOWN, why=why))
    assert f"its numbers: {why}" in text(result(aa=aa), details=True)
    aa = Noise(estimate(1.0), math.inf, fit=False, numerics=numerics())
    shown = text(result(aa=aa), details=True)
    assert "floor unknown · UNFIT for claims · its numbers: bitwise equal" in shown


def test_a_folder_counts_for_the_files_in_it() -> None:
    effects = (SideEffect("create", "runs/", kept=False, count=40),)
    assert "40 new files (runs/)" in text(result(side_effects=effects), details=True)


def test_what_was_not_measured_is_listed() -> None:
    fixes = tuple(fix(n, Verdict.UNRESOLVED, None) for n in (1, 2))
    found = result(aa=None, total=comparison(numerics=None), fixes=fixes)
    shown = flat(found, details=True)
    assert (
        "not measured: the noise of this machine, each fix alone, each fix after the others, "
        "the computed numbers" in shown
    )
    assert "not measured" not in text(rich(), details=True)
    assert "not measured" not in text(result(), details=True)


def test_side_effects_are_summed_up_and_what_got_through_stands_out() -> None:
    held = "held back (overlayfs): 1 new file, 1 new folder (runs/2026-11-20/"
    unsent = "switched off or not sent in these runs: 1 upload (wandb.init)"
    through = "LET THROUGH: 1 connection (127.0.0.1:6006)"
    short, long = text(rich()), text(rich(), details=True)
    assert held in long
    assert held not in short
    assert unsent in short
    assert through in long
    assert through in short
    assert "outside" not in text(result(), details=True)


def test_a_command_of_the_script_is_told_and_not_called_let_through() -> None:
    found = result(side_effects=(SideEffect("process", "cp a.txt …", kept=True),))
    assert "outside  started by the script: 1 process (cp a.txt …)" in text(found)
    assert "LET THROUGH" not in text(found, details=True)


def test_what_a_package_starts_by_itself_is_not_a_warning() -> None:
    found = result(side_effects=(SideEffect("helper", "fc-list --format", kept=True),))
    assert "fc-list" not in text(found)
    assert "started by packages: 1 process (fc-list --format)" in text(found, details=True)
    assert "LET THROUGH" not in text(found, details=True)


def test_how_many_fixes_are_good_is_said_for_several() -> None:
    fixes = (fix(1), fix(2, Verdict.NEUTRAL, 1.0))
    assert "1 of 2 fixes confirmed, with numbers that stay right." in text(
        result(summary="", fixes=fixes)
    )
    assert "1 of 1" not in text(result(summary=""))
    together = tuple(fix(number, Verdict.UNRESOLVED, None) for number in (1, 2))
    assert "0 of 2" not in text(result(summary="", fixes=together))
    assert "Nothing was measured." in text(result(summary=" ", fixes=(), total=None))


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ([1.1], "the fix"),
        ([1.1, 1.2], "both fixes"),
        ([1.1, 1.2, 1.3], "all 3 fixes"),
        ([1.1, None, 1.3], "the 2 fixes that were measured"),
        ([1.1, None], "the 1 fix that was measured"),
    ],
)
def test_the_whole_change_is_called_by_what_was_measured(
    ratios: list[float | None], said: str
) -> None:
    fixes = tuple(
        fix(at, Verdict.NEUTRAL if each else Verdict.NOT_EXERCISED, each)
        for at, each in enumerate(ratios, start=1)
    )
    assert changed_program(result(fixes=fixes)) == said


def test_fixes_that_were_measured_together_only_are_all_counted() -> None:
    fixes = tuple(fix(at, Verdict.UNRESOLVED, None) for at in (1, 2, 3))
    assert changed_program(result(fixes=fixes)) == "all 3 fixes"

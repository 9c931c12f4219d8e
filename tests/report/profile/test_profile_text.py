from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.report.profile.sample_profiles import (
    crowded,
    failed,
    finding,
    full,
    profile,
    read,
    rich,
    static,
    timing,
)
from tests.report.verify.sample_results import environment
from torchlint.experiment.figures import TIMES
from torchlint.profile.layer_table import Row
from torchlint.profile.planned_runs import COMMUNICATION, DIAGNOSTICS
from torchlint.profile.ranks import Rank
from torchlint.profile.sweep import Sweep, Tried
from torchlint.report.profile.profile_text import render
from torchlint.report.terminal.safe_text import Paint
from torchlint.runtime.sandbox.side_effects import SideEffect

if TYPE_CHECKING:
    from torchlint.profile.profile_result import Profile


def text(found: Profile, width: int = 140, *, details: bool = False) -> str:
    return "\n".join(render(found, Paint(), width, details=details))


def flat(found: Profile, width: int = 140, *, details: bool = False) -> str:
    """The report on one line, so that a sentence is found wherever it is broken."""
    return " ".join(text(found, width, details=details).split())


# the room that there is --------------------------------------------------------------------


def test_the_command_to_copy_stays_whole() -> None:
    long = profile(argv=("train.py", "--word" * 90), findings=rich().findings)
    (command,) = (line for line in render(long, Paint(), 80) if line.startswith("next "))
    assert command.endswith(f"-- {'--word' * 90}")


@pytest.mark.parametrize("width", [72, 140])
def test_the_end_is_there_however_much_there_is(width: int) -> None:
    lines = render(crowded(), Paint(), width)
    labels = [line.split("  ")[0] for line in lines]
    for label in ("instruments", "not measured", "not reached", "outside", "note", "next", "took"):
        assert label in labels


@pytest.mark.parametrize("count", [13, 40])
def test_what_is_left_out_is_counted_and_found_in_the_details(count: int) -> None:
    found = profile(
        findings=tuple(finding(0.1, row=row) for row in range(1, count + 1)),
        census=tuple(read(row) for row in range(1, count + 1)),
    )
    lines = render(found, Paint(), 100)
    shown = sum(bool(re.match(r" +\d+  cells", line)) for line in lines)
    listed = sum("reads a step" in line for line in lines)
    assert 3 <= shown < count
    assert f"{count - shown} more, --details shows them" in "\n".join(lines)
    if listed < count:
        assert f"     {count - listed} more, --details shows them" in lines
    long = text(found, 100, details=True)
    assert long.count("TR101 input-wait") == long.count("reads a step") == count
    assert "more, --details" not in long


def test_nothing_is_called_left_out_where_all_is_shown() -> None:
    assert "--details" not in text(replace(rich(), small=0))


# what it says ------------------------------------------------------------------------------


def test_the_first_lines_say_what_was_run_how_long_a_step_takes_and_what_it_waits_for() -> None:
    assert render(profile(), Paint(), 140)[:2] == [
        "torchlint profile train.py · 30 steps after 12 of warm-up · 41.2 ms a step (± 1.8%) · "
        "no GPU, 2 processors",
        "limit: processor: the script keeps 1.9 of 2 processors busy (data 35%, backward 30%, forward 20%)",
    ]


def test_ranks_are_summed_up_and_the_one_with_the_most_is_named() -> None:
    ranks = (
        Rank(0, "a", 0.040, 0.001, 0.010, 0.029, 1.0),
        Rank(1, "a", 0.041, 0.001, 0.009, 0.031, 1.0),
        Rank(2, "b", 0.042, 0.020, None, None, 1.0),
    )
    said = (
        "ranks step 40 / 41 / 42 ms (rank 2 on b) · own work 29 / 30 / 31 ms (rank 1 on a) · "
        "input 1 / 1 / 20 ms (rank 2 on b) · reads 1 / 1 / 1"
    )
    assert said in " ".join(text(profile(ranks=ranks)).split())
    assert "\nranks " not in text(profile())


def test_the_number_of_gpus_is_that_of_the_processes() -> None:
    here = environment(device="cuda", gpu={"name": "A GPU"}, processes=2)
    assert text(profile(environment=here)).splitlines()[0].endswith(" · 2 GPUs")


def test_the_facts_stay_behind_a_command_that_fills_its_line() -> None:
    lines = render(profile(argv=("train.py", *["--word"] * 90)), Paint(), 72)
    assert lines[0].endswith("…")
    assert lines[1].startswith("30 steps after 12 of warm-up · 41.2 ms a step")


def test_a_noise_of_more_than_a_step_is_readable() -> None:
    assert "(± 120%)" in text(profile(timing=timing(noise=1.2)))


def test_findings_are_numbered_in_their_order_with_their_ceilings_at_the_right() -> None:
    lines = render(rich(), Paint(), 100)
    heads = [line for line in lines if re.match(r"  \d  ", line)]
    assert heads == [
        "  1  cells/data.py:31          TR101 input-wait".ljust(87) + f"at most {TIMES}1.54",
        "  2  …s/models/residual.py:54  TR501 recomputed".ljust(87) + f"at most {TIMES}1.25",
        "  3  train.py:91               TR702 python-residue".ljust(87) + f"at most {TIMES}1.06",
        "  4  -                         TR401 unused-gradient",
    ]
    at = lines.index(heads[0])
    assert lines[at + 1] == (
        "     4 of 10 ms a step in `next(loader)`; 0 workers, 16 cores; let workers load (`--sweep "
        "workers`)"
    )


def test_what_the_run_cannot_tell_is_nothing_and_not_zero() -> None:
    assert "at most" not in text(profile(findings=(finding(None),), costs={}))
    assert TIMES not in text(profile(findings=(finding(None),), costs={}))


def test_rules_that_say_the_same_come_after_the_action() -> None:
    shown = flat(rich())
    assert "do it every hundred steps (TL204, fix available)" in shown
    assert "if the memory is there (TL509)" in shown
    twice = finding(0.1, static=(static(row=31), static(row=31)))
    assert "(TL201, fix available)" in flat(profile(findings=(twice,)))


def test_the_line_below_the_findings_has_the_joint_bound_and_the_small_ones() -> None:
    said = (
        f"together at most {TIMES}2.13 (they overlap) · 4 smaller costs below 3%, --details "
        "lists them · 1 finding silenced by a comment"
    )
    assert said in text(rich())


RUNS = {each.about: 1.1 for each in DIAGNOSTICS if not each.alters}


def test_without_a_finding_it_says_what_that_means() -> None:
    said = "No finding: nothing that was watched costs 3% of a step"
    assert f"{said}." in flat(profile(costs=RUNS))
    small = f"{said}; 2 smaller costs below 3%, --details lists them."
    assert small in flat(profile(costs=RUNS, small=2))
    alone = {name: cost for name, cost in RUNS.items() if name != COMMUNICATION}
    assert f"{said}." in flat(profile(costs=alone))  # of one rank
    assert "No finding: only the time of a step was measured." in text(profile(costs={}))


def test_without_a_finding_it_names_the_runs_and_the_limit() -> None:
    some = {"reads, shapes, gradients": 1.1, "layers": 1.2}
    said = "of what was watched (reads, shapes, gradients; layers), nothing costs 3% of a step."
    assert f"No finding: {said}" in flat(profile(costs=some))
    unseen = flat(profile(costs=some, limit="input: 71% of a step of the first look waits"))
    asked = "What the limit names was not watched; add input to --only, or leave it out."
    assert f"No finding: {said} {asked}" in unseen
    seen = flat(profile(costs=RUNS, limit="input: 71% of a step waits for the next batch (7 of"))
    assert "No finding: apart from what the limit names, nothing that was watched costs" in seen
    assert "add communication to --only" in flat(profile(costs=some, limit="ranks: the others"))


def test_a_step_that_varies_much_is_said_to() -> None:
    assert "varies by ± 87%, so shares of it are rough" in flat(profile(timing=timing(noise=0.87)))
    assert "rough" not in flat(profile())


def test_the_cost_of_watching_is_a_cost_or_lost_in_the_noise() -> None:
    assert f"the costliest (layers) {TIMES}1.20 a step" in flat(profile(costs={"layers": 1.2}))
    for cost in (0.69, 1.01):
        shown = flat(profile(costs={"layers": cost}))
        assert "instruments in runs of their own; what they cost is lost in the noise" in shown


def test_a_line_says_where_to_look_if_no_finding_has_most_of_a_step() -> None:
    def said(limit: str = "processor: 1 of 2", share: float = 0.2, **lanes: float) -> str:
        found = finding(share, code="TR702")
        return flat(profile(limit=limit, lanes=lanes, findings=(found,)))

    assert (
        "80% of a step is in no finding; its largest part is forward (60%): look at the layers "
        "(`--details`)."
    ) in said(forward=0.6, backward=0.4)
    assert (
        "its largest part is backward (51%): look at the layers (`--details`), and what the loop "
        "does apart from the model, such as a loss in Python (42%)."
    ) in said(backward=0.51, other=0.42)
    for shown in (said(share=0.6, forward=1.0), said(), said("input: 71%", forward=1.0)):
        assert "is in no finding" not in shown


def test_reads_without_a_gpu_are_under_a_heading_of_their_own() -> None:
    lines = render(rich(), Paint(), 140)
    at = lines.index("On a GPU the host would wait here; this machine has none to wait for:")
    assert lines[at + 1].split("  ")[-1].strip() == (
        "TR201 3 reads a step (`item`) (TL201, fix available)"
    )
    assert "On a GPU" not in text(profile())


def test_layers_are_a_table() -> None:
    lines = render(rich(), Paint(), 140)
    at = next(at for at, line in enumerate(lines) if line.startswith("Where forward"))
    assert lines[at + 1].split() == (
        "stem.conv 41% · Conv2d · 9,408 parameters · 16, 64, 112, 112".split()
    )
    placed = Row("stem", "Conv2d", 0.4, 1.0, 9_408, "16, 64", None, "net.py", 9)
    assert " 40% · net.py:9 · Conv2d" in text(profile(layers=(placed,)))
    counted = profile(layers=(Row("stem", "Conv2d", 0.4, 1.0, 9_408, "16, 64", 1.5e9),))
    assert re.search(r"stem +40% · Conv2d · 9,408 parameters · 1.5 GFLOP · 16, 64\n", text(counted))
    uncounted = profile(layers=(Row("norm", "BatchNorm2d", 0.4, 1.0, 8, "16", 0.0),))
    assert "FLOP" not in text(uncounted)
    for name in ("", "Net"):
        unnamed = profile(layers=(Row(name, "Net", 0.4, 1.0, 1, ""),))
        assert re.search(r"     Net +40% · 1 parameter\n", text(unnamed))


def test_what_is_to_be_read_is_next_to_its_label() -> None:
    assert "\nmemory        12.5 of 79 GiB at most, in `backward`\n" in text(full())


def test_smaller_costs_are_listed_in_the_details() -> None:
    below = (finding(0.02, row=7), finding(0.01, row=8))
    shown = profile(costs=RUNS, small=2, below=below)
    assert "2 smaller costs below 3%, listed below." in flat(shown, details=True)
    title = "Smaller costs, each below 3% of a step: "
    assert f"{title}cells/data.py:7 TR101" in flat(shown, details=True)
    assert f"(at most {TIMES}1.01)" in flat(shown, details=True)
    assert "data.py:7" not in flat(shown)
    beside = flat(replace(rich(), small=2, below=below), details=True)
    assert "2 smaller costs below 3%, listed below" in beside
    assert "cells/data.py:8 TR101" in beside


def test_what_is_not_sent_is_said_without_the_details() -> None:
    effects = (SideEffect("upload", "wandb.init, switched off", kept=False, count=9),)
    said = "outside switched off or not sent in these runs: 1 upload (wandb.init, switched off)"
    for details in (False, True):
        assert flat(profile(side_effects=effects), details=details).count(said) == 1


def test_what_was_done_outside_is_said_as_verify_says_it() -> None:
    effects = (
        SideEffect("create", "runs/checkpoint.pt", kept=False, count=9),
        SideEffect("connect", "127.0.0.1:6006", kept=True),
        SideEffect("process", "git --version", kept=True),
        SideEffect("helper", "uname -p", kept=True),
    )
    found = profile(side_effects=effects)
    always = (
        "outside LET THROUGH: 1 connection (127.0.0.1:6006) outside started by the script: 1 "
        "process (git --version) "
    )
    assert f"{always}took" in flat(found)
    sandbox = environment().sandbox
    rest = f"outside held back ({sandbox}): 1 new file (runs/checkpoint.pt) outside started by"
    assert f"{always}{rest} packages: 1 process (uname -p) took" in flat(found, details=True)
    early = replace(failed(), side_effects=effects)
    assert always.strip() in flat(early)


def test_the_end_says_what_it_cost_what_is_missing_and_what_ran() -> None:
    shown = flat(rich())
    for part in (
        f"instruments in runs of their own; the costliest (reads, shapes, gradients) {TIMES}1.31 a step",
        "not measured recompiles (nothing is compiled); pauses (left out by --only)",
        "not reached in the first steps: TL304 train.py:12",
        "outside LET THROUGH: 1 connection (127.0.0.1:6006)",
        "note The script draws its batches at random.",
        "took 31 s",
    ):
        assert part in shown
    assert "checkpoint" not in shown


def test_a_script_that_failed_says_why_and_nothing_that_was_not_measured() -> None:
    lines = render(failed(), Paint(), 100)
    assert lines[:2] == ["torchlint profile train.py", "The script failed: ValueError: no data"]
    assert lines[2:] == [f"  line {number} of a traceback" for number in range(12, 20)]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("train.py",), "train.py --select TL201"),
        (("train.py", "--seed", "a b"), "train.py --select TL201 -- --seed 'a b'"),
        (("-m", "pkg.train", "--x"), "-m pkg.train --select TL201 -- --x"),
    ],
)
def test_the_next_command_gives_the_script_its_own_arguments(
    argv: tuple[str, ...], words: str
) -> None:
    found = profile(argv=argv, findings=(finding(static=(static(),)),))
    (line,) = (line for line in text(found).splitlines() if line.startswith("next"))
    assert line.split(maxsplit=1)[1] == f"torchlint verify {words}"


def test_the_next_command_asks_for_hints_if_one_is_among_them() -> None:
    hint = finding(static=(static("TL204", tier="hint"), static()))
    assert "verify train.py --select TL204,TL201 --hints" in flat(profile(findings=(hint,)))
    unfixable = finding(static=(static(has_fix=False),))
    assert "torchlint verify" not in text(profile(findings=(unfixable,)))


def test_a_sweep_shows_each_value_and_names_the_one_to_take() -> None:
    tried = (Tried(0, 0.02, 0.01), Tried(1, 0.01, 0.01), Tried(2, 0.0099, 0.01))
    lines = text(replace(rich(), sweep=Sweep("", tried, 1))).splitlines()
    assert "    1  10.0 ms a step (± 1%)  ←" in lines
    assert "1 is enough: more workers save less than 5 % of a step." in lines
    assert not any("TR101" in line for line in lines)
    noisy = (*tried[:2], Tried(2, 0.0099, 0.3))
    assert "too noisy" in flat(replace(rich(), sweep=Sweep("", noisy, 1)))


def test_a_cost_that_is_too_small_is_told_once() -> None:
    nothing = flat(profile(small=1))
    assert nothing.count("smaller cost") == 1
    assert flat(replace(rich(), small=1)).count("smaller cost") == 1

"""The words of `torchlint verify` and `fix --verified`; what they run is stood in for."""

from __future__ import annotations

import itertools
import json
import os
import shlex
from dataclasses import replace
from typing import Any

import pytest

from tests.report.verify.sample_results import comparison, counters, numerics, result
from torchlint.cli import program_check, script_runs
from torchlint.experiment import missing_packages as needs
from torchlint.experiment.earlier_json import digests
from torchlint.experiment.machine import hardware
from torchlint.files.reading import SourceError
from torchlint.verify import verification as session
from torchlint.verify.result import Agreement, Comparison, FixMeasurement, FixPlace, Result, Verdict

PATCH = """\
--- a/train.py
+++ b/train.py
@@ -1,2 +1,3 @@
 import torch
+import os
 from torch import nn
"""
SCRIPT = """\
import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in range(9):
    optimizer.zero_grad(set_to_none=False)
    model(torch.ones(1, 2)).mean().backward()
    optimizer.step()
"""


def alone(verdict: Verdict, agreement: Agreement = Agreement.BITWISE) -> Comparison:
    return comparison(verdict, numerics=numerics(agreement))


class Session:
    """Stands in for the measuring: set what comes out, read what was asked."""

    def __init__(self) -> None:
        self.exit = 0
        self.alone = alone(Verdict.CONFIRMED)
        self.asked: list[tuple[Any, Any]] = []

    def verify(self, request: Any, changes: Any, watcher: Any) -> Result:
        self.asked.append((request, changes))
        fixes = tuple(
            FixMeasurement(
                each.id, each.code, each.name, "unsafe", each.message,
                (FixPlace(each.path, 7, True),), self.alone,
            )
            for each in (changes.fixes.fixes if changes.fixes else ())
        )  # fmt: skip
        return result(
            argv=changes.program.words, total=self.alone, fixes=fixes, exit=self.exit, diff=""
        )


@pytest.fixture
def measuring(monkeypatch) -> Session:
    fake = Session()
    monkeypatch.setattr(session, "verify", fake.verify)
    return fake


@pytest.fixture
def train(here):
    (here / "train.py").write_text(SCRIPT)
    return here / "train.py"


@pytest.fixture
def module(here):
    (here / "pkg").mkdir()
    (here / "pkg" / "__init__.py").write_text("")
    (here / "pkg" / "train.py").write_text(SCRIPT)
    return here / "pkg" / "train.py"


def test_a_script_is_verified_with_its_fixes(torchlint, measuring, train):
    outcome = torchlint("verify", "train.py")
    assert outcome.code == 0
    assert "TL401" in outcome.text
    (request, changes), = measuring.asked  # fmt: skip
    assert changes.ids == ("TL401:train.py",)
    assert request.design.looks == (4, 8, 16)
    assert request.budget_s == 600
    assert request.per_fix


def test_it_says_that_it_executes_the_script(torchlint, measuring, train):
    outcome = torchlint("verify", "train.py", "--", "--epochs", "3")
    assert "verify executes `train.py --epochs 3` many times" in outcome.err


def test_the_scripts_own_arguments_go_after_two_dashes(torchlint, measuring, train):
    torchlint("verify", "train.py", "--seed", "3", "--", "--seed", "7", "--yes")
    request, changes = measuring.asked[0]
    assert request.seed == 3
    assert changes.program.argv == ("--seed", "7", "--yes")


def test_an_argument_of_the_script_in_the_wrong_place_is_explained(torchlint, measuring, train):
    outcome = torchlint("verify", "train.py", "--epochs", "3")
    assert outcome.code == 2
    assert "No such option --epochs. The script's own arguments go after --." in outcome.err
    outcome = torchlint("verify", "train.py", "--bugdet", "3m")
    assert "No such option --bugdet. Did you mean --budget? The script's own" in outcome.err
    assert not measuring.asked


def test_an_unknown_option_without_a_script_is_just_unknown(torchlint, measuring):
    outcome = torchlint("verify", "--epochs")
    assert outcome.code == 2
    assert "go after --" not in outcome.err


def test_a_module_is_verified_by_its_name(torchlint, measuring, module):
    torchlint("verify", "-m", "pkg.train", "--", "x")
    program = measuring.asked[0][1].program
    assert program.as_module
    assert program.words == ("-m", "pkg.train", "x")


def test_the_fixes_of_what_the_script_imports_are_taken(torchlint, measuring, train, here):
    (here / "pyproject.toml").touch()
    (here / "step.py").write_text(SCRIPT)
    (here / "test_train.py").write_text("import train\n" + SCRIPT)
    (here / "broken.py").write_text("import torch\n(")
    train.write_text("import step\n" + SCRIPT)
    outcome = torchlint("verify", "train.py")
    assert measuring.asked[0][1].ids == ("TL401:step.py", "TL401:train.py")
    assert "broken.py" not in outcome.err


def test_the_fixes_of_other_files_that_a_run_loads_are_taken_once_it_is_known(
    torchlint, measuring, train, here
):
    (here / "pyproject.toml").touch()
    (here / "plugin.py").write_text(f"import beside\n{SCRIPT}")
    (here / "beside.py").write_text("import torch\n(")
    outcome = torchlint("verify", "train.py", "--select", "TL401")
    changes = measuring.asked[0][1]
    assert changes.with_loaded([str(train)], None).ids == ("TL401:train.py",)
    loaded = [str(train), str(here / "plugin.py")]
    assert changes.with_loaded(loaded, None).ids == ("TL401:plugin.py", "TL401:train.py")
    assert changes.with_loaded(loaded, None).ids == ("TL401:plugin.py", "TL401:train.py")
    assert "beside.py" not in outcome.err


@pytest.mark.parametrize("imported", ["", "import vendored\n"])
def test_what_the_configuration_excludes_has_no_fix_because_it_is_loaded(
    torchlint, measuring, train, here, imported
):
    train.write_text(imported + SCRIPT)
    (here / "vendored.py").write_text(SCRIPT)
    (here / "torchlint.toml").write_text('exclude = ["vendored.py"]\n')
    torchlint("verify", "train.py")
    changes = measuring.asked[0][1]
    assert changes.with_loaded([str(here / "vendored.py")], None).ids == ("TL401:train.py",)


@pytest.mark.parametrize("other", [("--against", "train.py"), ("--with", "my.patch")])
def test_what_a_user_gives_to_compare_stays_what_it_is(torchlint, measuring, train, here, other):
    (here / "my.patch").write_text(PATCH)
    torchlint("verify", "train.py", *other)
    changes = measuring.asked[0][1]
    assert changes.with_loaded([str(train)], None) == changes


@pytest.mark.parametrize("command", ["verify", "fix --verified"])
def test_the_budget_begins_with_the_command(torchlint, measuring, train, monkeypatch, command):
    times = itertools.count(100, 100)
    monkeypatch.setattr("time.monotonic", lambda: float(next(times)))
    torchlint(*command.split(), "train.py", "--budget", "9h")
    request = measuring.asked[0][0]
    assert request.begun == 200.0  # of the two moments, it waited from one to the next for the user
    assert request.deadline == 200.0 + 9 * 3600


@pytest.fixture
def slow_check(monkeypatch) -> None:
    """The clock stops, apart from a minute that the check of a script's files takes."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    for name in ("find_fixes", "check"):
        plain = getattr(program_check, name)

        def slow(*found: Any, plain: Any = plain, **how: Any) -> Any:
            now[0] += 60
            return plain(*found, **how)

        monkeypatch.setattr(program_check, name, slow)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("verify train.py --budget 50s", "--budget"),
        ("fix --verified train.py --budget 50s", "--budget"),
        ("profile train.py --budget-time 50s", "--budget-time"),
    ],
)
def test_a_budget_that_ends_before_anything_has_run_says_so(
    torchlint, measuring, train, slow_check, words, option
):
    outcome = torchlint(*words.split())
    assert outcome.code == 7
    assert not measuring.asked
    assert outcome.err.endswith(
        "The budget of 50 s ended before the script's files were checked; give more with "
        f"{option}.\n"
    )


def test_a_check_of_other_files_that_a_run_loads_leaves_time_for_the_runs(
    torchlint, measuring, train, here, slow_check
):
    (here / "pyproject.toml").touch()
    (here / "plugin.py").write_text(SCRIPT)
    torchlint("verify", "train.py", "--budget", "90s")
    request, changes = measuring.asked[0]
    found = changes.with_loaded([str(here / "plugin.py")], request.deadline).fixes
    assert found.ids == changes.fixes.ids
    assert found.left_out == (
        "The budget has no room to check 1 more file that it loads, so nothing in them is fixed "
        "or measured; give more time.",
    )


def test_reading_the_program_is_told_of(torchlint, measuring, train):
    assert "Reading train.py and what it imports\n" in torchlint("verify", "train.py").err


@pytest.mark.parametrize("words", [("--safe-only",), ("--ignore", "TL401"), ("--select", "TL101")])
def test_without_a_fix_it_says_what_the_script_is_run_for(torchlint, measuring, train, words):
    outcome = torchlint("verify", "train.py", *words, "--json", "out.json")
    assert outcome.code == 0
    assert "no fix to verify yet; verify executes `train.py` for a few seconds" in outcome.err
    assert measuring.asked[0][1].ids == ()
    assert (train.parent / "out.json").exists()


def test_options_reach_the_plan(torchlint, measuring, train):
    words = (
        "--total-only --steps 20 --warmup 3 --pairs 2,3 --budget 90s --threads 2 "
        "--device cpu --nproc-per-node 2 --keep-env --numbers-steps 50 --numbers-from 100"
    ).split()
    torchlint("verify", "train.py", *words)
    request = measuring.asked[0][0]
    assert not request.per_fix
    assert (request.steps, request.warmup, request.threads, request.nproc) == (20, 3, 2, 2)
    assert request.design.looks == (2, 3)
    assert request.budget_s == 90
    assert (request.numbers_steps, request.numbers_from) == (50, 100)
    assert request.device == "cpu"
    assert request.keep_env


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "soon"), "is not a time"),
        (("--budget", "0"), "is not a time"),
        (("--pairs", "0"), "growing list"),
        (("--numbers-from", "-1"), "--numbers-from"),
        (("--numbers-steps", "0"), "--numbers-steps"),
        (("--pairs", "8,4"), "growing list"),
        (("--pairs", "4,x"), "growing list"),
        (("--with", "nowhere.patch"), "nowhere.patch"),
        (("--against", "nowhere.py"), "nowhere.py does not exist"),
        (("--with", "a", "--against", "b"), "exclude each other"),
        (
            ("--with", "a", "--select", "TL4"),
            "--select chooses among torchlint's fixes, and --with",
        ),
        (("--against", "b", "--safe-only"), "--safe-only chooses among torchlint's fixes, and"),
        (("--tolerance", "0.1"), "--tolerance is for --with and --against"),
        (("--json", "-"), "`-` is not a file; leave the option out"),
        (("--select", "TL999"), "TL999"),
    ],
)
def test_wrong_words_are_explained_before_anything_runs(torchlint, measuring, train, words, said):
    outcome = torchlint("verify", "train.py", *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert not measuring.asked


def test_a_script_is_needed(torchlint, measuring):
    outcome = torchlint("verify")
    assert outcome.code == 2
    assert "Give the script that trains, or a module with -m." in outcome.err


def test_a_missing_script_and_a_missing_module_say_so(torchlint, measuring):
    assert "nowhere.py does not exist" in torchlint("verify", "nowhere.py").err
    assert "There is no module nowhere" in torchlint("verify", "-m", "nowhere").err


def test_without_torch_it_says_what_to_install(torchlint, measuring, train, monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == "torch" else name)
    outcome = torchlint("verify", "train.py")
    assert outcome.code == 2
    assert outcome.err.startswith("Error: Measuring needs torch in the environment of ")
    assert "run `pip install torch` there." in outcome.err


def test_windows_is_told_where_it_works(torchlint, measuring, train, monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    assert "do it there or in WSL" in torchlint("verify", "train.py").err


def test_another_script_replaces_the_fixes(torchlint, measuring, train):
    torchlint("verify", "train.py", "--against", "train.py", "--", "x")
    changes = measuring.asked[0][1]
    assert changes.fixes is None
    assert changes.other == changes.program


def test_a_patch_replaces_the_fixes(torchlint, measuring, train, here):
    (here / "my.patch").write_text(PATCH)
    torchlint("verify", "train.py", "--with", "my.patch")
    changes = measuring.asked[0][1]
    assert [after for _, after in changes.patched.values()] == [
        SCRIPT.replace("torch\n", "torch\nimport os\n", 1).encode()
    ]


@pytest.mark.parametrize("code", [0, 1, 3, 4, 5, 6, 7])
def test_the_exit_code_is_the_verifications(torchlint, measuring, train, code):
    measuring.exit = code
    assert torchlint("verify", "train.py").code == code


def test_what_is_not_confirmed_can_be_required(torchlint, measuring, train):
    assert torchlint("verify", "train.py", "--require-confirmed").code == 0
    measuring.alone = alone(Verdict.NEUTRAL)
    assert torchlint("verify", "train.py", "--require-confirmed").code == 3
    measuring.exit = 1
    assert torchlint("verify", "train.py", "--require-confirmed").code == 1


def test_counters_can_be_required(torchlint, measuring, train):
    measuring.alone = comparison(counters=counters())
    assert torchlint("verify", "train.py", "--require", "reads<=3,recompiles<=0").code == 0
    outcome = torchlint("verify", "train.py", "--require", "reads<=3", "--require", "batches<1")
    assert outcome.code == 1
    assert "batches<1 does not hold: the changed program comes to 1 batches a step." in outcome.text
    assert "reads<=3 holds" in outcome.text
    assert all(request.must_count for request, _ in measuring.asked)
    assert torchlint("verify", "train.py").code == 0
    assert not measuring.asked[-1][0].must_count


@pytest.mark.parametrize("word", ["raeds<=0", "reads", "reads<=0,", "reads<=x"])
def test_what_cannot_be_required_is_refused_before_anything_runs(torchlint, measuring, train, word):
    outcome = torchlint("verify", "train.py", "--require", word)
    assert outcome.code == 2
    assert "--require" in outcome.err
    assert not measuring.asked


def test_json_goes_to_a_file_and_to_standard_output(torchlint, measuring, train, here):
    outcome = torchlint("verify", "train.py", "--json", "out.json", "--output-format", "json")
    assert json.loads(outcome.text) == json.loads((here / "out.json").read_text())
    assert json.loads(outcome.text)["total"]["verdict"] == "CONFIRMED"


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_report_that_cannot_be_written_says_so_before_anything_runs(
    torchlint, measuring, train, option
):
    outcome = torchlint("verify", "train.py", option, "no/such/folder.json")
    assert outcome.code == 2
    said = "Error: There is no folder no/such for no/such/folder.json; make it first.\n"
    assert outcome.err == said
    assert outcome.out == b""


def test_a_result_is_printed_although_its_report_cannot_be_written(
    torchlint, measuring, train, here, monkeypatch
):
    def full(path: str, data: bytes) -> None:
        raise SourceError(path, "Cannot write the file: No space left on device.", kind="write")

    monkeypatch.setattr("torchlint.files.writing.write_report", full)
    outcome = torchlint("verify", "train.py", "--json", "out.json")
    assert outcome.code == 2
    assert "CONFIRMED" in outcome.text
    assert "out.json: Cannot write the file: No space left on device." in outcome.err


def test_html_goes_to_a_file(torchlint, measuring, train, here):
    torchlint("verify", "train.py", "--html", "out.html")
    assert (here / "out.html").read_text().lower().startswith("<!doctype html>")


@pytest.fixture
def stdin(here):
    """Puts a file or a pipe into the place of this process's standard input."""
    kept = os.dup(0)
    yield lambda source: os.dup2(source, 0)
    os.dup2(kept, 0)
    os.close(kept)


def test_the_script_gets_what_a_file_has_for_it(torchlint, measuring, train, here, stdin):
    (here / "answers").write_text("yes\n")
    with open(here / "answers") as stream:
        stdin(stream.fileno())
        torchlint("verify", "train.py")
    assert measuring.asked[0][0].stdin == b"yes\n"


def test_the_script_gets_what_a_pipe_has_for_it(torchlint, measuring, train, stdin):
    end, start = os.pipe()
    os.write(start, b"yes\n")
    os.close(start)
    stdin(end)
    os.close(end)
    torchlint("verify", "train.py")
    assert measuring.asked[0][0].stdin == b"yes\n"


def test_a_pipe_that_does_not_end_is_not_waited_for(
    torchlint, measuring, train, stdin, monkeypatch
):
    monkeypatch.setattr(script_runs, "_PATIENCE_S", 0.01)
    end, start = os.pipe()
    stdin(end)
    torchlint("verify", "train.py")
    os.close(start)
    os.close(end)
    assert measuring.asked[0][0].stdin is None


# fix --verified ----------------------------------------------------------------------------


def test_a_proven_fix_is_printed_as_a_diff(torchlint, measuring, train):
    outcome = torchlint("fix", "--verified", "train.py")
    assert outcome.code == 1
    assert "+    optimizer.zero_grad()" in outcome.text
    assert train.read_text() == SCRIPT
    assert "CONFIRMED" in outcome.err
    outcome = torchlint("fix", "--verified", "--hints", "--show-fixes", "train.py")
    assert "apply    torchlint fix --verified --hints train.py --apply" in outcome.err


def test_the_offered_command_reads_what_this_one_read(torchlint, measuring, train, here, stdin):
    (here / "answers").write_text("yes\n")
    with (here / "answers").open() as stream:
        stdin(stream.fileno())
        said = torchlint("fix", "--verified", "train.py").err.splitlines()
    assert "apply    torchlint fix --verified train.py --apply < FILE" in said


def test_a_proven_fix_is_written(torchlint, measuring, train):
    outcome = torchlint("fix", "--verified", "train.py", "--apply", "--", "--epochs", "2")
    assert outcome.code == 0
    assert "optimizer.zero_grad()\n" in train.read_text()
    assert "Made 1 verified fix in 1 file." in outcome.err
    assert "--apply" not in outcome.err  # it has just been done
    assert measuring.asked[0][1].program.argv == ("--epochs", "2")


def test_the_proven_fixes_of_a_module_are_written(torchlint, measuring, module):
    outcome = torchlint("fix", "--verified", "-m", "pkg.train", "--apply", "--", "--epochs", "2")
    assert outcome.code == 0
    assert "optimizer.zero_grad()\n" in module.read_text()
    assert measuring.asked[0][1].program.words == ("-m", "pkg.train", "--epochs", "2")


@pytest.mark.parametrize(
    "found",
    [
        *(alone(each) for each in Verdict if each is not Verdict.CONFIRMED),
        *(alone(Verdict.CONFIRMED, each) for each in Agreement if not each.is_good),
        replace(alone(Verdict.CONFIRMED), numerics=None),
    ],
)
def test_what_is_not_proven_is_not_written(torchlint, measuring, train, found):
    measuring.alone, measuring.exit = found, 3
    outcome = torchlint("fix", "--verified", "train.py", "--apply")
    assert outcome.code == 3
    assert train.read_text() == SCRIPT
    assert "nothing is changed" in outcome.err


def test_fixing_what_was_verified_needs_a_script(torchlint, measuring):
    outcome = torchlint("fix", "--verified")
    assert outcome.code == 2
    assert "Give the script" in outcome.err


@pytest.mark.parametrize(
    "option", [("--from", "v.json"), ("--pairs", "2"), ("--budget", "1m"), ("-m", "pkg")]
)
def test_options_of_a_verification_need_one(torchlint, measuring, train, option):
    outcome = torchlint("fix", "train.py", *option)
    assert outcome.code == 2
    assert f"{option[0]} is for --verified; nothing is run without it." in outcome.err


def test_the_length_of_a_verification_reaches_it(torchlint, measuring, train):
    torchlint("fix", "--verified", "train.py", "--pairs", "2,3", "--budget", "90s")
    request = measuring.asked[0][0]
    assert (request.design.looks, request.budget_s) == ((2, 3), 90)


@pytest.mark.parametrize(
    ("options", "first", "offered"),
    [
        ((), "", ""),
        (("--details", "--yes", "--html", "v.html", "--debug"), "", ""),
        (("--hints", "--select", "TL4,tl1", "--ignore", "TL9"), "",
         " --select TL4,TL1 --ignore TL9 --hints"),
        (("--pedantic", "--target-torch", "2.1"), "", " --pedantic --target-torch 2.1"),
        (("--pairs", "2,3", "--budget", "90s"), "", " --pairs 2,3 --budget 90s"),
        (("--hints", "--budget", "90s", "--json", "v.json"), "", " --hints --from v.json"),
        (("--nproc-per-node", "2"), "Add --json verify.json to this command and run it again, then",
         " --from verify.json"),
        (("--total-only", "--hints"), "Add --json verify.json", " --hints --from verify.json"),
        (("--steps", "7", "--json", "v.json"), "", " --from v.json"),
    ],
)  # fmt: skip
def test_the_offered_command_makes_the_fixes_that_were_measured(
    torchlint, measuring, train, options, first, offered
):
    lines = torchlint("verify", *options, "train.py").text.splitlines()
    at = next(at for at, line in enumerate(lines) if "torchlint fix" in line)
    command = f"torchlint fix --verified{offered} train.py --apply"
    assert lines[at].removeprefix("apply").strip() == command
    assert lines[at].startswith("apply") == (not first)
    if first:
        assert lines[at - 1].startswith(f"apply    {first}")
    if "--from" not in command:
        torchlint(*shlex.split(command)[1:])
        (asked, changes), (again, repeated) = measuring.asked
        assert (again.design, again.budget_s) == (asked.design, asked.budget_s)
        assert repeated.ids == changes.ids


def test_what_a_script_reads_is_not_asked_for_again(torchlint, measuring, train, here, stdin):
    (here / "words.txt").write_text("hello")
    with open(here / "words.txt", "rb") as stream:
        stdin(stream.fileno())
        lines = torchlint("verify", "train.py").text.splitlines()
    assert "apply    Add --json verify.json to this command and run it again, then:" in lines


def test_what_could_not_be_written_is_not_called_made(torchlint, measuring, train):
    train.chmod(0o444)
    outcome = torchlint("fix", "--verified", "train.py", "--apply")
    assert outcome.code == 2
    assert "read-only" in outcome.err
    assert "Made" not in outcome.err


def test_quiet_leaves_the_diff_and_that_the_script_runs(torchlint, measuring, train):
    outcome = torchlint("fix", "--verified", "--quiet", "train.py")
    assert outcome.err.splitlines() == [
        "verify executes `train.py` many times, for a few seconds each, without and with the "
        "changes."
    ]
    assert outcome.text.startswith("--- a/train.py\n")
    measuring.alone = alone(Verdict.NEUTRAL)
    assert "nothing is changed" not in torchlint("fix", "--verified", "-q", "train.py").err


def test_a_diff_says_how_far_the_numbers_were_compared(torchlint, measuring, train, monkeypatch):
    def total(request: Any, changes: Any, watcher: Any) -> Result:
        found = measuring.verify(request, changes, watcher)
        return replace(found, unreached=("evaluation (train.py:3)",))

    monkeypatch.setattr(session, "verify", total)
    outcome = torchlint("fix", "--verified", "train.py")
    assert "over 30 steps; not reached: evaluation (train.py:3)." in outcome.err.splitlines()[-1]


@pytest.fixture
def recorded(torchlint, measuring, train, here):
    """Writes a verification of this script on this machine, with other values."""

    def record(**changes: Any) -> None:
        torchlint("verify", "train.py", "--json", "v.json")
        found = json.loads((here / "v.json").read_text())
        found["environment"] |= hardware()._asdict()
        found["sources"] = digests(["train.py"])
        found["fixes"][0] |= {"diff": torchlint("fix", "--unsafe", "train.py").text}
        (here / "v.json").write_text(json.dumps({**found, **changes}))

    return record


def test_a_finished_verification_is_not_run_again(torchlint, measuring, train, recorded):
    recorded(unreached=["evaluation (train.py:3)"])
    outcome = torchlint("fix", "--verified", "train.py", "--from", "v.json", "--apply")
    assert outcome.code == 0, outcome.err
    assert len(measuring.asked) == 1
    assert "optimizer.zero_grad()\n" in train.read_text()
    assert "compared over 30 steps; not reached: evaluation (train.py:3)." in outcome.err
    again = torchlint("fix", "--verified", "train.py", "--from", "v.json")
    assert again.code == 0
    assert "There is no fix; nothing is changed." in again.err


def test_a_finished_verification_of_no_fix_gives_its_exit_code(torchlint, measuring, train):
    measuring.exit = 4
    torchlint("verify", "train.py", "--ignore", "TL401", "--json", "v.json")
    words = ("--ignore", "TL401", "--from", "v.json")
    assert torchlint("fix", "--verified", "train.py", *words).code == 4


def test_fixes_of_what_only_the_run_has_shown_are_made(
    torchlint, measuring, train, here, monkeypatch
):
    train.write_text("")
    (here / "plugin.py").write_text(SCRIPT)

    def widened(request: Any, changes: Any, watcher: Any) -> Result:
        loaded = [str(train), str(here / "plugin.py")]
        return measuring.verify(request, changes.with_loaded(loaded, None), watcher)

    monkeypatch.setattr(session, "verify", widened)
    outcome = torchlint("fix", "--verified", "train.py", "--apply")
    assert outcome.code == 0, outcome.err
    assert "optimizer.zero_grad()\n" in (here / "plugin.py").read_text()


def test_what_proves_nothing_exits_as_the_verification_did(torchlint, measuring, recorded):
    measuring.alone = alone(Verdict.UNRESOLVED)
    recorded(exit=3)
    outcome = torchlint("fix", "--verified", "train.py", "--from", "v.json", "--apply")
    assert outcome.code == 3
    assert "No fix proved both faster and right; nothing is changed." in outcome.err


def test_a_verification_of_something_else_is_refused(torchlint, measuring, train, here):
    torchlint("verify", "train.py", "--json", "v.json")
    outcome = torchlint("fix", "--verified", "train.py", "--from", "v.json", "--apply")
    assert outcome.code == 2
    assert "v.json does not hold here: " in outcome.err
    assert train.read_text() == SCRIPT

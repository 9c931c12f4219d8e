"""Every kind of script that is promised to work, each through the command line.

The scripts are in `scripts/`. Each runs in a copy, and afterwards its folder must be byte for byte
what it was and no process of it may be left.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from torchlint.experiment import jobs
from torchlint.report.verify.verification_progress import VerificationProgress
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.warm_start import Torchlint

SCRIPTS = Path(__file__).with_name("scripts")
MARK = "TORCHLINT_TEST_OF_SCRIPT_KINDS"
STARTS = "starts"
"""A folder of scripts that is a project by itself."""
QUICK = ("--pairs", "2", "--steps", "12", "--warmup", "4", "--total-only")
SETTLED = frozenset({0, 3})
"""Two pairs settle little; but nothing may be slower, differ or fail."""
ONE_PAIR = ("--pairs", "1")
"""Everything is done once, from which nothing can be concluded, and that is exit code 3."""
NOTHING = frozenset({3})
UNUSED = """\
--- a/pkg/unused.py
+++ b/pkg/unused.py
@@ -5,3 +5,3 @@
     for batch in batches:
-        optimizer.zero_grad(set_to_none=False)
+        optimizer.zero_grad()
         model(batch).mean().backward()
"""
LATER = """\
--- a/late.py
+++ b/late.py
@@ -26,3 +26,3 @@
         optimizer.step()
-    schedule.step()
+    schedule.step(None)
     evaluate()
"""
WRONG_LATER = LATER.replace(
    "schedule.step(None)", "schedule.step(); optimizer.param_groups[0]['lr'] *= 1.01"
)
AGREE = {"bitwise equal", "equal to rounding", "differs as declared"}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify does not run on Windows")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of script.

    `words` is what follows `torchlint verify`, `step` a pattern of what ends a step (empty: none is
    looked at), `ends` the exit codes that are right, and `needs` a framework. Where `pairs` is 1,
    the first is the last. `whole` ones run as a user runs them, each process
    fresh and under overlayfs where that is to be had; the others start warm. What is not `patient`
    takes a forward pass for a step after one second without anything better, not after five.
    `long` ones run with `-m runs`.
    """

    name: str
    words: str
    step: str = ""
    ends: frozenset[int] = NOTHING
    pairs: int = 1
    files: tuple[str, ...] = ()
    agrees: frozenset[str] = frozenset(AGREE)
    needs: str = ""
    whole: bool = False
    patient: bool = True
    long: bool = False

    def param(self) -> Any:
        marks = [pytest.mark.needs(self.needs)] if self.needs else []
        marks += [pytest.mark.runs] if self.long else []
        return pytest.param(self, id=self.name, marks=marks)


def fails(name: str, code: int) -> Kind:
    return Kind(name, f"{name}.py", ends=frozenset({code}))


TRAINS = (
    Kind("plain", "plain.py", r"SGD\.step"),
    Kind(
        "argparse",
        "guarded.py -- --epochs 10000 --width 128",
        r"AdamW\.step",
        ends=SETTLED,
        pairs=2,
    ),
    Kind("module", "-m pkg.train -- --steps 10000", r"SGD\.step", files=("pkg",)),
    Kind("gan, scaler, accumulation", "gan.py", r"Adam\.step.* 2 of 2"),
    Kind("LBFGS", "lbfgs.py", r"LBFGS\.step", long=True),
    Kind("compiled", "compiled.py", r"AdamW\.step", long=True),
    Kind("thread", "threaded.py", r"SGD\.step", long=True),
    Kind("SGD by hand", "hand_sgd.py", r"backward", long=True),
    Kind("inference", "inference.py", r"forward", patient=False),
    Kind(
        "only a loader",
        "loader_only.py",
        r"batch|[Ll]oader",
        agrees=frozenset({"not compared"}),
        long=True,
    ),
    Kind(
        "torchrun",
        "--nproc-per-node 2 ranks.py",
        r"SGD\.step",
        ends=SETTLED,
        pairs=2,
        files=("ranks.py",),
        whole=True,
        long=True,
    ),
    Kind("mp.spawn", "spawned_ranks.py", r"SGD\.step", long=True),
    Kind("short", "short.py", r"SGD\.step", long=True),
    Kind("checkpoints", "checkpoints.py", r"SGD\.step"),
    Kind(
        "nondeterministic",
        "nondeterministic.py",
        r"SGD\.step",
        agrees=frozenset(AGREE - {"bitwise equal"} | {"not compared"}),
    ),
    Kind(
        "Hugging Face",
        "hf_trainer.py",
        r"\.step",
        files=("hf_trainer.py", "curves.py"),
        needs="transformers",
        long=True,
    ),
    Kind(
        "Lightning",
        "lightning_fit.py",
        r"AdamW\.step",
        files=("lightning_fit.py", "curves.py"),
        needs="lightning",
        long=True,
    ),
    Kind(
        "Accelerate",
        "accelerated.py",
        r"AdamW\.step",
        files=("accelerated.py", "curves.py"),
        needs="accelerate",
    ),
)
WORKERS = (
    Kind("script", "workers.py -- fork forkserver", r"SGD\.step", files=(STARTS,), long=True),
    Kind("module", "-m workers", r"SGD\.step", files=(STARTS,), whole=True, long=True),
)
"""Each runs as it is and as it is changed, and the second through workers of every start method.
What a spawned worker runs in each mode is seen in tests/runtime/probe (test_torch_workers,
test_survey, test_realign, test_measure); it imports torch in each of eight runs."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of one verification."""

    code: int
    said: str
    result: dict[str, Any]


def snapshot(folder: Path) -> dict[str, str]:
    """What is in a folder: for each path its mode and a digest of its bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        data = os.readlink(path).encode() if path.is_symlink() else b""
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
        found[str(path.relative_to(folder))] = (
            f"{path.lstat().st_mode:o} {hashlib.sha256(data).hexdigest()}"
        )
    return found


def marked(mark: str) -> list[psutil.Process]:
    """The processes whose environment holds a mark: nothing that a run starts can lose it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def copied(kind: Kind, folder: Path) -> Path:
    """A project that holds the script and what it imports."""
    script = next((word for word in kind.words.split() if word.endswith(".py")), "")
    for name in kind.files or (script,):
        source, target = SCRIPTS / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder / STARTS if STARTS in kind.files else folder


def run(kind: Kind, options: tuple[str, ...], place: Path, torchlint: Torchlint) -> Verified:
    """Run `torchlint verify` on a copy, and fail if it changes anything."""
    project = copied(kind, place / "project")
    before, out = snapshot(project), place / "out.json"
    own, _, rest = kind.words.partition(" -- ")
    words = ["verify", "--json", str(out), "--yes", *options]
    words += [*own.split(), "--", *rest.split()] if rest else own.split()
    code, said = torchlint(words, project)
    assert snapshot(project) == before, said
    result = json.loads(out.read_text()) if out.exists() else {}
    return Verified(code, said, result)


def in_a_process(words: list[str], project: Path) -> tuple[int, str]:
    """As a user runs it; fails if any process is left."""
    mark = uuid.uuid4().hex
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words],
        cwd=project,
        env={**os.environ, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    _, left = psutil.wait_procs(marked(mark), timeout=600.0)
    for process in left:
        process.kill()
    assert not left
    return done.returncode, done.stdout


@pytest.fixture
def verify(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Verified]:
    def verified(kind: Kind, *more: str) -> Verified:
        if not kind.patient:
            monkeypatch.setattr(jobs, "RunSettings", partial(jobs.RunSettings, give_up_s=4.0))
        budget = ONE_PAIR if kind.pairs == 1 else ()
        torchlint = in_a_process if kind.whole else request.getfixturevalue("warm_torchlint")
        return run(kind, (*QUICK, *budget, *more), tmp_path, torchlint)

    return verified


def assert_measured(verified: Verified, kind: Kind) -> None:
    """That steps were found, both programs were timed, and the numbers were compared."""
    result = verified.result
    assert verified.code in kind.ends, verified.said
    assert result["exit"] == verified.code
    assert re.search(kind.step, result["plan"]["step"]), result["plan"]["step"]
    total = result["total"]
    assert math.isfinite(total["ratio"])
    assert total["ratio"] > 0
    assert total["pairs"] == kind.pairs
    assert (total["ci"][1] is None) == (kind.pairs == 1), "one pair has no interval"
    assert all(milliseconds > 0 for milliseconds in total["ms"])
    assert total["numerics"]["agreement"] in kind.agrees, total["numerics"]


# scripts that can be measured ---------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind.param() for kind in TRAINS])
def test_a_script_is_measured_untouched(kind: Kind, verify: Callable[..., Verified]) -> None:
    verified = verify(kind)
    assert_measured(verified, kind)
    assert verified.result["fixes"]
    for fix in verified.result["fixes"]:
        assert all(place["exercised"] is not False for place in fix["places"])
    EXTRAS.get(kind.name, lambda _: None)(verified.result)


def a_skipped_step_counts(result: dict[str, Any]) -> None:
    """The generator's seventh step overflows and never reaches its optimizer."""
    assert len(result["total"]["numerics"]["losses"]) > 7


def what_was_written_is_listed(result: dict[str, Any]) -> None:
    effects = result["side_effects"]
    written = {Path(effect["what"]).name for effect in effects if not effect["kept"]}
    assert {"step-0.pt", "history.npy", "log.jsonl"} <= written
    assert not {"final.pt", "ended"} & {Path(effect["what"]).name for effect in effects}


def what_is_not_imported_is_told(result: dict[str, Any]) -> None:
    assert [note for note in result["notes"] if "pkg/unused.py" in note]


EXTRAS: dict[str, Callable[[dict[str, Any]], None]] = {
    "gan, scaler, accumulation": a_skipped_step_counts,
    "checkpoints": what_was_written_is_listed,
    "module": what_is_not_imported_is_told,
}


@pytest.mark.parametrize("kind", [kind.param() for kind in WORKERS])
def test_workers_run_the_same_sources_as_their_parent(
    kind: Kind, verify: Callable[..., Verified]
) -> None:
    """The script itself compares them, and crashes if they differ."""
    verified = verify(kind)
    assert_measured(verified, kind)
    places = {
        place["path"]: place["exercised"]
        for fix in verified.result["fixes"]
        for place in fix["places"]
    }
    assert places == {"pictures.py": True, "workers.py": True}


# scripts that cannot ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (fails("crashes", 4), "KeyError: 'labels'"),
        (fails("out_of_memory", 4), "memory"),
        (fails("no_steps", 6), "step"),
        (
            Kind(
                "fails when fixed",
                "fails_when_fixed.py",
                ends=frozenset({5}),
                files=("fails_when_fixed.py", "gradient_log.py"),
            ),
            "AttributeError",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else None,
)
def test_a_failure_has_its_exit_code_and_says_why(
    kind: Kind, says: str, verify: Callable[..., Verified]
) -> None:
    verified = verify(kind)
    assert verified.code in kind.ends, verified.said
    assert verified.result["exit"] == verified.code
    assert says in verified.said
    assert verified.result["total"] is None


def test_a_patch_that_the_program_does_not_see_is_told(
    verify: Callable[..., Verified], tmp_path: Path
) -> None:
    patch = tmp_path / "unused.patch"
    patch.write_text(UNUSED)
    verified = verify(Kind("patched", "-m pkg.train", files=("pkg",)), "--with", str(patch))
    assert (verified.code, verified.result["total"]) == (3, None), verified.said
    assert "None of the patched files is imported" in verified.said


def test_a_script_against_itself_is_neither_faster_nor_slower(
    verify: Callable[..., Verified],
) -> None:
    verified = verify(Kind("itself", "plain.py", pairs=2), "--against", "plain.py")
    assert verified.code in SETTLED, verified.said
    total = verified.result["total"]
    assert total["verdict"] in ("NEUTRAL", "UNRESOLVED")
    assert total["numerics"]["agreement"] == "bitwise equal"


# the steps whose numbers are compared ---------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "beyond"),
    [
        (
            ("--numbers-steps", "10"),
            [
                "the change at late.py:27",
                "the end of the first pass over the data (20 batches)",
                "a change of the learning rate by StepLR",
                "evaluation (late.py:15)",
            ],
        ),
        (
            ("--numbers-from", "25", "--numbers-steps", "10"),
            ["a change of the learning rate by StepLR"],
        ),
        (("--numbers-from", "40", "--numbers-steps", "10"), []),
    ],
)
def test_what_the_compared_steps_did_not_reach_is_named(
    options: tuple[str, ...], beyond: list[str], verify: Callable[..., Verified], tmp_path: Path
) -> None:
    patch = tmp_path / "later.patch"
    patch.write_text(LATER)
    verified = verify(Kind("late", "late.py"), "--with", str(patch), *options)
    assert verified.result["total"]["numerics"]["agreement"] == "bitwise equal", verified.said
    assert verified.result["total"]["numerics"]["steps"] == 10
    assert verified.result["unreached"] == beyond


def test_a_wrong_number_that_comes_later_is_found_where_one_looks(
    verify: Callable[..., Verified], tmp_path: Path
) -> None:
    patch = tmp_path / "wrong.patch"
    patch.write_text(WRONG_LATER)
    words = ("--with", str(patch), "--numbers-from", "18", "--numbers-steps", "8")
    verified = verify(Kind("late", "late.py"), *words)
    numerics = verified.result["total"]["numerics"]
    assert (verified.code, numerics["agreement"]) == (1, "DIFFERS"), verified.said
    verified = verify(Kind("late", "late.py"), *words, "--tolerance", "1")
    numerics = verified.result["total"]["numerics"]
    assert (verified.code, numerics["agreement"]) == (3, "differs as declared"), verified.said
    assert "the mean loss moves by" in numerics["why"]
    assert (numerics["first"], numerics["first_step"]) == (18, 20)


# an early end -----------------------------------------------------------------------------------


def test_what_is_known_when_the_user_stops_it_is_told(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stage(self: VerificationProgress, name: str, *, of: int | None = None) -> None:
        if name == "Measuring pairs":
            raise KeyboardInterrupt

    monkeypatch.setattr(VerificationProgress, "stage", stage)
    verified = verify(Kind("plain", "plain.py"))
    assert (verified.code, verified.result["exit"]) == (130, 130)
    assert verified.result["aa"] is None
    assert verified.result["total"]["ratio"] is None
    assert verified.result["total"]["numerics"]["agreement"] == "bitwise equal"
    assert "Stopped" in verified.said


@pytest.mark.parametrize("stage_of_the_end", ["Comparing the numbers", "Measuring pairs"])
def test_what_is_known_when_the_budget_ends_is_told(
    stage_of_the_end: str, verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    late = False

    def stage(self: VerificationProgress, name: str, *, of: int | None = None) -> None:
        nonlocal late
        late = late or name == stage_of_the_end

    monkeypatch.setattr(VerificationProgress, "stage", stage)
    monkeypatch.setattr(Workspace, "is_late", property(lambda _: late))
    verified = verify(Kind("plain", "plain.py"))
    assert (verified.code, verified.result["exit"]) == (7, 7)
    numerics = verified.result["total"]["numerics"]
    assert (numerics is None) == (stage_of_the_end == "Comparing the numbers")
    assert "The time budget has no room to settle the rest" in verified.said


def test_a_budget_without_a_first_look_says_so(
    verify: Callable[..., Verified], tmp_path: Path
) -> None:
    patch = tmp_path / "later.patch"
    patch.write_text(LATER)
    verified = verify(Kind("late", "late.py"), "--with", str(patch), "--budget", "0.01s")
    assert (verified.code, verified.result["total"]) == (7, None)
    assert "The budget of 0.01 s ended before the script had shown its first steps" in verified.said


def test_without_a_fix_the_step_of_the_script_is_shown(verify: Callable[..., Verified]) -> None:
    verified = verify(Kind("late", "late.py"))
    assert (verified.code, verified.result["total"]) == (0, None), verified.said
    assert len(verified.result["lanes"]["backward"]) > 5
    assert "There is no fix to verify; measure a change of your own" in verified.said

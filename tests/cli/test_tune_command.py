"""What `torchlint tune` takes, prints and writes. Nothing is run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.tune.sample_tunings import failed, nothing_helps, tuning
from torchlint.files import writing
from torchlint.fixes.fixer import FixedFile
from torchlint.tune import tuning as session
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Outcome, Run
    from torchlint.tune.tune_result import TuneResult

SCRIPT = b"loader = DataLoader(data)\ntrain(loader)\n"
FASTER = b"loader = DataLoader(data, num_workers=2)\ntrain(loader)\n"


class Tuner:
    """Stands in for the search: set what it finds, read what it was asked."""

    def __init__(self) -> None:
        self.result: TuneResult = tuning()
        self.files = (FixedFile("train.py", SCRIPT, FASTER, ()),)
        self.asked: dict[str, Any] = {}

    def tune(self, request: Any, bench: Any, _: Any, **given: Any) -> Any:
        self.asked = {"request": request, "bench": bench, **given}
        return self.result, self.files


@pytest.fixture
def tuner(monkeypatch: pytest.MonkeyPatch, here: Path) -> Tuner:
    fake = Tuner()
    monkeypatch.setattr(session, "tune", fake.tune)
    (here / "train.py").write_bytes(SCRIPT)
    return fake


@pytest.fixture
def call(torchlint: Run, tuner: Tuner) -> Run:
    def with_script(*words: str) -> Outcome:
        return torchlint("tune", "train.py", "--yes", *words)

    return with_script


def test_the_answer_comes_first(call: Run) -> None:
    done = call()
    assert done.code == 0
    assert done.text.startswith("\N{MULTIPLICATION SIGN}1.300 [1.277, 1.324] · 16.6 → 12.8 ms")
    assert "tune executes `train.py` many times" in done.err
    assert "apply       torchlint tune train.py --apply -- --epochs 2" in done.text


def test_without_apply_nothing_is_written(call: Run, here: Path) -> None:
    call()
    assert (here / "train.py").read_bytes() == SCRIPT


def test_apply_writes_what_is_kept(call: Run, here: Path) -> None:
    assert call("--apply").code == 0
    assert (here / "train.py").read_bytes() == FASTER


def test_a_file_that_changed_meanwhile_is_left_alone(call: Run, here: Path) -> None:
    (here / "train.py").write_bytes(b"x = 1\n")
    done = call("--apply")
    assert done.code == 2
    assert "has changed since it was read" in done.err
    assert (here / "train.py").read_bytes() == b"x = 1\n"


def test_the_patch_is_that_of_what_is_kept(call: Run, tuner: Tuner, here: Path) -> None:
    call("--patch", "fast.patch")
    patch = (here / "fast.patch").read_text()
    assert patch.startswith("--- a/train.py\n+++ b/train.py\n")
    assert "+loader = DataLoader(data, num_workers=2)\n" in patch
    tuner.files = ()
    said = "fast.patch is not written: "
    assert f"{said}the search was stopped." in call("--patch", "fast.patch").text
    tuner.result = nothing_helps()
    assert f"{said}nothing is faster for certain." in call("--patch", "fast.patch").text
    assert (here / "fast.patch").read_text() == patch


def test_what_is_applied_is_said_and_not_offered(call: Run, here: Path) -> None:
    done = call("--apply")
    assert re.search(r"(?m)^written +train\.py$", done.text)
    assert "apply " not in done.text


def test_a_patch_comes_with_what_applies_and_what_measures_it(
    call: Run, tuner: Tuner, here: Path
) -> None:
    """`verify` takes other threads by itself, and a patch does not say what it changes."""
    assert tuner.result.total is not None
    numerics = Numerics(Agreement.DECLARED)
    tuner.result = tuning(total=replace(tuner.result.total, numerics=numerics))
    done = call("--patch", "a b.patch", "--threads", "3", "--isolated", "--budget", "90s")
    assert "apply       git apply 'a b.patch'\n" in done.text
    command = "verify --with 'a b.patch' --threads 3 --tolerance 0.05 train.py -- --epochs 2"
    assert f"verify      torchlint {command}\n" in done.text
    assert "verify" not in call().text
    assert "--budget 90s" in call("--budget", "90s").text
    assert "--budget 2m" in call("--budget", "120").text


def test_a_patch_holds_the_bytes_of_the_file(call: Run, tuner: Tuner, here: Path) -> None:
    before = b"# caf\xe9\r\nx = 1"
    tuner.files = (FixedFile("train.py", before, before.replace(b"1", b"2"), ()),)
    call("--patch", "fast.patch")
    assert (here / "fast.patch").read_bytes().splitlines()[3] == b" # caf\xe9"


def test_a_patch_that_cannot_be_written_loses_nothing(
    call: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fast.patch").write_text("old")
    (here / "fast.patch").chmod(0o444)
    monkeypatch.setattr(writing, "why_not", lambda _: "")
    done = call("--patch", "fast.patch", "--apply", "--json", "out.json")
    assert done.code == 2
    assert "fast.patch" in done.err
    assert done.text.startswith("\N{MULTIPLICATION SIGN}1.300")
    assert (here / "train.py").read_bytes() == FASTER
    assert (here / "out.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--patch", "train.py"), "--patch train.py is the script"),
        (("--json", "./train.py"), "--json ./train.py is the script"),
        (("--json", "x", "--patch", "x"), "--patch x is the file of --json"),
        (("--json", "/proc/x"), "/proc/x: Cannot write the file"),
    ],
)
def test_no_report_takes_the_place_of_another_file(
    call: Run, tuner: Tuner, here: Path, words: tuple[str, ...], said: str
) -> None:
    before = (here / "train.py").read_bytes()
    done = call(*words)
    assert done.code != 0
    assert said in done.err
    assert not tuner.asked
    assert (here / "train.py").read_bytes() == before


def test_files_for_programs_and_for_people(call: Run, here: Path) -> None:
    done = call("--json", "out.json", "--html", "out.html", "--output-format", "json")
    assert json.loads(done.text) == json.loads((here / "out.json").read_text())
    assert "What each change is worth" in (here / "out.html").read_text()


def test_nothing_helps_is_an_answer(call: Run, tuner: Tuner) -> None:
    tuner.result, tuner.files = nothing_helps(), ()
    done = call("--apply")
    assert done.code == 0
    assert done.text.startswith("Nothing that was tried makes this script faster.")
    assert "apply " not in done.text


def test_a_script_that_failed_keeps_its_exit_code(call: Run, tuner: Tuner) -> None:
    tuner.result, tuner.files = failed(), ()
    done = call()
    assert done.code == 4
    assert "ValueError: x" in done.text


def test_what_is_asked_for_is_handed_on(call: Run, tuner: Tuner) -> None:
    call("--tolerance", "0.01", "--memory", "900", "--budget", "90s", "--threads", "3")
    assert tuner.asked["request"].tolerance == 0.01
    assert tuner.asked["memory_mb"] == 900
    assert tuner.asked["request"].budget_s == 90
    assert tuner.asked["request"].threads == 3


def test_torch_has_the_threads_that_it_takes_by_itself(
    call: Run, tuner: Tuner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of them, as `verify` takes, would hide what fewer are worth."""
    from torchlint.workers import pool

    monkeypatch.setattr(pool, "processors", lambda: 8)
    call()
    assert tuner.asked["request"].threads == 8
    call("--keep-env")
    assert tuner.asked["request"].threads is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tolerance", "2"), '"2" is not a number from 0 to 1'),
        (("--tolerance", "nan"), '"nan" is not a number from 0 to 1'),
        (("--memory", "0"), "not a whole number from 1 up"),
        (("--budget", "soon"), "is not a time"),
        (("--patch", "no/such/folder/x"), "no/such/folder"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(
    call: Run, tuner: Tuner, words: tuple[str, ...], said: str
) -> None:
    done = call(*words)
    assert done.code == 2
    assert said in done.err
    assert not tuner.asked

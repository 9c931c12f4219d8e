"""A verification that is read again instead of run again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.verify import sample_results
from torchlint.experiment import earlier_run
from torchlint.experiment.earlier_json import digests
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.machine import Hardware
from torchlint.report.verify.verification_json import document
from torchlint.runtime.program import Program, script
from torchlint.verify.finished import read_finished, require_current
from torchlint.verify.result import Agreement, Given, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.verify.finished import Finished


class Fixes:
    """Stands in for the fixes of the project as it is now."""

    def __init__(self, **diffs: str) -> None:
        self._diffs = {f"{code}:train.py": diff for code, diff in diffs.items()}
        self.ids = tuple(self._diffs)

    def diff(self, ids: tuple[str, ...]) -> str:
        return self._diffs[ids[0]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("train()\n")
    known = sample_results.environment()
    same = Hardware(known.torch, known.python, known.processor, known.processors)
    monkeypatch.setattr(earlier_run, "hardware", lambda: same)
    return tmp_path


def written(here: Path, **changes: Any) -> Finished:
    result = sample_results.result(sources=digests(["train.py"]), **changes)
    (here / "v.json").write_text(json.dumps(document(result)))
    return read_finished("v.json")


def why(found: Finished, fixes: Fixes | None = None, argv: tuple[str, ...] = ()) -> str:
    with pytest.raises(ExperimentError) as raised:
        require_current(found, "v.json", script("train.py", argv), fixes or CURRENT)
    assert raised.value.message.startswith("v.json does not hold here: ")
    assert raised.value.message.endswith("; run `torchlint verify` again.")
    return raised.value.message


CURRENT: Any = Fixes(TL101=sample_results.DIFF)


def test_the_same_script_sources_and_machine_hold(here):
    found = written(here)
    require_current(found, "v.json", script("train.py", ()), CURRENT)
    assert found.proven() == ("TL101:train.py",)
    assert found.steps == 30


def test_other_arguments_do_not(here):
    said = why(written(here), argv=("--epochs", "9"))
    assert "it ran `train.py`, and this is `train.py --epochs 9`" in said


def test_another_spelling_of_the_script_is_the_same_script(here):
    require_current(written(here), "v.json", script("./train.py", ()), CURRENT)


def test_a_change_of_ones_own_has_no_fixes(here):
    with pytest.raises(ExperimentError, match="measured a change of your own and no fixes"):
        written(here, fixes=(), diff=sample_results.DIFF)
    assert written(here, fixes=(), diff="").proven() == ()


def test_what_was_stopped_before_it_proved_anything_does_not_hold(here):
    with pytest.raises(ExperimentError, match="was stopped; run `torchlint verify` again"):
        written(here, fixes=(), diff="", exit=130)
    assert written(here, exit=130).proven()


@pytest.mark.parametrize("name", ["torch", "python", "processor"])
def test_another_machine_does_not(here, monkeypatch, name):
    found = written(here)
    other = earlier_run.hardware()._replace(**{name: "x"})
    monkeypatch.setattr(earlier_run, "hardware", lambda: other)
    assert f"with {name} " in why(found)


def test_a_changed_or_missing_source_does_not(here):
    found = written(here)
    (here / "train.py").write_text("train(2)\n")
    assert "train.py has changed" in why(found)
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "train.py").touch()
    (here / "train.py").rename(here / "elsewhere" / "train.py")
    current = Program("train.py", False, (), str(here / "elsewhere/train.py"), str(here))
    with pytest.raises(ExperimentError, match="py cannot be read here"):
        require_current(found, "v.json", current, CURRENT)


def test_another_fix_of_the_same_name_does_not(here):
    found = written(here)
    assert "TL101:train.py is another fix now" in why(found, Fixes(TL101="other"))
    assert "there is no fix TL101:train.py now; run" in why(found, Fixes())
    hints = written(here, given=Given(rules=("--hints",)))
    assert "TL101:train.py now, and it was run with --hints; run" in why(hints, Fixes())


@pytest.mark.parametrize(
    ("verdict", "agreement"),
    [
        (Verdict.NEUTRAL, Agreement.BITWISE),
        (Verdict.CONFIRMED, Agreement.DIFFERS),
        (Verdict.CONFIRMED, Agreement.UNKNOWN),
        (Verdict.CONFIRMED, Agreement.DECLARED),
    ],
)
def test_only_what_is_faster_and_right_is_proven(here, verdict, agreement):
    alone = sample_results.comparison(verdict, numerics=sample_results.numerics(agreement))
    assert written(here, fixes=(sample_results.fix(alone=alone),)).proven() == ()


def test_a_fix_whose_numbers_are_unknown_is_not_proven(here):
    alone = replace(sample_results.comparison(Verdict.CONFIRMED), numerics=None)
    assert written(here, fixes=(sample_results.fix(alone=alone),)).proven() == ()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema": 1}', "[" * 10_000, '{"tool": "other"}']
)
def test_an_error_names_what_is_not_a_result(here, text):
    (here / "v.json").write_text(text)
    with pytest.raises(ExperimentError, match="is not a result of this torchlint"):
        read_finished("v.json")


def test_a_result_of_another_schema_says_so(here):
    written(here)
    other = {**json.loads((here / "v.json").read_text()), "schema": 99}
    (here / "v.json").write_text(json.dumps(other))
    with pytest.raises(ExperimentError, match="not a result of this torchlint"):
        read_finished("v.json")


def test_a_missing_file_is_named(here):
    with pytest.raises(ExperimentError, match="nowhere"):
        read_finished("nowhere.json")

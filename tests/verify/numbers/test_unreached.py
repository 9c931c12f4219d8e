"""What is beyond the steps whose numbers were compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.verify.numbers.records import recorded
from torchlint.runtime.probe.messages import Extent
from torchlint.verify.numbers.unreached import unreached

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.messages import Recorded

SCRIPT = """\
for epoch in range(9):
    train()
    model.eval()
    frame.eval("a + b")
"""
ALL = recorded(
    reached=Extent(passes=2, batches=100, evaluates=True), exercised=["TL401:train.py:0"]
)
PLACES = {"TL401:train.py:0": "train.py:9", "TL401:train.py:1": "train.py:20"}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    return str(tmp_path / "train.py")


def went(**changes: Any) -> Recorded:
    """With changes of how far, or of what is known of it."""
    reached = {name: changes.pop(name) for name in tuple(changes) if hasattr(ALL.reached, name)}
    return replace(ALL, reached=replace(ALL.reached, **reached), **changes)


def beyond(script: str, places: dict[str, str] | None = None, **changes: Any) -> tuple[str, ...]:
    return unreached(went(**changes), went(**changes), script, places or {})


def test_a_window_that_reached_everything_leaves_nothing(script):
    assert beyond(script) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"passes": 1}, "the end of the first pass over the data (100 batches)"),
        ({"passes": 1, "batches": None}, "the end of the first pass over the data"),
        ({"schedules": ["StepLR"]}, "a change of the learning rate by StepLR"),
        ({"evaluates": False}, "evaluation (train.py:3)"),
    ],
)
def test_each_kind_is_named(script, changes, said):
    assert beyond(script, **changes) == (said,)
    assert beyond(script, finished=True, **changes) == ()


def test_no_epoch_ends_and_no_schedule_acts_after_the_last_step(script):
    record = went(passes=1, schedules=["StepLR"], evaluates=False)
    said = unreached(record, record, script, {}, with_last_step=True)
    assert said == ("evaluation (train.py:3)",)


def test_evaluation_is_looked_for_in_the_files_of_the_project(script, tmp_path):
    (tmp_path / "train.py").write_text("import steps\n")
    (tmp_path / "steps.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text("def\n")
    files = tuple(str(tmp_path / name) for name in ("broken.py", "missing.py", "steps.py"))
    assert beyond(script, evaluates=False, files=files) == ("evaluation (steps.py:3)",)


def test_a_script_without_data_or_evaluation_cannot_reach_them(script, tmp_path):
    (tmp_path / "train.py").write_text("train()\n")
    assert beyond(script, passes=0, evaluates=False) == ()


def test_a_changed_line_that_did_not_run_is_named(script):
    assert beyond(script, PLACES) == ("the change at train.py:20",)
    assert beyond(script, PLACES, finished=True) == ("the change at train.py:20",)
    assert beyond(script, PLACES, exercise_known=False) == ()


def test_a_line_that_ran_in_one_of_both_programs_was_reached(script):
    changed = replace(ALL, exercised=["TL401:train.py:1"])
    assert unreached(ALL, changed, script, PLACES) == ()

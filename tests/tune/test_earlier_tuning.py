"""An earlier search that is gone on with."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.tune import sample_tunings
from torchlint.experiment import earlier_run
from torchlint.experiment.earlier_json import digests
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.machine import Hardware
from torchlint.report.tune.tune_json import document
from torchlint.runtime.program import script
from torchlint.tune.earlier_tuning import earlier_tuning
from torchlint.tune.fate import Fate

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.tune.earlier_tuning import EarlierTuning

HERE = replace(sample_tunings.tuning().environment, gpu=None)
ARGV = ("--epochs", "2")


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EarlierTuning:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("train()\n")
    same = Hardware(HERE.torch, HERE.python, HERE.processor, HERE.processors)
    monkeypatch.setattr(earlier_run, "hardware", lambda: same)
    found = sample_tunings.tuning(environment=HERE, sources=digests(["train.py"]))
    (tmp_path / "t.json").write_text(json.dumps(document(found)))
    return earlier_tuning("t.json", script("train.py", ARGV))


def test_what_did_not_help_is_known(earlier: EarlierTuning) -> None:
    assert {id_: each.fate for id_, each in earlier.settled.items()} == {
        "channels-last:train.py": Fate.SLOWER,
        "compile-model default:train.py": Fate.FAILED,
        "loader-workers 1:train.py": Fate.REPLACED,
    }
    slower = earlier.settled["channels-last:train.py"]
    assert slower.diff == sample_tunings.DIFF
    assert slower.alone == pytest.approx(math.log(0.8))


def test_it_does_not_hold_for_a_script_that_changed(earlier: EarlierTuning, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("train(2)\n")
    with pytest.raises(ExperimentError) as raised:
        earlier_tuning("t.json", script("train.py", ARGV))
    assert raised.value.message == (
        "t.json does not hold here: train.py has changed; run `torchlint tune` without --from."
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("device", "tpu"), ("gpu", {"name": "NVIDIA H200"}), ("threads", 7), ("processes", 9)],
)
def test_it_does_not_hold_where_the_program_runs_in_another_way(
    earlier: EarlierTuning, name: str, value: object
) -> None:
    earlier.require_the_same(HERE)
    other: dict[str, Any] = {name: value}
    with pytest.raises(ExperimentError) as raised:
        earlier.require_the_same(replace(HERE, **other))
    assert f"it was measured with {name} {getattr(HERE, name)}" in raised.value.message

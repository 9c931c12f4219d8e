"""Real little programs before and after a fix, run by the probe, get the words they deserve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from tests.warm_start import start_by
from torchlint.experiment.subject import ORIGINAL
from torchlint.runtime import run
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.run_settings import RECORD, Anchor, RunSettings
from torchlint.runtime.run import Job
from torchlint.runtime.workspace import Workspace
from torchlint.verify.numbers.agreement import RunRequest, compare
from torchlint.verify.numbers.recorder import record_all
from torchlint.verify.numbers.traces import Trace
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.warm_start import Start

PAIRS = Path(__file__).parents[3] / "fixtures" / "numerics"
STEPS = 30


@pytest.fixture(autouse=True)
def warm(warm_start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers do not depend on how Python was started, and a pair takes up to 16 starts."""
    monkeypatch.setattr(run, "subprocess", start_by(warm_start))


class Recorder:
    """Runs `before.py` as the original and `after.py` as everything else."""

    def __init__(self, pair: str, workspace: Workspace) -> None:
        self._pair, self._workspace = PAIRS / pair, workspace
        self._states = workspace.folder("states")

    def __call__(self, requests: Sequence[RunRequest]) -> Sequence[Trace]:
        first = [each for each in requests if self._saves(each)]
        rest = [each for each in requests if not self._saves(each)]
        traces = {each: trace for some in (first, rest) for each, trace in self._run(some)}
        return [traces[each] for each in requests]

    def _saves(self, request: RunRequest) -> bool:
        return request == RunRequest(ORIGINAL, request.level) and request.level >= 2

    def _run(self, requests: Sequence[RunRequest]) -> list[tuple[RunRequest, Trace]]:
        jobs = [Job(self._settings(each), cwd=str(self._pair)) for each in requests]
        found = record_all(jobs, self._workspace, timeout_s=600, at_once=2)
        traces = []
        for each in found:
            assert not isinstance(each, Failed), f"{each.message}\n{each.tail}"
            traces.append(Trace.from_record(each))
        return list(zip(requests, traces, strict=True))

    def _settings(self, request: RunRequest) -> RunSettings:
        name = "before.py" if request.variant == ORIGINAL else "after.py"
        return RunSettings(
            mode=RECORD,
            name=request.variant,
            main=str(self._pair / name),
            project=str(self._pair),
            threads=1,
            device="cpu",
            anchor=Anchor("optimizer"),
            steps=STEPS,
            level=request.level,
            perturb=request.perturb,
            state=f"{self._states}/first",
            save_state=self._saves(request),
        )


def compared(pair: str, declared: str = "") -> Numerics:
    with Workspace() as workspace:
        found = dict(compare(Recorder(pair, workspace), {"changed": declared}))
    assert found[ORIGINAL].agreement is Agreement.BITWISE
    assert len(found["changed"].losses) == STEPS
    return found["changed"]


@pytest.mark.parametrize("pair", ["item", "kept", "from-numpy", "zero-grad", "one-hot", "no-grad"])
def test_a_fix_that_computes_the_same_is_bitwise_equal(pair: str) -> None:
    found = compared(pair)
    assert (found.agreement, found.level, found.why) == (Agreement.BITWISE, 0, "")


def test_a_fused_optimizer_rounds_differently() -> None:
    found = compared("fused-adamw")
    assert (found.agreement, found.level, found.why) == (Agreement.ROUNDING, 0, "")
    assert found.first_step is not None
    assert all(after == pytest.approx(before, rel=1e-5) for before, after in found.losses)


def test_a_bias_that_batch_norm_removes_leaves_rounding_once_random_numbers_are_realigned() -> None:
    found = compared("conv-bias", "the model has fewer parameters and draws fewer random numbers")
    assert (found.agreement, found.level) == (Agreement.ROUNDING, 3)
    assert "checkpoints hold 2 parameters fewer" in found.why
    assert found.losses[0][0] == pytest.approx(found.losses[0][1], rel=1e-5)


def test_workers_draw_what_the_main_process_drew_once_random_numbers_are_realigned() -> None:
    found = compared("workers", "random numbers are drawn in other processes")
    assert (found.agreement, found.level) == (Agreement.BITWISE, 3)
    assert found.why == "after realigning random numbers"


def test_another_momentum_differs() -> None:
    found = compared("wrong-momentum")
    assert found.agreement is Agreement.DIFFERS
    assert found.first_step == 1, "the first step has no past"
    assert found.envelope_ratio is not None
    assert found.envelope_ratio > 1000


def test_two_batches_that_change_places_differ() -> None:
    found = compared("wrong-order")
    assert found.agreement is Agreement.DIFFERS
    assert found.first_step == 3

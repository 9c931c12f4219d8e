"""TR304: a module that gets one slice after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import module_in_loop
from torchlint.runtime.probe.instrument_messages import LayersSeen, SlicedCalls

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

HEAD = SlicedCalls(
    "head", "Linear", ("/train.py", 7), (8, 32, 64), runs=100, calls=3200, seconds=0.15
)


def judged(forward_seconds: float = 0.4, **more: Any) -> list[Observed]:
    """In a hundred steps of 10 ms, of which 4 ms are forward and 5 ms backward."""
    line = replace(HEAD, **more)
    return findings(
        module_in_loop.kind,
        evidence(LayersSeen(forward_seconds=forward_seconds, sliced=[line])),
    )


def test_a_head_that_is_called_for_each_token() -> None:
    (found,) = judged(between_s=0.05)
    assert found.place == ("/train.py", 7)
    assert found.fact == (
        "`head` (Linear) is called 32 times a step, each time with the next slice of one tensor of "
        "(8, 32, 64), 2 ms of the forward pass"
    )
    assert found.action == "call it once on the whole tensor"
    # 2 of 10 ms, and half of the backward pass.
    assert found.share == pytest.approx(0.2 + 0.25)


def test_what_is_between_calls_outside_of_modules_is_part_of_the_forward_pass() -> None:
    (found,) = judged(0.15, between_s=0.05, outside=True)
    assert found.share == pytest.approx(0.2 + 0.5)


def test_a_cell_has_a_module_for_all_time_steps() -> None:
    (found,) = judged(kind="GRUCell", cell=True)
    assert "and with the state that the last one returned" in found.fact
    assert found.action == "call `nn.GRU` once on the whole tensor"


def test_norms_of_batches_are_named() -> None:
    (found,) = judged(norms=True)
    assert "batch norms then see all slices at once" in found.action


def test_a_loss_has_a_mean() -> None:
    (found,) = judged(kind="CrossEntropyLoss")
    assert found.action == "call it once on the whole tensor; its mean is then over all slices"


def test_a_network_for_sequences_takes_a_whole_one() -> None:
    (found,) = judged(kind="LSTM", cell=True)
    assert found.action == "call `nn.LSTM` once on the whole tensor"

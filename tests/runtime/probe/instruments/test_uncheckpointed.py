"""Steps pass without activation checkpointing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from torchlint.runtime.probe.instruments import uncheckpointed
from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    from pathlib import Path


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.calls = nn.Linear(4, 4), 0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        result: torch.Tensor = self.inner(inputs).relu()
        return result


@pytest.mark.parametrize("reentrant", [True, False])
def test_nothing_is_computed_again_in_the_window_and_gradients_stay(
    tmp_path: Path, reentrant: bool
) -> None:
    block = Counts()

    def step() -> tuple[int, torch.Tensor]:
        block.calls = 0
        block.zero_grad()
        inputs = torch.ones(2, 4, requires_grad=True)
        checkpoint(block, inputs, use_reentrant=reentrant).sum().backward()
        assert block.inner.weight.grad is not None
        return block.calls, block.inner.weight.grad.clone()

    before = step()
    watch = uncheckpointed.watch(RunSettings(main="train.py", project=str(tmp_path)))
    watch.open()
    try:
        within = step()
        watch.passed()
        alters = watch.alters
    finally:
        watch.close()
    after = step()
    assert (before[0], within[0], after[0]) == (2, 1, 2)
    assert torch.equal(before[1], within[1])
    assert alters


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_memory_is_limited_in_the_window_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(uncheckpointed, "memory_limit", lambda: 1 << 40)
    watch = uncheckpointed.watch(RunSettings(main="train.py", project=str(tmp_path)))
    watch.open()
    try:
        assert resource.getrlimit(resource.RLIMIT_DATA) == (1 << 39, before[1])
    finally:
        watch.close()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before

"""Steps without subnormal numbers."""

from __future__ import annotations

import pytest
import torch

from torchlint.runtime.probe.instruments import flush
from torchlint.runtime.probe.run_settings import RunSettings


def test_numbers_that_are_nearly_zero_are_zero_from_the_start() -> None:
    if not torch.set_flush_denormal(False):
        pytest.skip("this processor cannot")
    assert (torch.full((8,), 1e-38) * 0.5).max() > 0
    try:
        watch = flush.watch(RunSettings(main="train.py", project="/project"))
        assert watch.alters
        assert (torch.full((8,), 1e-38) * 0.5).max() == 0
    finally:
        torch.set_flush_denormal(False)


def test_a_processor_that_cannot_alters_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "set_flush_denormal", lambda _: False)
    assert not flush.watch(RunSettings(main="train.py", project="/project")).alters

"""Lets the processor take subnormal numbers for zeros."""

from __future__ import annotations

import torch

from torchlint.runtime.probe.instruments.observer import Observer


class Flush(Observer):
    """Not all processors can."""

    def prepare(self) -> None:
        """Threads inherit it from this one, so before there are others."""
        self.alters = torch.set_flush_denormal(True)


watch = Flush

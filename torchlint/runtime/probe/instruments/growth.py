"""How long each step of the window takes, and how much more there is after it than before."""

from __future__ import annotations

import gc
import time

import torch

from torchlint.runtime.probe.instrument_messages import GrowthSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import peak_memory_mb


class GrowthObserver(Observer):
    """Counts what Python holds twice, outside of the steps."""

    def begin(self) -> None:
        self._objects, self._tensors = _held()
        self._memory_mb = peak_memory_mb()
        self._seconds: list[float] = []
        self._last = time.perf_counter()

    def step(self) -> None:
        now = time.perf_counter()
        self._seconds.append(now - self._last)
        self._last = now

    def end(self) -> GrowthSeen:
        objects, tensors = _held()
        return GrowthSeen(
            self._seconds,
            objects - self._objects,
            tensors - self._tensors,
            peak_memory_mb() - self._memory_mb,
        )


def _held() -> tuple[int, int]:
    """Objects that the garbage collector knows, and tensors among them."""
    held = gc.get_objects()
    # `isinstance` would ask objects that pretend to be of another class.
    return len(held), sum(issubclass(type(each), torch.Tensor) for each in held)


watch = GrowthObserver

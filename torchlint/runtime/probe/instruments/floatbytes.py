"""Batches of floating-point numbers whose values are whole bytes, or such bytes divided by 255."""

from __future__ import annotations

import mmap
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe.batches.batch_tensors import batch_tensors
from torchlint.runtime.probe.instrument_messages import ByteBatches, FloatBytesSeen
from torchlint.runtime.probe.instruments.batch_observer import BatchObserver, read_values

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place

_LEAST_BYTES = 1 << 16
_MOST_BYTES = 1 << 28
"""That a copy is timed of."""
_BATCHES = 3
"""That are looked at."""
_SAMPLE = 4096
_FEWEST = 16
"""Different values: a mask has two, a label few."""
_TURNS = 3


class FloatBytesObserver(BatchObserver):
    """Takes some thousand values of the tensors of the first batches of each place."""

    def begin(self) -> None:
        super().begin()
        self._by_place: dict[Place | None, ByteBatches] = {}

    def end(self) -> FloatBytesSeen:
        found = [each for each in self._by_place.values() if each.size]
        for each in found:
            size = min(each.size, _MOST_BYTES)
            (written, read), (written_less, read_less) = _sent(size), _sent(size // each.width)
            each.written_s = max(0.0, written - written_less) * each.size / size
            each.read_s = max(0.0, read - read_less) * each.size / size
        return FloatBytesSeen(found)

    def look(self, batch: Any) -> None:
        place = self.places.here()
        seen = self._by_place.setdefault(place, ByteBatches(place))
        seen.batches += 1
        if seen.batches > _BATCHES or (seen.batches > 1 and not seen.size):
            return
        parts = [each for each in batch_tensors(batch) if _is_large(each)]
        bytes_only = [each for each in parts if _holds_bytes(each)]
        size = sum(each.numel() * each.element_size() for each in bytes_only)
        # What one batch shows by chance, the next does not.
        seen.size = size if seen.batches == 1 else min(seen.size, size)
        seen.width = min((each.element_size() for each in bytes_only), default=seen.width)


def _is_large(tensor: torch.Tensor) -> bool:
    plain = tensor.device.type == "cpu" and tensor.layout == torch.strided
    wide = tensor.dtype in (torch.float32, torch.float64)
    return plain and wide and tensor.numel() * tensor.element_size() >= _LEAST_BYTES


@torch.no_grad()
def _holds_bytes(tensor: torch.Tensor) -> bool:
    """Whether all values of a sample are whole, from 0 to 255, or become so times 255."""
    values = tensor.detach().reshape(-1)
    # No even stride: it might meet the same channel or column each time.
    step = max(1, len(values) // _SAMPLE) | 1
    sample: list[float] = read_values(values[::step])
    if len(set(sample)) < _FEWEST or min(sample) < 0 or max(sample) > 255:
        return False
    if max(sample) > 1:
        return all(each == int(each) for each in sample)
    near = 255 * torch.finfo(tensor.dtype).eps
    return all(abs(255 * each - round(255 * each)) <= near for each in sample)


def _sent(size: int) -> tuple[float, float]:
    """Seconds to write so many bytes into memory that processes share, and to read them where it is
    mapped anew; the least of some. Only Linux tells them apart."""
    if sys.platform != "linux":
        return min(_touched(-1, size, write=True) for _ in range(_TURNS)), 0.0
    written, read = [], []
    for _ in range(_TURNS):
        file = os.memfd_create("torchlint")
        try:
            os.truncate(file, size)
            written.append(_touched(file, size, write=True))
            read.append(_touched(file, size, write=False))
        finally:
            os.close(file)
    return min(written), min(read)


def _touched(file: int, size: int, *, write: bool) -> float:
    with mmap.mmap(file, size) as memory:
        shared = torch.frombuffer(memory, dtype=torch.uint8)
        begun = time.perf_counter()
        if write:
            shared.fill_(1)
        else:
            shared[:: mmap.PAGESIZE].clone()  # beside its mapping, what is in a page costs little
        seconds = time.perf_counter() - begun
        del shared
    return seconds


watch = FloatBytesObserver

"""How much memory each part of a step takes at most.

Whenever a part of a step begins or ends, the peak since the last such moment is read and reset. On
a GPU it is what torch's allocator has given to tensors, which the host knows without waiting;
without one, what is in main memory of this process.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import torch

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.instrument_messages import MemorySeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import MEGABYTE, peak_memory_mb, uses_gpu
from torchlint.runtime.probe.machine.memory_limit import memory_limit
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.lane_clock import OTHER, OpenLanes
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from collections.abc import Callable


class PeakMeter(Protocol):
    """Knows the peak since it was last asked."""

    def peak(self) -> float:
        """MiB at most since the last call; in the first one, since the process began."""

    def known(self) -> MemorySeen:
        """What there is to say at the end, without the peaks."""


class HostMeter:
    """Of this process alone, as Linux counts the pages that are in main memory.

    https://docs.kernel.org/filesystems/proc.html says how to reset the peak. Where that is not
    allowed, only what is there at the moment of the question is known.

    Args:
        folder: what the system tells of this process.
    """

    def __init__(self, folder: str = "/proc/self") -> None:
        self._status = f"{folder}/status"
        self._clear = f"{folder}/clear_refs"
        self._is_exact = True

    def peak(self) -> float:
        try:
            peak_bytes = self._read(b"VmHWM:" if self._is_exact else b"VmRSS:")
        except OSError:  # not Linux
            self._is_exact = False
            return peak_memory_mb()
        if self._is_exact:
            try:
                _write(self._clear, b"5")
            except OSError:
                self._is_exact = False
        return peak_bytes

    def known(self) -> MemorySeen:
        limit = memory_limit()
        total = None if limit is None else limit / MEGABYTE
        return MemorySeen("cpu", exact=self._is_exact, total_mib=total)

    def _read(self, name: bytes) -> float:
        file = system.open_descriptor(self._status, os.O_RDONLY)
        try:
            text = os.read(file, 1 << 14)
        finally:
            system.close(file)
        _, _, found = text.partition(name)
        if not found:
            raise OSError(f"{self._status} has no {name.decode()}")
        return int(found.split(None, 1)[0]) / 1024


def _write(path: str, data: bytes) -> None:
    file = system.open_descriptor(path, os.O_WRONLY)
    try:
        system.write(file, data)
    finally:
        system.close(file)


class DeviceMeter:
    """Of the tensors of this process on the current GPU.

    What is outside of torch's allocator, such as the context, the buffers of NCCL and whatever
    other processes hold, is what the driver gives as used and the allocator has not reserved.

    Args:
        cuda: `torch.cuda`, or what replaces it.
    """

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._begun = False
        self._reserved = 0.0
        self._retried = self._retries()

    def peak(self) -> float:
        peak = float(self._cuda.max_memory_allocated() / MEGABYTE)
        if self._begun:
            self._reserved = max(self._reserved, self._cuda.max_memory_reserved() / MEGABYTE)
        self._begun = True
        self._cuda.reset_peak_memory_stats()  # of both
        return peak

    def known(self) -> MemorySeen:
        free, total = self._cuda.mem_get_info()
        outside = max(0, total - free - self._cuda.memory_reserved())
        return MemorySeen(
            "cuda",
            total_mib=total / MEGABYTE,
            reserved_mib=self._reserved,
            outside_mib=outside / MEGABYTE,
            retries=self._retries() - self._retried,
        )

    def _retries(self) -> int:
        """How often the allocator had to give back what it kept, to find room."""
        return int(self._cuda.memory_stats().get("num_alloc_retries", 0))


class _Lanes(OpenLanes):
    def __init__(self, changes: Callable[[str | None], None]) -> None:
        super().__init__()
        self._changes = changes

    def change(self) -> None:
        self._changes(self.now)


class MemoryObserver(Observer):
    """Keeps the peak of each part, over all steps of the window."""

    def prepare(self) -> None:
        """Listen for the parts of steps."""
        self._lanes = _Lanes(shielded(self._read))
        self.at_end(events.watch_lanes(self._lanes))

    def begin(self) -> None:
        """What the peak was before does not count for the steps of the window."""
        on_gpu = uses_gpu(self.settings.device, torch.cuda)
        self._phases: dict[str, float] = {}
        self._meter: PeakMeter = DeviceMeter(torch.cuda) if on_gpu else HostMeter()
        self._before = self._meter.peak()

    def step(self) -> None:
        """The first part of the next step begins."""
        self._read(self._lanes.now)

    def end(self) -> MemorySeen:
        return replace(self._meter.known(), phases=self._phases, before_mib=self._before)

    def _read(self, lane: str | None) -> None:
        """A part ends."""
        if not self.watching or threading.get_ident() != self.thread:
            return
        phase = lane or OTHER
        self._phases[phase] = max(self._phases.get(phase, 0.0), self._meter.peak())


watch = MemoryObserver

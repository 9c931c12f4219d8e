"""Clocks that time a block of steps: on the host, or between two events of the GPU's stream."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchlint.runtime.probe.run_settings import RunSettings

MEGABYTE = 2**20
_HELD_BACK = 0.9
"""Of the highest SM clock seen in this process; below it something holds the GPU back."""


@dataclass(frozen=True)
class Reading:
    """What a clock saw between `start` and `stop`.

    Args:
        wall: seconds on the host, between the moments in which the step's events were heard. On
            a GPU the host may be ahead of what it has queued.
        cpu: seconds of all threads of this process.
        gpu: seconds between the same moments in the GPU's stream; None if there is none.
        memory_mb: peak in MiB; of the process on the host, of what torch has allocated on a GPU
            since the warm-up.
        throttled: the GPU's clock is lower than it has been; None if it cannot be read.
        clock_mhz: that clock at the end of the block.
    """

    wall: float
    cpu: float
    gpu: float | None
    memory_mb: float
    throttled: bool | None
    clock_mhz: int | None = None


class CpuClock:
    """Wall and CPU time."""

    tail = 0
    """How many steps more to take after `stop` and before `settle`."""

    def __init__(self) -> None:
        self._begun = self._ended = (0.0, 0.0)

    def start(self) -> None:
        """Begin a block."""
        self._begun = _now()

    def stop(self) -> None:
        """End a block. The script may continue; nothing is waited for."""
        self._ended = _now()

    def settle(self) -> None:
        """Wait for everything that the script has started."""

    def read(self) -> Reading:
        """What was seen in the last block; to be asked after `settle`."""
        return Reading(*self._elapsed(), None, peak_memory_mb(), None)

    def _elapsed(self) -> tuple[float, float]:
        return self._ended[0] - self._begun[0], self._ended[1] - self._begun[1]


class CudaClock(CpuClock):
    """Adds the time between two events in the stream, without making the host wait in between.

    A block ends some work before the queue is empty, so that it is timed as the steps run in the
    midst of a training: by the host, if that is what they wait for.
    https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution

    Args:
        cuda: `torch.cuda`.
    """

    tail = 1

    def __init__(self, cuda: Any) -> None:
        super().__init__()
        self._cuda = cuda
        self._first, self._last = (cuda.Event(enable_timing=True) for _ in range(2))
        self._peak_is_ours = False
        self._rate: int | None = None
        self._highest = 0
        self._rates_known = True

    def start(self) -> None:
        """Begin a block; before the first one, forget the memory that the warm-up took."""
        if not self._peak_is_ours:
            self._cuda.reset_peak_memory_stats()
            self._peak_is_ours = True
        self._first.record()
        super().start()

    def stop(self) -> None:
        """End a block in the stream."""
        self._last.record()
        super().stop()

    def settle(self) -> None:
        """Wait for the GPU, whose clock is read before: an idle one slows down."""
        self._rate = self._clock_rate()
        self._cuda.synchronize()

    def read(self) -> Reading:
        """What was seen in the last block; `gpu` is None if its events cannot be compared."""
        gpu = seconds_between(self._first, self._last)
        memory_mb = self._cuda.max_memory_allocated() / MEGABYTE
        return Reading(*self._elapsed(), gpu, memory_mb, self._throttled(), self._rate)

    def _clock_rate(self) -> int | None:
        if not self._rates_known:
            return None
        try:
            return int(self._cuda.clock_rate())
        except Exception:
            # torch asks NVML through a package that is rarely there; a driver may refuse it too.
            self._rates_known = False
            return None

    def _throttled(self) -> bool | None:
        if self._rate is None:
            return None
        self._highest = max(self._highest, self._rate)
        return self._rate < _HELD_BACK * self._highest


def clock_for(settings: RunSettings, cuda: Any) -> CpuClock:
    """The clock for a script that has begun to train.

    Args:
        settings: `device` `auto` means the GPU if the script has woken it.
        cuda: `torch.cuda`.
    """
    return CudaClock(cuda) if uses_gpu(settings.device, cuda) else CpuClock()


def uses_gpu(device: str, cuda: Any) -> bool:
    """Whether a script that has begun to train does so on a GPU, as far as is known."""
    if device == "cpu":
        return False
    return bool(cuda.is_initialized() and cuda.is_available())


def seconds_between(first: Any, last: Any) -> float | None:
    """Between two events of the GPU's stream that have been waited for; None if there are none, or
    they cannot be compared."""
    if first is None or last is None:
        return None
    try:
        return float(first.elapsed_time(last)) / 1000.0
    except (RuntimeError, ValueError):
        return None


def is_capturing(cuda: Any) -> bool:
    """Whether what is queued now goes into a CUDA graph, where nobody may wait for it."""
    return bool(cuda.is_initialized() and cuda.is_current_stream_capturing())


def peak_memory_mb() -> float:
    """The largest resident size that this process has had, in MiB."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes, except on macOS.
    return peak / MEGABYTE if sys.platform == "darwin" else peak / 1024


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()

"""Time without what a thread waits for a processor, which others on the machine have."""

from __future__ import annotations

import os
import time
from contextlib import suppress

_FILE = "/proc/thread-self/schedstat"
_LONGEST = 128
_TRIES = 3


class ThreadTime:
    """Clocks of the thread that makes this. A reading takes a few microseconds.

    Linux counts how long each thread could have run and had no processor, see
    https://docs.kernel.org/scheduler/sched-stats.html. No other system is known to.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(_FILE, os.O_RDONLY)

    def held_s(self) -> float | None:
        """Seconds for which the thread had no processor so far, if the system says that."""
        if self._file is None:
            return None
        try:
            return int(os.pread(self._file, _LONGEST, 0).split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return None

    def now_s(self) -> float:
        """Seconds that pass, but not while the thread has no processor; from any moment."""
        return self.read()[0]

    def read(self) -> tuple[float, float]:
        """`now_s`, and the seconds for which it has stood still; 0 if the system does not say."""
        held_s = self.held_s() or 0.0
        for _ in range(_TRIES):
            passed_s, before_s = time.perf_counter(), held_s
            held_s = self.held_s() or 0.0
            if held_s == before_s:  # else it lost the processor between the two clocks
                break
        return passed_s - held_s, held_s

    def close(self) -> None:
        """From now on nothing is known."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)

"""Where the host's time goes: waiting for data, forward, backward, optimizer."""

from __future__ import annotations

import threading
import time

from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, LOADER, OPTIMIZER

ORDER = (LOADER, FORWARD, BACKWARD, OPTIMIZER)

Seconds = tuple[float, float, float, float]
"""In `ORDER`."""


class LaneClock(threading.local):
    """Adds up, thread by thread, the seconds between `enter` and `leave`.

    What begins inside another part is counted there and not twice, as the closure of an LBFGS
    step. A batch is the exception: whatever its dataset computes is waiting for data.
    """

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(ORDER, 0.0)
        self._open: list[str] = []
        self._since = 0.0

    def enter(self, lane: str) -> None:
        """A part begins."""
        self._add()
        waiting = bool(self._open) and self._open[-1] == LOADER
        self._open.append(LOADER if waiting else lane)

    def leave(self) -> None:
        """The part that began last ends."""
        self._add()
        if self._open:
            self._open.pop()

    def seconds(self) -> Seconds:
        """What this thread has spent so far."""
        self._add()
        data, forward, backward, optimizer = self._seconds.values()
        return data, forward, backward, optimizer

    def _add(self) -> None:
        now = time.perf_counter()
        if self._open:
            self._seconds[self._open[-1]] += now - self._since
        self._since = now

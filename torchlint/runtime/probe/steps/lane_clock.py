"""Where the host's time goes: waiting for data, forward, backward, optimizer."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, LOADER, OPTIMIZER

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDER = (LOADER, FORWARD, BACKWARD, OPTIMIZER)
OTHER = "other"
"""What is between them."""

Seconds = tuple[float, float, float, float]
"""In `ORDER`."""


class OpenLanes(threading.local):
    """Which part of a step each thread is in.

    What begins inside another part counts there, as the closure of an LBFGS step. A batch is the
    exception: whatever its dataset computes is waiting for data.
    """

    def __init__(self) -> None:
        self._open: list[str] = []

    @property
    def now(self) -> str | None:
        """The part that began last and has not ended; None between them."""
        return self._open[-1] if self._open else None

    @property
    def stack(self) -> Sequence[str]:
        """Those of this thread that have begun and not ended, for other threads to read."""
        return self._open

    def enter(self, lane: str) -> None:
        """A part begins."""
        self.change()
        self._open.append(LOADER if self.now == LOADER else lane)

    def leave(self) -> None:
        """The part that began last ends."""
        self.change()
        if self._open:
            self._open.pop()

    def change(self) -> None:
        """Called before another part is the one of now."""


class LaneClock(OpenLanes):
    """Adds up, thread by thread, the seconds between `enter` and `leave`, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds = dict.fromkeys(ORDER, 0.0)
        self._since = 0.0

    def seconds(self) -> Seconds:
        """What this thread has spent so far."""
        self.change()
        data, forward, backward, optimizer = self._seconds.values()
        return data, forward, backward, optimizer

    def change(self) -> None:
        """Add what has passed to the part of now."""
        now, lane = time.perf_counter(), self.now
        if lane is not None:
            self._seconds[lane] += now - self._since
        self._since = now

"""Signals that ask this process to end, while its runs have to be ended first."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_SAME_WISH_S: Final = 2.0


class Interrupts:
    """Turns the first of these signals into an exception, and keeps the next ones from interrupting
    the cleanup that the exception starts.

    SIGINT raises KeyboardInterrupt, the others SystemExit with 128 + their number, unless the
    program has handlers of its own: those are called. Signals that are ignored stay ignored.
    Outside the main thread Python has no say over signals, and nothing happens here.

    Args:
        arrived: called in the handler, before the exception.
    """

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._before: dict[int, Any] = {}
        self._last: float | None = None
        self._held = 0
        self._pending: int | None = None
        self._closing = False

    def install(self) -> None:
        """Install the handlers."""
        if threading.current_thread() is not threading.main_thread():
            return
        for name in _SIGNALS:
            number = getattr(signal, name)
            before = signal.getsignal(number)
            if before is not None and before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._handle)

    def begin_closing(self) -> None:
        """From here on, signals wait."""
        self._closing = True

    def restore(self) -> None:
        """Restore the handlers; a signal that arrived while closing is delivered now."""
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()
        if self._pending is not None and self._last is None:
            signal.raise_signal(self._pending)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, a signal waits: starting a process and recording it must not be separated."""
        if threading.current_thread() is not threading.main_thread():
            yield  # handlers run in the main thread only
            return
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if self._pending is not None and not self._held and not self._closing:
                number, self._pending = self._pending, None
                self._raise(number)

    def _handle(self, number: int, frame: object) -> None:
        self._arrived()
        if self._closing or self._held:
            self._pending = number
        elif self._last is None or time.monotonic() - self._last > _SAME_WISH_S:
            # Pressed twice, the second must not interrupt what the first has started.
            self._raise(number)

    def _raise(self, number: int) -> None:
        self._last = time.monotonic()
        before = self._before.get(number)
        if callable(before):
            before(number, None)
        else:
            raise SystemExit(128 + number)

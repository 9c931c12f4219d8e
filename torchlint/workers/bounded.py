"""Ends what takes too long, or too much memory, in a process with other threads that has to answer:
the language server. `torchlint.workers.endable` ends whole processes instead.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from torchlint.workers.endable import LONGEST_S

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES: Final = 1 << 30
"""By which the largest size of the process may grow with one item."""
_LOOK_S: Final = 0.2
_longest_s = float(LONGEST_S)
_most_bytes = 0
"""0 in processes that need no bounds of their own."""


class Excess(BaseException):
    """Raised in the thread that works; nothing that it calls takes this for an error of its own."""


def bound_items(longest_s: float = LONGEST_S, most_bytes: int = MOST_BYTES) -> None:
    """Bound each item of this process from now on, where the system tells the processor time of a
    thread: not on Windows.

    Args:
        longest_s: processor seconds of the thread for one item.
        most_bytes: by which the process may grow with one item; 0 for no bounds.
    """
    global _longest_s, _most_bytes  # noqa: PLW0603 - it is about the process
    _longest_s = longest_s
    _most_bytes = most_bytes if hasattr(time, "pthread_getcpuclockid") else 0


@contextmanager
def item() -> Iterator[None]:
    """One item of work of this thread.

    Raises:
        Excess: it took too long, or too much memory. What waits in C, as LibCST's parser does, is
            ended when it is back.
    """
    if not _most_bytes:
        yield
        return
    watch = _Watch()
    arrived = False
    try:
        yield
    except Excess:
        arrived = True
        raise
    finally:
        watch.end(arrived=arrived)


class _Watch:
    """Watches the thread that makes it from another one."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._until = time.clock_gettime(self._clock) + _longest_s
        self._most = _largest_size() + _most_bytes
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._raised = False
        threading.Thread(target=self._watch, daemon=True).start()

    def end(self, *, arrived: bool) -> None:
        """What was raised by now has arrived when this returns."""
        with self._lock:
            self._over.set()
        # Takes it back if it is still under way. Not without need: Python 3.11 then looks for it
        # forever, and a function that is traced never ends.
        if self._raised and not arrived:
            _raise_in(self._thread, None)

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_S):
            try:
                spent = time.clock_gettime(self._clock)
            except OSError:  # the thread has ended by now
                return
            if spent > self._until or _largest_size() > self._most:
                with self._lock:
                    if not self._over.is_set():
                        self._raised = True
                        _raise_in(self._thread, Excess)
                return


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next instruction, or take back what has not arrived."""
    import ctypes

    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)


def _largest_size() -> int:
    """Of this process so far, in bytes."""
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024

"""A process for work that may take forever: it can be ended, and this one continues.

LibCST's parser cannot be interrupted. What is known to be endless is refused before it is parsed;
this is for what nobody has thought of, and so that Ctrl-C works at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")
_R = TypeVar("_R")

LONGEST_S: Final = 30
"""Processor seconds for one item; the largest file that is parsed at all takes ten."""
LONGEST_WAIT_S: Final = 300
"""Seconds for one item of a process that may sleep."""
_LOOK_S: Final = 1.0
_may_be_ended = False


def is_possible() -> bool:
    """Whether this process can have such a child: not with other threads, and not on Windows."""
    import threading

    return hasattr(os, "fork") and threading.active_count() == 1


def in_child(
    work: Callable[[list[_T]], list[_R]], items: list[_T]
) -> Iterator[tuple[_T, _R | None]]:
    """Each item with what `work` makes of it, in a child; None if the child ended at it."""
    import pickle

    left = list(items)
    while left:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _work(work, left, writer)
        os.close(writer)
        try:
            with open(reader, "rb") as results, suppress(EOFError, pickle.UnpicklingError):
                while left:
                    result = pickle.load(results)  # noqa: S301 - of our own child
                    yield left.pop(0), result
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if left:
            yield left.pop(0), None


def _work(work: Callable[[list[_T]], list[_R]], items: list[_T], writer: int) -> None:
    """The life of the child."""
    import pickle

    try:
        ignore_interrupts()
        may_be_ended()
        with open(writer, "wb") as results:
            for item in items:
                pickle.dump(work([item])[0], results)
                results.flush()
    finally:
        os._exit(0)


def ignore_interrupts() -> None:
    """Ctrl-C reaches every process of the terminal; the main process ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def may_be_ended() -> None:
    """Allows the system to end this process at an item that takes too long; see `begin_item`."""
    global _may_be_ended  # noqa: PLW0603 - it is about the process
    _may_be_ended = sys.platform != "win32"


def end_with_parent() -> None:
    """End this process soon after the one that started it, even if that was killed: what it works
    on is of no use to anybody any more."""
    if sys.platform == "win32":
        return
    import threading

    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def end_items() -> None:
    """Let this process wait for its next work as long as it takes."""
    if _may_be_ended:
        signal.alarm(0)


def begin_item(*, sleeps: bool = False) -> None:
    """Give the next item of this process its time, if the process may be ended.

    Args:
        sleeps: code runs that may wait without taking processor time, as that of plugins may.
    """
    if not _may_be_ended:
        return
    import resource

    if sleeps:
        signal.alarm(LONGEST_WAIT_S)  # whose default ends the process

    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + LONGEST_S + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))

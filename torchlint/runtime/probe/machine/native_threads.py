"""Threads of this process that Python did not start, as the pools of OpenCV and OpenBLAS."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTABLE = 0.1
"""Of what the main thread runs and waits for a processor."""
_OPENBLAS = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")
"""Names of its functions, which depend on how it was built."""


def native_times(tasks: str = "/proc/self/task") -> tuple[int, float, float] | None:
    """How many threads are at work, the main one too; the seconds for which they ran, and for
    which they could have run and had no processor, since they are there.

    Only Linux says that. Threads that Python has started, as the one that sends batches, are left
    out.

    Args:
        tasks: the folder with one of each thread.
    """
    main = str(os.getpid())
    ours = {str(each.native_id) for each in threading.enumerate()} - {main}
    times: dict[str, tuple[float, float]] = {}
    with suppress(OSError):
        for name in os.listdir(tasks):
            if name in ours:
                continue
            # A thread may end at any time.
            with suppress(OSError, ValueError), open(f"{tasks}/{name}/schedstat") as file:
                ran, held = (int(each) / 1e9 for each in file.read().split()[:2])
                times[name] = ran, held
    least = _NOTABLE * sum(times.get(main, (0.0, 0.0)))
    at_work = [each for each in times.values() if sum(each) >= least]
    if not least:
        return None
    return len(at_work), sum(ran for ran, _ in at_work), sum(held for _, held in at_work)


def pools() -> dict[str, int]:
    """How many threads OpenCV and OpenBLAS may use, if they are loaded."""
    found: dict[str, int] = {}
    opencv = getattr(sys.modules.get("cv2"), "getNumThreads", None)
    with suppress(Exception):
        if opencv is not None:
            found["OpenCV"] = int(opencv())
    numbers = [int(each()) for each in _openblas("get_num_threads")]
    if numbers:
        found["OpenBLAS"] = max(numbers)
    return found


def no_opencv_pool() -> None:
    """OpenCV, once it is loaded, computes on the thread that asks it, unless the script tells it
    otherwise. A pool that it has must not be taken from it: it may be at work."""
    os.environ["OPENCV_FOR_THREADS_NUM"] = "1"


def no_openblas_pool() -> None:
    """From now on OpenBLAS computes on the thread that asks it; to be called in a copy of the
    process, where it has no threads yet."""
    for each in _openblas("set_num_threads"):
        each(1)


def _openblas(name: str) -> Iterator[Any]:
    """A function of each OpenBLAS that is loaded."""
    paths: set[str] = set()
    with suppress(OSError, UnicodeDecodeError), open("/proc/self/maps", encoding="utf-8") as file:
        lines = (line.rstrip("\n").split(maxsplit=5) for line in file)
        paths = {line[5] for line in lines if len(line) == 6 and "openblas" in line[5]}
    for path in sorted(paths):
        with suppress(OSError):
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD)
            found = (getattr(library, each.format(name), None) for each in _OPENBLAS)
            yield from [each for each in found if each is not None][:1]

"""What a played device was asked for: launches, waits, copies, between one event and the next."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.messages import Stretch
from torchlint.runtime.probe.played.marks import BATCH, MARKS
from torchlint.runtime.probe.played.queues import Queues
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.played.marks import Made
    from torchlint.runtime.probe.played.queues import Point
    from torchlint.runtime.probe.run_settings import RunSettings

    Key = tuple[str, str, Place | None, str | None, bool]
    """What, which kind of it, the user's line, the library's function, and whether a backward pass
    did it."""

LAUNCH: Final = "launch"
WAIT: Final = "wait"
COPY: Final = "copy"
MIXED: Final = "mixed"
COLLECTIVE: Final = "collective"
FLOPS: Final = "flops"
PAGEABLE: Final = "pageable"
"""A copy from pages that are not pinned, for which the host waits."""
SMALL: Final = 4096
"""Elements: an operation on fewer is over before the next one can be ordered."""
_MOST: Final = 4096
"""Keys of one segment that are told apart."""
_MOST_STRETCHES: Final = 2000
"""Of one segment, in order."""
_OURS: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
_TORCH: Final = os.path.dirname(torch.__file__) + os.sep
_PASSED_OVER: Final = tuple(
    os.path.join(_TORCH, *path.split("/"))
    for path in (
        "_tensor.py",
        "overrides.py",
        "functional.py",
        "utils/_contextlib.py",
        "utils/_device.py",
        "_compile.py",
        "utils/_python_dispatch.py",
        "_dynamo/eval_frame.py",
        "nn/functional.py",
        "nn/modules/module.py",
        "autograd/function.py",
        "autograd/__init__.py",
        "autograd/graph.py",
    )
)
"""Files of torch that are on the way to everything, and tell nothing of who asked for it."""
_OF_MODES: Final = ("__torch_dispatch__", "__torch_function__")
"""Functions of the user's modes, in which everything happens while they are open."""
_DATA: Final = os.path.join(_TORCH, "utils", "data", "")


class Tally:
    """How often, and how much.

    Attributes:
        calls: of it.
        size: bytes.
        before: waits after a model was called, and before a backward pass.
        queued: operations that stood in the queue, added up over the calls.
        idle: calls with nothing in the queue: they wait for nothing.
        same: calls whose content was that of the call before.
        flops: of arithmetic.
        small: calls on few elements.
        first: the user's line that made what is copied, if that is known.
        loader: the line that made the loader, if this is a batch.
    """

    __slots__ = (
        *("before", "calls", "first", "flops", "idle"),
        *("loader", "queued", "same", "size", "small"),
    )

    def __init__(self) -> None:
        self.calls = self.size = self.queued = self.idle = self.same = self.flops = self.small = 0
        self.before = 0
        self.first: Place | None = None
        self.loader: Place | None = None


class Ledger:
    """Counts in segments: from one event of a step to the next.

    Args:
        settings: say whose lines are the user's.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._places = Places(settings)
        self._graph_task = private.graph_task()
        self._lock = threading.RLock()
        self.queues = Queues()
        self._digests: dict[tuple[Place | None, str, int], int] = {}
        self.open = False
        """Whether anything is counted by its line."""
        self.deaf = False
        """What is read now is not the device's."""
        self.segment: dict[Key, Tally] = {}
        self.strip: list[Stretch] = []
        """What is asked for, in order."""
        self.part = 0
        """How many backward passes and optimizers' steps there were."""
        self.forward = False
        """A model has been called since the last of them."""
        self.launches = 0
        """Of the whole process."""
        self.compiles = False
        """The script has asked for a compiled function."""
        self.peak: Place | None = None
        """The line that was running when the memory was fullest."""

    def take(self) -> tuple[dict[Key, Tally], list[Stretch]]:
        """What was counted since the last call, and the same in order."""
        with self._lock:
            taken = self.segment, self.strip
            self.segment, self.strip = {}, []
            return taken

    def launch(self, device: int, *, size: int, small: bool) -> None:
        """An operation was put into the device's queue."""
        with self._lock:
            self.queues.current.ordered += 1
            self.launches += 1
            grown = MARKS.grown(device)
            if not (self.open or grown):
                return
            place, _ = self._where()
            if grown:
                self.peak = place
            if self.open:
                count = self._count(LAUNCH, "", place, None)
                count.size += size
                count.small += small
                self._stretch(LAUNCH, place, MARKS.now)

    def compute(self, precision: str, flops: int) -> None:
        """So much arithmetic in this type is part of an operation."""
        with self._lock:
            self._count(FLOPS, precision, None, None).flops += flops

    def wait(self, kind: str, times: int = 1, until: Iterable[Point] | None = None) -> None:
        """The host waits until what was queued is done; of several waits in a row, those after the
        first find an empty queue.

        Args:
            until: places in queues; None: behind all that the current one holds.
        """
        if self.deaf:
            return
        with self._lock:
            points = (self.queues.here(),) if until is None else until
            queued = sum(point.queue.finish(point.number, point.waits) for point in points)
            if not self.open:
                return
            place, via = self._where()
            self._stretch(WAIT, place)
            count = self._count(WAIT, kind, place, via, times)
            count.queued += queued
            count.idle += times if queued == 0 else 0
            count.before += times if self.forward else 0

    def copy(
        self,
        kind: str,
        size: int,
        content: Callable[[], int] | None = None,
        made: Made | None = None,
    ) -> None:
        """Bytes go to a device, `kind` says how.

        Args:
            content: gives a number for what is copied; None: it is taken for another one each time.
            made: the line that made it on the host, or its loader.
        """
        with self._lock:
            self.queues.current.ordered += 1
            if not self.open:
                return
            place, via = self._where()
            self._stretch(COPY, place)
            count = self._count(COPY, kind, place, via)
            count.size += size
            if content is not None:
                key, now = (place, kind, size), content()
                count.same += self._digests.get(key) == now
                self._digests[key] = now
            if made is None:
                return
            line, part = made
            if part == BATCH:
                count.loader = count.loader or line
            elif part == self.part:
                count.first = count.first or line

    def note(self, what: str, kind: str, size: int = 0) -> None:
        """Something else."""
        with self._lock:
            if self.open:
                self._count(what, kind, *self._where()).size += size

    def here(self) -> Made | None:
        """The user's line that makes something on the host now, and the number of the part of a
        step; None if samples and batches are in the making, or no line of the project is on the
        stack."""
        if not self.open:
            return None
        place: Place | None = None
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(_DATA):
                return None  # it has called the user's data set
            if place is None and (path := self._places.path_of(frame.f_code)) is not None:
                place = path, frame.f_lineno
            frame = frame.f_back
        return None if place is None else (place, self.part)

    def line(self) -> Place | None:
        """The user's line that is running."""
        return self._where()[0]

    def _stretch(self, what: str, place: Place | None, memory: int = 0) -> None:
        last = self.strip[-1] if self.strip else None
        if last is not None and last.what == what and last.place == place:
            last.calls += 1
            last.memory = max(last.memory, memory)
        elif len(self.strip) < _MOST_STRETCHES:
            known = MARKS.alive() if memory else 0
            self.strip.append(Stretch(what, place, 1, known))

    def _count(
        self, what: str, kind: str, place: Place | None, via: str | None, times: int = 1
    ) -> Tally:
        key = what, kind, place, via, self._graph_task() != -1
        count = self.segment.get(key)
        if count is None:
            if len(self.segment) >= _MOST:
                key = what, kind, None, None, False
            count = self.segment.setdefault(key, Tally())
        count.calls += times
        return count

    def _where(self) -> tuple[Place | None, str | None]:
        """The user's line, and the function of a library that the line has called to get here."""
        frame: FrameType | None = sys._getframe(2)
        via: str | None = None
        while frame is not None:
            code = frame.f_code
            path = self._places.path_of(code)
            if path is not None and code.co_name not in _OF_MODES:
                return (path, frame.f_lineno), via
            if via is None and not _is_noise(code.co_filename):
                via = f"{frame.f_globals.get('__name__', '?')}.{code.co_name}"
            frame = frame.f_back
        return None, via


def _is_noise(path: str) -> bool:
    return path in _PASSED_OVER or path.startswith((_OURS, "<"))

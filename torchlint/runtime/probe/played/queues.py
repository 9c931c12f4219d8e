"""What has been ordered from a device, stream by stream, and how much of it is known to be done."""

from __future__ import annotations

import threading
from typing import Final, NamedTuple

_STREAMS: Final = 32
"""Torch hands out as many in turn (`c10/cuda/CUDAStream.cpp`, `kStreamsPerPool`)."""


class Queue:
    """That of one stream.

    Attributes:
        ordered: operations that were put into it.
        done: how many of them are known to be done.
    """

    __slots__ = ("_after", "_waits", "done", "ordered")

    def __init__(self) -> None:
        self.ordered = self.done = 0
        self._waits = 0
        self._after: list[tuple[int, Point]] = []

    def end(self) -> Point:
        """Behind all that it holds."""
        return Point(self, self.ordered, self._waits)

    def wait_for(self, point: Point) -> None:
        """What is put into it from now on comes after that; the host does not wait."""
        if point.queue is not self and point.number > point.queue.done:
            self._after.append((self._waits, point))
            self._waits += 1

    def finish(self, number: int, waits: int) -> int:
        """So many operations are done, and so many waits for other queues with what they were for;
        how many operations were not known to be done."""
        new = max(0, number - self.done)
        self.done = max(self.done, number)
        reached = [point for at, point in self._after if at < waits]
        self._after = [each for each in self._after if each[0] >= waits]
        return new + sum(point.queue.finish(point.number, point.waits) for point in reached)


class Point(NamedTuple):
    """A place in a queue: behind so many operations, and so many waits for other queues."""

    queue: Queue
    number: int
    waits: int


class _Current(threading.local):
    queue: Queue | None = None


class Queues:
    """All queues of this process: streams that nobody made share one."""

    def __init__(self) -> None:
        self.main: Final = Queue()
        self._of_streams: list[Queue] = []
        self._made = 0
        self._current = _Current()

    def make(self) -> Queue:
        """For a stream: one more, or after many of them an earlier one again."""
        self._made += 1
        if self._made > _STREAMS:
            return self._of_streams[self._made % _STREAMS]
        self._of_streams.append(Queue())
        return self._of_streams[-1]

    @property
    def current(self) -> Queue:
        """The one in which this thread puts what it orders."""
        return self._current.queue or self.main

    @current.setter
    def current(self, queue: Queue) -> None:
        self._current.queue = queue

    def here(self) -> Point:
        """Behind all that the current one holds."""
        return self.current.end()

    def ends(self) -> list[Point]:
        """Behind all that all of them hold."""
        return [queue.end() for queue in (self.main, *self._of_streams)]

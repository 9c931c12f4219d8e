"""Streams and events of a played device: who waits for one, waits for what is in its queue."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe.played.state import PLAYED

if TYPE_CHECKING:
    from torchlint.runtime.probe.played.queues import Point


class PlayedStream:
    """`torch.cuda.Stream`."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = torch.device("cuda", PLAYED.index_or_current(device))
        self.device_index = self.device.index
        self.device_type = 1
        self.priority = priority
        self.stream_id = self.cuda_stream = id(self)
        self.queue = PLAYED.ledger.queues.make()
        self._before: PlayedStream | None = None

    def end(self) -> Point:
        """Behind all that it holds."""
        return self.queue.end()

    def synchronize(self) -> None:
        """The host waits."""
        PLAYED.ledger.wait("synchronize", until=(self.end(),))

    def wait_stream(self, stream: Any) -> None:
        """Only the queue waits."""
        self.queue.wait_for(stream.end())

    def wait_event(self, event: Any) -> None:
        """Only the queue waits."""
        event.wait(self)

    def record_event(self, event: Any = None) -> Any:
        """An event that has been recorded."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """All is done."""
        return True

    def __enter__(self) -> PlayedStream:
        self._before = current()
        set_current(self)
        return self

    def __exit__(self, *_: object) -> None:
        set_current(self._before)


class ExternalStream(PlayedStream):
    """`torch.cuda.ExternalStream`."""

    def __init__(self, stream_ptr: int, device: Any = None, **_: Any) -> None:
        super().__init__(device)


class Event:
    """`torch.cuda.Event`; between two of them passes the time of the host."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.recorded_at: float | None = None
        self._behind: Point | None = None

    def record(self, stream: Any = None) -> None:
        """It is now, behind all that was ordered before."""
        self.recorded_at = time.perf_counter()
        self._behind = (stream or current()).end()

    def synchronize(self) -> None:
        """The host waits for what was ordered before it."""
        PLAYED.ledger.wait("synchronize", until=() if self._behind is None else (self._behind,))

    def wait(self, stream: Any = None) -> None:
        """Only the queue waits."""
        if self._behind is not None:
            (stream or current()).queue.wait_for(self._behind)

    def query(self) -> bool:
        """It has been reached."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds of the host; at least a little, since scripts divide by it.

        Raises:
            RuntimeError: one of the two was not recorded.
        """
        if self.recorded_at is None or end_event.recorded_at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return max(1e-3, 1000.0 * (end_event.recorded_at - self.recorded_at))

    def ipc_handle(self) -> bytes:
        """Other processes cannot share it."""
        return b""


class _Chosen(threading.local):
    """The streams that this thread has chosen, by the number of the device."""

    def __init__(self) -> None:
        self.streams: dict[int, PlayedStream] = {}


_chosen = _Chosen()
_defaults: dict[int, PlayedStream] = {}


def default(device: Any = None) -> PlayedStream:
    """That of a device on which everything runs that chooses no other."""
    index = PLAYED.index_or_current(device)
    if index not in _defaults:
        made = _defaults[index] = PlayedStream(torch.device("cuda", index))
        made.stream_id = made.cuda_stream = 0
        made.queue = PLAYED.ledger.queues.main
    return _defaults[index]


def current(device: Any = None) -> PlayedStream:
    """That of a device which this thread has chosen."""
    index = PLAYED.index_or_current(device)
    return _chosen.streams.get(index) or default(torch.device("cuda", index))


def set_current(stream: Any) -> None:
    """Choose one."""
    if stream is not None:
        _chosen.streams[stream.device_index] = stream
        PLAYED.ledger.queues.current = stream.queue


class StreamContext:
    """`torch.cuda.stream(…)`."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._before: PlayedStream | None = None

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before = current(self.stream.device)
            set_current(self.stream)

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            set_current(self._before)

"""How long each module takes in `forward`, and what backward passes compute again."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import (
    LayersSeen,
    ModuleTimes,
    SlicedCalls,
)
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import is_capturing, uses_gpu
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.lane_clock import OpenLanes
from torchlint.runtime.probe.wrapping import interpose
from torchlint.runtime.probe.wrapping.interpose import shielded
from torchlint.runtime.probe.wrapping.module_calls import around_modules
from torchlint.runtime.probe.wrapping.module_names import ModuleNames
from torchlint.runtime.probe.wrapping.sliced_calls import SlicedRun, may_be_sliced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

    Tell = Callable[[float], None]
    Inputs = tuple[tuple[Any, ...], dict[str, Any]]
    """Of a call, by position and by name."""

FEWEST_SLICES = 8
"""Calls of a module in one place that are worth one call."""
_MOST_RUNS = 20_000
_BETWEEN = frozenset(
    {__file__, interpose.__file__, private.__file__, torch.nn.modules.module.__file__}
)
"""Files whose frames are between a module and the line that calls it."""
_MOST_MODULES = 2000
_MOST_PAIRS = 20_000
"""Of events that the GPU has not reached."""


class Clock(Protocol):
    """Measures between two marks, maybe later."""

    def mark(self, spared: float) -> Any:
        """This moment, on a clock that was stopped for `spared` seconds."""

    def between(self, start: Any, stop: Any, tell: Tell) -> None:
        """Tell the seconds between two marks, once they are known."""

    def drain(self) -> None:
        """Tell what is known by now."""

    def finish(self) -> None:
        """Wait for the rest, and tell it."""


class HostClock:
    """Time as it passes for the calling thread, without what watching costs."""

    def mark(self, spared: float) -> float:
        return time.perf_counter() - spared

    def between(self, start: float, stop: float, tell: Tell) -> None:
        tell(stop - start)

    def drain(self) -> None:
        """Nothing is late."""

    def finish(self) -> None:
        """Nothing is late."""


class DeviceClock:
    """Time in the stream of the GPU, which runs behind the host.

    Args:
        cuda: `torch.cuda`, or what replaces it.
    """

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._late: deque[tuple[Any, Any, Tell]] = deque()
        self._free: list[Any] = []

    def mark(self, spared: float) -> Any:
        if is_capturing(self._cuda):
            return None
        event = self._free.pop() if self._free else self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, start: Any, stop: Any, tell: Tell) -> None:
        if start is not None and stop is not None and len(self._late) < _MOST_PAIRS:
            self._late.append((start, stop, tell))

    def drain(self) -> None:
        while self._late and self._late[0][1].query():
            self._read()

    def finish(self) -> None:
        self._cuda.synchronize()
        while self._late:
            self._read()

    def _read(self) -> None:
        start, stop, tell = self._late.popleft()
        tell(start.elapsed_time(stop) / 1000)
        self._free += (start, stop)


class _Record(ModuleTimes):
    """What is known of one module, or of several of one class and place."""

    __slots__ = ("born", "into", "reference")

    def __init__(self, kind: str, name: str = "", born: int = 0) -> None:
        super().__init__(name, kind)
        self.born = born
        self.reference: Callable[[], object] = lambda: None
        self.into: _Record | None = None

    def absorb(self, other: _Record) -> None:
        """Add up with a module that is gone."""
        other.into = self
        for name in ("calls", "again_calls", "seconds", "own_seconds", "again_seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.place, self.shape = self.place or other.place, other.shape or self.shape
        self.parameters = other.parameters


_NONE: dict[int, tuple[_Record, SlicedRun]] = {}
"""Of most calls; it stays empty."""


class _Level:
    """Where modules are called: in a call of another one, or in none.

    `inside` are the host's seconds in them so far.
    """

    __slots__ = ("inside", "runs")

    def __init__(self) -> None:
        self.inside = 0.0
        self.runs: dict[int, tuple[_Record, SlicedRun]] = _NONE


class _Call(_Level):
    """A call that has not returned; `begun` on the host's clock."""

    __slots__ = ("again", "begun", "outer", "record", "run", "start")

    def __init__(self, record: _Record, outer: _Call | None, again: bool) -> None:
        super().__init__()
        self.record = record
        self.outer = outer
        self.again = again
        self.start: Any = None
        self.begun = 0.0
        self.run: SlicedRun | None = None


class _Thread(threading.local):
    """Where a thread is.

    `spared` are the seconds that watching has cost it.
    """

    def __init__(self) -> None:
        self.top: _Call | None = None
        self.spared = 0.0
        self.bottom = _Level()


class LayerObserver(Observer):
    """Times every call of a module, but those of a data set's transforms.

    It wraps `Module.__call__` and uses none of torch's global hooks: with those `torch.compile`
    warns the user, and they miss a call that ends with an exception, as every checkpoint does that
    stops early.
    """

    def begin(self) -> None:
        """Stand around `Module.__call__`."""
        on_gpu = uses_gpu(self.settings.device, torch.cuda)
        self._clock: Clock = DeviceClock(torch.cuda) if on_gpu else HostClock()
        self._thread = _Thread()
        self._graph_task = private.graph_task()
        self._loading = OpenLanes()
        self._living: dict[int, _Record] = {}
        self._gone: list[_Record] = []
        self._merged: dict[tuple[str, Place | None], _Record] = {}
        self._others = _Record("others")
        self._names = ModuleNames()
        self._seen = LayersSeen()
        self._runs: list[tuple[_Record, SlicedRun, bool]] = []
        self.at_end(
            events.watch_loader(lambda *_: None, self._loading),
            events.watch_backward(self._cut),
            around_modules(self._make),
        )

    def step(self) -> None:
        """Read what the GPU has done by now, so that its events can be used again."""
        self._clock.drain()
        self._cut()

    def end(self) -> LayersSeen:
        self._clock.finish()
        self._names.clear()
        self._seen.modules += (*self._living.values(), *self._gone, *self._merged.values())
        self._seen.sliced = self._sliced()
        return self._seen

    def _make(self, plain: Function) -> Function:
        compiling, enter, leave = private.compiling(), shielded(self._enter), shielded(self._leave)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or not self.watching or self._loading.now is not None:
                return plain(*args, **kwargs)
            # Dynamo may look at frames that begin here, so this is not an object of ours.
            opened: list[Any] = [None, None]
            enter(args[0], opened, (args[1:], kwargs))
            try:
                opened[1] = plain(*args, **kwargs)
                return opened[1]
            finally:
                leave(opened)

        private.keep_from_compiler(call)
        return call

    def _enter(self, module: Any, opened: list[Any], inputs: Inputs) -> None:
        begun, thread = time.perf_counter(), self._thread
        again = self._graph_task() != -1
        record = self._living.get(id(module))
        if record is None or record.reference() is not module:
            record = self._new(module, is_root=thread.top is None)
        if again:
            record.again_calls += 1
        else:
            record.calls += 1
            if record.place is None:
                record.place = self.places.here()
        call = opened[0] = _Call(record, thread.top, again)
        if not again and record is not self._others:
            call.run = self._run(record, thread.top or thread.bottom, inputs, begun - thread.spared)
        thread.top = call
        thread.spared += time.perf_counter() - begun
        call.begun = time.perf_counter() - thread.spared
        call.start = self._clock.mark(thread.spared)

    def _leave(self, opened: list[Any]) -> None:
        call, result = opened
        if call is None:
            return
        thread = self._thread
        stop = self._clock.mark(thread.spared)
        begun = time.perf_counter()
        thread.top = call.outer
        self._clock.between(call.start, stop, partial(self._add, call))
        shape = _shape(result)
        if shape is not None and not call.again:
            call.record.shape = shape
        level = call.outer or thread.bottom
        level.inside += begun - thread.spared - call.begun
        if call.run is not None:
            call.run.left(call.record.reference(), result, begun - thread.spared, level.inside)
        if call.runs:
            self._close(call)
        thread.spared += time.perf_counter() - begun

    def _add(self, call: _Call, seconds: float) -> None:
        record, outer = call.record.into or call.record, call.outer
        if call.again:
            if outer is None or not outer.again:
                record.again_seconds += seconds
                self._seen.again_seconds += seconds
            return
        record.seconds += seconds
        record.own_seconds += seconds
        if call.run is not None:
            call.run.seconds += seconds
        if outer is None:
            self._seen.forward_seconds += seconds
        else:
            (outer.record.into or outer.record).own_seconds -= seconds

    def _run(
        self, record: _Record, level: _Level, inputs: Inputs, moment: float
    ) -> SlicedRun | None:
        """The calls of a module in one place that this one is one of; None: it gets no slice."""
        module, (args, kwargs) = record.reference(), inputs
        known = level.runs.get(id(record))
        sliced = may_be_sliced(args) or (kwargs and may_be_sliced(kwargs.values()))
        if known is not None and sliced and known[1].goes_on(module, args, kwargs):
            run = known[1]
            run.entered(moment, level.inside)
            if run.calls == 2:
                run.place = self._caller()
            return run
        if known is not None:
            self._keep(*level.runs.pop(id(record)), level)
        if not sliced:
            return None
        run = SlicedRun(module, args, kwargs)
        if level.runs is _NONE:
            level.runs = {}
        level.runs[id(record)] = record, run
        return run

    def _caller(self) -> Place | None:
        """The line that calls the module, if it is the user's and not a library's."""
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename in _BETWEEN:
            frame = frame.f_back
        path = None if frame is None else self.places.path_of(frame.f_code)
        return None if frame is None or path is None else (path, frame.f_lineno)

    def _cut(self, *_: object) -> None:
        """What this thread calls from now on is not part of what it called so far."""
        if self._thread.top is None:
            self._close(self._thread.bottom)

    def _close(self, level: _Level) -> None:
        for record, run in level.runs.values():
            self._keep(record, run, level)
        level.runs.clear()

    def _keep(self, record: _Record, run: SlicedRun, level: _Level) -> None:
        if run.calls >= FEWEST_SLICES and run.place and len(self._runs) < _MOST_RUNS:
            self._runs.append((record, run, level is self._thread.bottom))

    def _sliced(self) -> list[SlicedCalls]:
        """By the module and the line."""
        lines: dict[tuple[str, str, Place | None], SlicedCalls] = {}
        for record, run, outside in self._runs:
            key = record.name, record.kind, run.place
            line = lines.setdefault(
                key, SlicedCalls(*key, shape=run.shape, cell=run.cell, norms=run.norms)
            )
            line.calls += run.calls
            line.runs += 1
            line.seconds += run.seconds
            line.between_s += run.between_s
            line.outside = outside
        return list(lines.values())

    def _new(self, module: Any, *, is_root: bool) -> _Record:
        if len(self._living) + len(self._gone) + len(self._merged) >= _MOST_MODULES:
            return self._others
        if is_root:
            self._names.add_root(module)
        record = _Record(type(module).__name__, self._names.of(module), self.steps)
        record.parameters = _values(module.parameters(recurse=False))
        key = id(module)
        record.reference = weakref.ref(module, lambda _: self._retire(key, record))
        self._living[key] = record
        return record

    def _retire(self, key: int, record: _Record) -> None:
        """A module is gone; there may be another one like it in each step."""
        if not self.watching:
            return
        if self._living.get(key) is record:
            del self._living[key]
        self._names.forget_gone()
        if self.steps > record.born + 1:
            self._gone.append(record)
            return
        kin = (record.kind, record.place)
        self._merged.setdefault(kin, _Record(record.kind, record.name)).absorb(record)


def _values(parameters: Iterator[Any]) -> int:
    try:
        return sum(each.numel() for each in parameters)
    except (RuntimeError, ValueError):  # not initialized yet
        return 0


def _shape(result: Any) -> tuple[int, ...] | None:
    """Of the first tensor in it."""
    if isinstance(result, dict):
        result = next(iter(result.values()), None)
    elif isinstance(result, tuple | list):
        result = result[0] if result else None
    return tuple(result.shape) if isinstance(result, torch.Tensor) else None


watch = LayerObserver

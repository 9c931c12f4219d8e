"""How long a step waits for messages between the ranks, and which of them are sent for nothing.

What a line of Python sends goes through the methods of a process group, and where it waits through
`Work.wait`; both are timed. `DistributedDataParallel` sends gradients from C++, while the backward
pass computes. Nothing in Python sees that, but it times itself in some passes, and here in all of
them. It tells of an exchange after its next forward pass, so the last one of a window is not known.

With gloo a wait is over when the messages are there. With NCCL it only queues work for the GPU, so
these times mean nothing there.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed
from torch.optim import optimizer as optim

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import (
    BufferBroadcasts,
    Collectives,
    ExchangesSeen,
    GradientExchanges,
)
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.own_rank import has_ranks
from torchlint.runtime.probe.machine.thread_time import ThreadTime
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

    _Waiting = tuple["_Model", int, bool, list[tuple[int, int | None]]]
    """A model that has had a forward pass, the number of those until then, whether its gradients
    hold sums that were exchanged and not used, and what tells whether they change."""
    _Mark = tuple[float, float, float | None]
    _Shapes = tuple[tuple[Any, ...], ...]
    """Of the buffers of a model, with their types."""

COLLECTIVES = {
    "allgather": "all_gather",
    "_allgather_base": "all_gather",
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all",
    "barrier": "barrier",
    "broadcast": "broadcast",
    "gather": "gather",
    "reduce": "reduce",
    "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter",
    "scatter": "scatter",
}
"""Methods of a process group, and what `torch.distributed` calls them."""
BETWEEN_TWO = ("send", "recv")
_MOST_PLACES = 256
_MOST_EXCHANGES = 20_000
_MOST_COPIED = 1 << 30
"""Bytes of the buffers of a model."""
_MOST_LOOKED_AT = 3
"""Gradients of a model that are read to see whether they are zeros."""


@dataclass(slots=True)
class _Exchange:
    """The gradients of one model, exchanged in one backward pass.

    Args:
        line: where the pass was started, and the model's class.
        step: of the window.
        optimized: steps of optimizers until then.
        seconds: from the first message to the end of the last; None: not known.
        hidden_s: of these, in which the backward pass still computed.
        again: the next exchange had its gradients in it again, and no optimizer had used them.
    """

    line: tuple[Place | None, str]
    step: int
    optimized: int
    seconds: float | None = None
    hidden_s: float = 0.0
    again: bool = False


class _Model:
    """A `DistributedDataParallel`."""

    def __init__(self, module: Any) -> None:
        self.module = weakref.ref(module)
        self.name = type(module.module).__name__
        self.parameters = [weakref.ref(each) for each in module.parameters() if each.requires_grad]
        self.passes = private.last_exchange(module)[0]
        self.last: _Exchange | None = None

    def gradients(self) -> list[Any]:
        """Of its parameters, those that there are. Sparse ones are left out."""
        living = (each() for each in self.parameters)
        found = (None if each is None else each.grad for each in living)
        return [each for each in found if each is not None and each.layout == torch.strided]

    def state(self) -> list[tuple[int, int | None]]:
        """Changes if a backward pass adds to a gradient."""
        return [(id(each), private.version(each)) for each in self.gradients()]

    def holds_sums(self) -> bool:
        """Whether there are gradients from before, as far as a look at the smallest shows."""
        smallest = sorted(self.gradients(), key=lambda each: each.numel())[:_MOST_LOOKED_AT]
        return any(bool(each.any()) for each in smallest)


class _Buffers:
    """What the forward passes of one line send of a model, or of several."""

    def __init__(self, place: Place | None) -> None:
        self._seen = BufferBroadcasts(place)
        self._first: dict[_Shapes, list[Any] | None] = {}
        """Copies of what was sent first. A module may replace a buffer, but not its shape."""
        self._last: dict[_Shapes, list[Any]] = {}

    def add(self, tensors: list[Any], seconds: float) -> None:
        """They have been sent."""
        size = sum(each.numel() * each.element_size() for each in tensors)
        self._seen.calls += 1
        self._seen.size += size
        self._seen.seconds += seconds
        model = tuple((*each.shape, each.dtype) for each in tensors)
        if model not in self._first:
            self._first[model] = (
                [each.detach().clone() for each in tensors] if size <= _MOST_COPIED else None
            )
        self._last[model] = tensors

    def end(self) -> BufferBroadcasts:
        """With whether they are as they were."""
        self._seen.models = len(self._last)
        self._seen.changed = any(
            copies is None
            or not all(
                torch.equal(one, other)
                for one, other in zip(copies, self._last[model], strict=True)
            )
            for model, copies in self._first.items()
        )
        return self._seen


class CommunicationObserver(Observer):
    """Watches the thread that takes the steps."""

    def begin(self) -> None:
        """Stand around what sends and waits, if there is a process group."""
        self._models: list[_Model] = []
        self._lines: dict[Place | None, Collectives] = {}
        self._exchanges: list[_Exchange] = []
        self._blocked: list[float] = [0.0]
        self._buffers: dict[Place | None, _Buffers] = {}
        self._optimized = self._between_two = 0
        self._inside = False
        self._marks: list[_Mark] = []
        self._time = ThreadTime()
        self.at_end(self._time.close)
        if has_ranks():
            self._watch()
        self._mark()

    def _watch(self) -> None:
        for module in _wrapped_models():
            if private.time_each_exchange(module):
                self._models.append(_Model(module))
        for name, what in COLLECTIVES.items():
            self.around(distributed.ProcessGroup, name, partial(self._sender, what))
        for name in BETWEEN_TWO:
            self.around(distributed.ProcessGroup, name, partial(self._sender, ""))
        self.around(distributed.Work, "wait", partial(self._sender, None))
        self.around(distributed, private.BROADCAST, self._broadcaster)
        if self._models:
            plain = torch.autograd.backward
            self.around(torch.autograd, "backward", self._backward)
            private.script_like(torch.autograd.backward, plain)
            # A step ends in a hook after an optimizer's; no other of that kind may be added there.
            before = optim.register_optimizer_step_pre_hook(shielded(self._optimizes))
            self.at_end(before.remove)

    def step(self) -> None:
        """Waits from now on are those of the next step."""
        self._blocked.append(0.0)
        self._mark()

    def end(self) -> ExchangesSeen:
        for model in self._models:
            module = model.module()
            if module is not None:
                private.time_each_exchange(module, 100)  # as it is made
        return ExchangesSeen(
            has_ranks() and _uses_gloo(),
            self._in_each_step(0),
            self._in_each_step(1),
            self._in_each_step(2),
            self._blocked_in_each_step(),
            [*self._exchanges_by_line()],
            list(self._lines.values()),
            self._between_two,
            [each.end() for each in self._buffers.values()],
        )

    def _blocked_in_each_step(self) -> list[float | None]:
        blocked: list[float | None] = [*self._blocked]
        for each in self._exchanges:
            known = blocked[each.step]
            if known is not None:
                blocked[each.step] = (
                    None if each.seconds is None else known + each.seconds - each.hidden_s
                )
        return blocked[:-1]  # of the step that has only begun

    def _mark(self) -> None:
        self._marks.append((time.perf_counter(), time.thread_time(), self._time.held_s()))

    def _in_each_step(self, number: int) -> list[float]:
        """What passed between two marks, of one of their values."""
        values = [each[number] for each in self._marks]
        known = [each for each in values if each is not None]
        return [after - before for before, after in pairwise(known)] if known == values else []

    def _exchanges_by_line(self) -> Iterator[GradientExchanges]:
        lines: dict[tuple[Place | None, str], list[_Exchange]] = {}
        for each in self._exchanges:
            lines.setdefault(each.line, []).append(each)
        for (place, model), exchanges in lines.items():
            again = [each for each in exchanges if each.again]
            seconds = sum(each.seconds or 0.0 for each in again)
            yield GradientExchanges(place, model, len(exchanges), len(again), seconds)

    # what Python sends ------------------------------------------------------------------------

    def _sender(self, what: str | None, plain: Function) -> Function:
        """Of a method that sends; `""`: to one other rank, None: that waits for what was sent."""
        return self.timed(partial(self._note, what), plain)

    def _note(self, what: str | None, seconds: float) -> None:
        self._blocked[-1] += seconds
        self._between_two += what == ""
        place = self.places.here()
        if place not in self._lines and len(self._lines) >= _MOST_PLACES:
            return
        line = self._lines.setdefault(place, Collectives(place))
        line.seconds += seconds
        if what:
            line.calls += 1
            line.what = what if line.what in ("", what) else "collectives"

    # what DDP sends ---------------------------------------------------------------------------

    def _broadcaster(self, plain: Function) -> Function:
        """Of the function that a forward pass calls with all buffers of a model."""
        note = shielded(self._note_buffers)

        def broadcast(group: Any, tensors: Any, *args: Any, **kwargs: Any) -> Any:
            call = self.timed(partial(note, tensors), plain)
            return call(group, tensors, *args, **kwargs)

        private.keep_from_compiler(broadcast)
        return broadcast

    def _note_buffers(self, tensors: Any, seconds: float) -> None:
        self._blocked[-1] += seconds
        place = self.places.here()
        if place in self._buffers or len(self._buffers) < _MOST_PLACES:
            self._buffers.setdefault(place, _Buffers(place)).add(list(tensors), seconds)

    def _backward(self, plain: Function) -> Function:
        compiling = private.compiling()
        before, after = shielded(self._before), shielded(self._after)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or self._inside or threading.get_ident() != self.thread:
                return plain(*args, **kwargs)
            waiting: list[_Waiting] = []
            before(waiting)
            self._inside = True
            try:
                result = plain(*args, **kwargs)
            finally:
                self._inside = False
            after(waiting)
            return result

        private.keep_from_compiler(call)
        return call

    def _before(self, waiting: list[_Waiting]) -> None:
        """Collect the models whose gradients may be exchanged now, and learn of their last time."""
        for model in self._models:
            module = model.module()
            if module is None:
                continue
            passes, seconds, hidden_s = private.last_exchange(module)
            if passes == model.passes:
                continue  # no forward pass since the last exchange, or one under `no_sync`
            last = model.last
            if last is not None and last.seconds is None and seconds:
                last.seconds, last.hidden_s = seconds, hidden_s
            unused = last is not None and last.optimized == self._optimized
            waiting.append((model, passes, unused and model.holds_sums(), model.state()))

    def _after(self, waiting: list[_Waiting]) -> None:
        """Note for which of them they were."""
        place = self.places.here() if waiting else None
        for model, passes, sums, state in waiting:
            if model.state() == state:
                continue
            if model.last is not None and sums:
                model.last.again = True
            model.passes = passes
            model.last = _Exchange((place, model.name), len(self._blocked) - 1, self._optimized)
            if len(self._exchanges) < _MOST_EXCHANGES:
                self._exchanges.append(model.last)

    def _optimizes(self, *_: object) -> None:
        self._optimized += 1


def _uses_gloo() -> bool:
    """Whether tensors on a CPU are sent with gloo."""
    configured = getattr(distributed, "get_backend_config", distributed.get_backend)()
    return configured == "gloo" or "cpu:gloo" in configured


def _wrapped_models() -> list[Any]:
    """Every `DistributedDataParallel` that there is."""
    kind = torch.nn.parallel.DistributedDataParallel
    # By the type itself: `isinstance` asks objects that act as others.
    return [each for each in gc.get_objects() if issubclass(type(each), kind)]


watch = CommunicationObserver

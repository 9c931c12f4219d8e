"""Where the host reads values of tensors, and where it copies batches to a GPU.

Methods of `torch.Tensor` and functions of `torch` are wrapped. A `TorchFunctionMode` sees neither
other threads nor what a backward pass calls, makes a step of small layers half as long again, and
has dynamo compile everything again; wrappers cost only where they are called. They are put in place
when the window begins, so that no library has taken one for torch's own.

On a GPU, only tensors that are there count, and the seconds of the call are those that the host
waits. Without one, all of this is a census: what a dataset or torch's optimizers read, and an index
into an array of NumPy in a file, would be on the host in any case and is left out, and so is `to`,
since the script may just ask for its device.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import uses_gpu
from torchlint.runtime.probe.wrapping import interpose

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

    Calls = dict[tuple[Place | None, str], HostCall]

    Subject = Callable[[tuple[Any, ...], dict[str, Any]], Any]
    """The tensor that a call will read, or None."""

MOST = 256
"""Places and kinds that are told apart."""
_ON_HOST = frozenset({"cpu", "to"})
"""After these, what is read of the result waits for nothing."""
_TORCH = os.path.dirname(torch.__file__) + os.sep
_OPTIMIZERS = os.path.join(_TORCH, "optim", "")
_LBFGS = os.path.join(_OPTIMIZERS, "lbfgs.py")
"""The one of torch's optimizers that decides by gradients."""
_DATA = os.path.join(_TORCH, "utils", "data", "")
_BETWEEN = frozenset({__file__, interpose.__file__, private.__file__})
"""Files whose frames are between a read and the place that is noted for it."""
_OURS = os.path.dirname(os.path.dirname(private.__file__)) + os.sep
_MASKS = (torch.bool, torch.uint8)


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("input")


def _mask(args: tuple[Any, ...], _: dict[str, Any]) -> Any:
    """Of `x[mask]`; its true elements are counted, on the host."""
    index = args[1]
    for each in index if isinstance(index, tuple) else (index,):
        if isinstance(each, torch.Tensor) and each.dtype in _MASKS:
            return each
    return None


def _filled_mask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of `x[mask] = values`. A single value needs no count."""
    value = args[2]
    return _mask(args, kwargs) if isinstance(value, torch.Tensor) and value.numel() > 1 else None


def _condition(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of `where` with one argument."""
    return _first(args, kwargs) if len(args) + len(kwargs) == 1 else None


def _repeats(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """How often each element is repeated; their sum is read if it is not given."""
    if kwargs.get("output_size") is not None:
        return None
    repeats = args[1] if len(args) > 1 else kwargs.get("repeats", _first(args, kwargs))
    return repeats if isinstance(repeats, torch.Tensor) else None


METHODS: dict[str, tuple[str, Subject]] = {
    "item": ("item", _first),
    "__float__": ("float", _first),
    "__int__": ("int", _first),
    "__bool__": ("bool", _first),
    "is_nonzero": ("bool", _first),
    "__index__": ("index", _first),
    "__format__": ("format", _first),
    "__repr__": ("format", _first),
    "tolist": ("tolist", _first),
    "numpy": ("numpy", _first),
    "__array__": ("array", _first),
    "cpu": ("cpu", _first),
    "equal": ("equal", _first),
    "allclose": ("allclose", _first),
    "__getitem__": ("mask index", _mask),
    "__setitem__": ("mask index", _filled_mask),
    "nonzero": ("nonzero", _first),
    "argwhere": ("nonzero", _first),
    "unique": ("unique", _first),
    "unique_consecutive": ("unique", _first),
    "masked_select": ("masked_select", _first),
    "repeat_interleave": ("repeat_interleave", _repeats),
}
FUNCTIONS: dict[str, tuple[str, Subject]] = {
    "is_nonzero": ("bool", _first),
    "equal": ("equal", _first),
    "allclose": ("allclose", _first),
    "nonzero": ("nonzero", _first),
    "argwhere": ("nonzero", _first),
    "masked_select": ("masked_select", _first),
    "where": ("where", _condition),
    "repeat_interleave": ("repeat_interleave", _repeats),
}
UNIQUE = ("torch:_unique2", "torch:_VF.unique_dim", "torch:_VF.unique_consecutive")
"""What `torch.unique` and its like call. TorchScript could not compile a stand-in of themselves."""


class Thread(interpose.Inside):
    """What a thread is in, and where it last brought a tensor to the host."""

    arrived: Place | None = None


class ReadObserver(Observer):
    """Counts the reads of a window."""

    def prepare(self) -> None:
        self._thread = Thread()
        self._compiling = private.compiling()
        self._graph_task = private.graph_task()
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._reads: Calls = {}
        self._copies: Calls = {}
        self._on_host: dict[int, weakref.ref[Any]] = {}

    def rest(self) -> None:
        """This process is a copy; if it trains, its window has yet to begin."""
        super().rest()
        self._forget()

    def begin(self) -> None:
        self._forget()
        self._on_gpu = uses_gpu(self.settings.device, torch.cuda)
        for name, (kind, subject) in METHODS.items():
            self._replace(torch.Tensor, name, partial(self._reader, kind, subject))
        if self._on_gpu:
            for name in ("to", "cuda", "copy_"):
                self._replace(torch.Tensor, name, partial(self._mover, name))
        # Dynamo would compile again what calls a function that it finds replaced.
        functions = {} if private.compiled_frames() else FUNCTIONS
        for name, (kind, subject) in functions.items():
            self._replace(torch, name, partial(self._reader, kind, subject))
        for where in UNIQUE:
            owner, _, name = where.replace(":", ".").rpartition(".")
            holder = private.find(owner.replace(".", ":", 1))
            self._replace(holder, name, partial(self._reader, "unique", _first))

    def _replace(self, owner: Any, name: str, make: Callable[[Function], Function]) -> None:
        plain = getattr(owner, name, None)
        self.around(owner, name, make)
        if plain is not None and owner is not torch.Tensor:
            private.script_like(getattr(owner, name), plain)

    def step(self) -> None:
        self._on_host.clear()

    def end(self) -> ReadsSeen:
        with self._lock:
            return ReadsSeen(list(self._reads.values()), list(self._copies.values()))

    # wrappers ---------------------------------------------------------------------------------

    def _reader(self, kind: str, subject: Subject, plain: Function) -> Function:
        compiling, thread, clock = self._compiling, self._thread, time.perf_counter
        note = interpose.shielded(self._note_read)
        private.keep_from_compiler(subject)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or thread.now or not self.watching:
                return plain(*args, **kwargs)
            try:
                read = subject(args, kwargs)
            except Exception:  # of odd arguments; the call itself will say so
                read = None
            if read is None:
                return plain(*args, **kwargs)
            thread.now = True
            begun = clock()
            try:
                result = plain(*args, **kwargs)
            finally:
                thread.now = False
            note(kind, read, result, clock() - begun)
            return result

        private.keep_from_compiler(call)
        return call

    def _mover(self, name: str, plain: Function) -> Function:
        """For what may copy between a GPU and the host, in either direction."""
        compiling, thread, clock = self._compiling, self._thread, time.perf_counter
        note = interpose.shielded(self._note_move)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or thread.now or not self.watching:
                return plain(*args, **kwargs)
            thread.now = True
            begun = clock()
            try:
                result = plain(*args, **kwargs)
            finally:
                thread.now = False
            note(name, args, kwargs, result, clock() - begun)
            return result

        private.keep_from_compiler(call)
        return call

    # what they note ---------------------------------------------------------------------------

    def _note_read(self, kind: str, read: Any, result: Any, seconds: float) -> None:
        if not isinstance(read, torch.Tensor):
            return
        if self._on_gpu and read.device.type != "cuda":
            return
        caller = _caller(sys._getframe(1))
        if _is_ours(caller):
            return
        if not self._on_gpu and (
            _is_of_optimizer(caller) or is_of_data(caller) or _is_of_numpy(caller)
        ):
            return
        place, arrived, thread = self.places.of(caller), None, self._thread
        if kind in _ON_HOST:
            arrived = place
            self._remember(result)
        elif not self._on_gpu and (self._has_come(read) or place == thread.arrived is not None):
            thread.arrived = None
            return
        thread.arrived = arrived
        self._count(self._reads, place, kind, caller, seconds, graph=read.requires_grad)

    def _note_move(self, name: str, args: Any, kwargs: Any, result: Any, seconds: float) -> None:
        source, target = (args[1], args[0]) if name == "copy_" else (args[0], result)
        if not (isinstance(source, torch.Tensor) and isinstance(target, torch.Tensor)):
            return
        from_gpu, onto_gpu = (each.device.type == "cuda" for each in (source, target))
        if from_gpu == onto_gpu:
            return
        flags = (kwargs.get("non_blocking"), *(each for each in args if isinstance(each, bool)))
        waits, caller = True not in flags[:2], _caller(sys._getframe(1))
        if _is_ours(caller):
            return
        place = self.places.of(caller)
        if from_gpu:
            if waits:
                self._count(self._reads, place, name, caller, seconds, graph=source.requires_grad)
            return
        pinned = source.is_pinned()
        if pinned and not waits:
            return
        how = "blocking" if pinned else "pageable" if waits else "pageable, non-blocking"
        size = source.numel() * source.element_size()
        self._count(self._copies, place, how, caller, seconds, size=size)

    def _count(
        self,
        calls: Calls,
        place: Place | None,
        kind: str,
        caller: FrameType | None,
        seconds: float,
        *,
        graph: bool = False,
        size: int = 0,
    ) -> None:
        with self._lock:
            count = calls.get((place, kind))
            if count is None:
                if len(calls) >= MOST:
                    return
                count = calls[place, kind] = HostCall(place, kind, self._via(caller))
            count.calls += 1
            count.seconds += seconds
            count.steps += self.steps != count.last
            count.last = self.steps
            count.graph += graph
            count.size += size
            count.backward += self._graph_task() != -1

    def _via(self, caller: FrameType | None) -> str | None:
        if caller is None or self.places.path_of(caller.f_code) is not None:
            return None
        module = caller.f_globals.get("__name__")
        return "compiled code" if module is None else f"{module}.{caller.f_code.co_name}"

    def _remember(self, result: Any) -> None:
        """On a CPU, `cpu` gives the tensor itself, which then is read for nothing."""
        if not self._on_gpu and isinstance(result, torch.Tensor) and len(self._on_host) < MOST:
            self._on_host[id(result)] = weakref.ref(result)

    def _has_come(self, tensor: torch.Tensor) -> bool:
        known = self._on_host.get(id(tensor))
        return known is not None and known() is tensor


def _caller(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not ours."""
    while frame is not None and frame.f_code.co_filename in _BETWEEN:
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType | None) -> bool:
    """Whether another instrument reads."""
    return frame is not None and frame.f_code.co_filename.startswith(_OURS)


def _is_of_optimizer(frame: FrameType | None) -> bool:
    """Whether it may read a counter of steps, which is on the host even with a GPU."""
    path = frame.f_code.co_filename if frame is not None else ""
    return path.startswith(_OPTIMIZERS) and path != _LBFGS


def _is_of_numpy(frame: FrameType | None) -> bool:
    """Whether it is an index into an array, as of a file of samples, which is on the host."""
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("numpy.")


def is_of_data(frame: FrameType | None) -> bool:
    """Whether samples and batches are in the making."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_DATA):
            return True
        frame = frame.f_back
    return False


watch = ReadObserver

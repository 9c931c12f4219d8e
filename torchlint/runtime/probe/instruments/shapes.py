"""Which shapes of inputs convolutions and compiled modules get.

Their classes' `__call__` is wrapped: a global forward pre-hook would make the calls of all modules
slower, and have dynamo compile everything again. What compiled code calls is not seen; the compiled
module itself is.
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import ShapedModule, ShapesSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.steps.input_shapes import signature
from torchlint.runtime.probe.wrapping import interpose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

MOST_SHAPES = 16
"""Of a module that are told apart."""
MOST_MODULES = 512
_TOLD = 64
"""Modules in the report."""
_CONVOLUTIONS = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose1d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
)


class _Layer(ShapedModule):
    """A module as long as it is there."""

    __slots__ = ("last_fresh", "module")

    def __init__(self, module: Any, place: Place | None, compiled: bool) -> None:
        super().__init__("", "", place, compiled)
        self.module = weakref.ref(module)
        self.last_fresh = -1

    def add(self, shape: str, step: int) -> None:
        self.calls += 1
        seen_before = shape in self.shapes
        if not seen_before and self.last_fresh != step:
            self.last_fresh = step
            self.fresh += 1
        if seen_before or len(self.shapes) < MOST_SHAPES:
            self.shapes[shape] = self.shapes.get(shape, 0) + 1
        else:
            self.others += 1

    def identify(self, names: dict[int, str]) -> None:
        """Note what it is called."""
        module = self.module()
        inner = private.uncompiled(module)
        self.name = names.get(id(module), "")
        self.kind = type(module if inner is None else inner).__name__


class ShapeObserver(Observer):
    """Counts the shapes of a window."""

    def begin(self) -> None:
        self._compiling = private.compiling()
        private.keep_from_compiler(self._compiling)
        self._graph_task = private.graph_task()
        self._lock = threading.Lock()
        self._layers: dict[int, _Layer] = {}
        for each in (*_CONVOLUTIONS, private.compiled_module()):
            self.around(each, "__call__", self._watched)

    def end(self) -> ShapesSeen:
        with self._lock:
            layers = [each for each in self._layers.values() if each.module() is not None]
        # Those with most shapes; of these, the first that was called.
        layers.sort(key=lambda each: -len(each.shapes))
        names = _names()
        for each in layers[:_TOLD]:
            each.identify(names)
        return ShapesSeen(bool(torch.backends.cudnn.benchmark), [*layers[:_TOLD]])

    def _watched(self, plain: Function) -> Function:
        compiling, inherited = self._compiling, plain is nn.Module.__call__
        note = interpose.shielded(self._note)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not compiling():
                note(args, kwargs)
            # Looked up now: symbolic tracing replaces it for a while.
            return nn.Module.__call__(*args, **kwargs) if inherited else plain(*args, **kwargs)

        private.keep_from_compiler(call)
        return call

    def _note(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        module = args[0]
        inner = private.uncompiled(module)
        if not (module if inner is None else inner).training or self._graph_task() != -1:
            return
        given: Any = signature((args[1:], kwargs))
        text = ", ".join("x".join(map(str, shape)) for shape, *_ in given)
        with self._lock:
            layer = self._layers.get(id(module))
            if layer is None or layer.module() is not module:
                if len(self._layers) >= MOST_MODULES:
                    return
                layer = _Layer(module, self.places.here(), inner is not None)
                self._layers[id(module)] = layer
            layer.add(text, self.steps)


def _names() -> dict[int, str]:
    """Of all modules within the roots that hold them, by id."""
    names: dict[int, str] = {}
    for root in _roots():
        for name, module in root.named_modules():
            names.setdefault(id(module), name)
    return names


def _roots() -> Iterator[nn.Module]:
    """Modules that are part of no other."""
    modules = [each for each in gc.get_objects() if issubclass(type(each), nn.Module)]
    parts = {id(part) for each in modules for part in each.children()}
    return (each for each in modules if id(each) not in parts)


watch = ShapeObserver

"""Which shapes of inputs convolutions and compiled modules get.

Their classes' `__call__` is wrapped: a global forward pre-hook would make the calls of all modules
slower, and have dynamo compile everything anew. What compiled code calls is not seen; the compiled
module itself is.
"""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps import interpose
from torchlint.runtime.probe.steps.places import Places
from torchlint.runtime.probe.steps.shapes import signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo
    from torchlint.runtime.probe.steps.places import Place

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


def install(settings: Settings) -> Shapes:
    return Shapes(settings)


@dataclass(slots=True)
class Layer:
    """What a module got in training mode.

    Args:
        calls: in the window.
        shapes: calls by shape; those of further ones are `others`.
        fresh: steps that brought a shape not seen before.
    """

    module: weakref.ref[Any]
    place: Place | None
    compiled: bool
    calls: int = 0
    shapes: dict[str, int] = field(default_factory=dict)
    others: int = 0
    fresh: int = 0
    last_fresh: int = -1

    def add(self, shape: str, step: int) -> None:
        self.calls += 1
        known = shape in self.shapes
        if not known and self.last_fresh != step:
            self.last_fresh = step
            self.fresh += 1
        if known or len(self.shapes) < MOST_SHAPES:
            self.shapes[shape] = self.shapes.get(shape, 0) + 1
        else:
            self.others += 1


class Shapes:
    """Counts the shapes of a window."""

    def __init__(self, settings: Settings) -> None:
        self._places = Places(settings)
        self._undo: list[Undo] = []
        self._compiling = private.compiling()
        private.keep_from_compiler(self._compiling)
        self._graph_task = private.graph_task()
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._step = 0
        self._layers: dict[int, Layer] = {}

    def begin(self) -> None:
        self._restore()
        self._forget()
        classes: tuple[type, ...] = _CONVOLUTIONS
        compiled = private.compiled_module()
        if compiled is not None:
            classes = (*classes, compiled)
        self._undo = [interpose.replace(each, "__call__", self._watched) for each in classes]

    def step(self) -> None:
        self._step += 1

    def end(self) -> dict[str, object]:
        """Each module's `shapes` as `[text, calls]`, and in how many steps a new one came.

        `benchmark` is `cudnn.benchmark` at the end of the window.
        """
        self._restore()
        with self._lock:
            layers = [each for each in self._layers.values() if each.module() is not None]
        # Those with most shapes; of these, the first that was called.
        layers.sort(key=lambda each: -len(each.shapes))
        names = _names()
        return {
            "benchmark": bool(torch.backends.cudnn.benchmark),
            "modules": [_told(each, names) for each in layers[:_TOLD]],
            "more": max(0, len(layers) - _TOLD),
        }

    def _restore(self) -> None:
        while self._undo:
            self._undo.pop()()

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
                layer = Layer(weakref.ref(module), self._places.here(), inner is not None)
                self._layers[id(module)] = layer
            layer.add(text, self._step)


def _told(layer: Layer, names: dict[int, str]) -> dict[str, object]:
    module = layer.module()
    inner = private.uncompiled(module)
    return {
        "name": names.get(id(module), ""),
        "class": type(module if inner is None else inner).__name__,
        "compiled": layer.compiled,
        "place": list(layer.place) if layer.place is not None else None,
        "calls": layer.calls,
        "shapes": [[text, calls] for text, calls in layer.shapes.items()],
        "others": layer.others,
        "fresh": layer.fresh,
    }


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

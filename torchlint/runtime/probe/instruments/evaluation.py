"""Evaluations that record a graph which no backward pass uses."""

from __future__ import annotations

import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import EvaluatedLine, EvaluationSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.wrapping.interpose import Inside, shielded
from torchlint.runtime.probe.wrapping.module_calls import around_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

_MOST_PLACES = 500
_MOST_WAITING = 1000
_MOST_OUTPUTS = 8
_MOST_NODES = 2000
_LONG = 2
"""Ends of steps after which a graph that is still there has been kept."""


class _Graph:
    """The graph of one call, as long as there may be news of it."""

    __slots__ = ("alive", "line", "seconds", "step", "used")

    def __init__(self, line: EvaluatedLine, seconds: float, step: int) -> None:
        self.line = line
        self.seconds = seconds
        self.step = step
        self.alive = 0
        """Sentinels."""
        self.used = False


class _Sentinel:
    """Is called when a gradient flows through a node of the graph, and is gone when that is."""

    __slots__ = ("__weakref__", "_graph")

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph

    def __call__(self, *_: object) -> None:
        graph = self._graph
        if not graph.used:
            graph.used = True
            graph.line.used += 1


class EvaluationObserver(Observer):
    """Follows the graphs that root modules in evaluation mode leave behind.

    There is a hook at the output's node and one at the node farthest from it, since a script may
    use features from the middle of a network alone. Both are gone, and neither was called: the
    graph was recorded for nothing. That says nothing about calls that raise, and about graphs that
    are still there.
    """

    def begin(self) -> None:
        """Stand around `Module.__call__`."""
        self._inside = Inside()
        self._graph_task = private.graph_task()
        self._lines: dict[Place | None, EvaluatedLine] = {}
        self._waiting: dict[int, tuple[_Graph, list[weakref.ref[_Sentinel]]]] = {}
        self.at_end(around_modules(self._make))

    def step(self) -> None:
        """Forget the graphs that have been used."""
        for key, (graph, _) in list(self._waiting.items()):
            if graph.used:
                self._waiting.pop(key, None)

    def end(self) -> EvaluationSeen:
        for graph, (output, *_) in list(self._waiting.values()):
            is_old = self.steps - graph.step >= _LONG
            if is_old and not graph.used and output() is not None:
                graph.line.kept += 1
                graph.line.kept_seconds += graph.seconds
        self._waiting.clear()
        return EvaluationSeen(list(self._lines.values()))

    def _make(self, plain: Function) -> Function:
        compiling, inside, returned = private.compiling(), self._inside, shielded(self._returned)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or not self.watching or inside.now:
                return plain(*args, **kwargs)
            inside.now = True
            begun = time.perf_counter()
            try:
                result = plain(*args, **kwargs)
            finally:
                inside.now = False
            if not args[0].training and torch.is_grad_enabled():
                returned(args[0], result, time.perf_counter() - begun)
            return result

        private.keep_from_compiler(call)
        return call

    def _returned(self, module: Any, result: Any, seconds: float) -> None:
        if self._graph_task() != -1 or next(module.parameters(), None) is None:
            return
        nodes = [each.grad_fn for each in _tensors(result) if each.grad_fn is not None]
        if not nodes:
            return
        place = self.places.here()
        line = self._lines.get(place)
        if len(self._waiting) >= _MOST_WAITING or (not line and len(self._lines) >= _MOST_PLACES):
            return
        if line is None:
            line = self._lines[place] = EvaluatedLine(place, type(module).__name__)
        self._follow(_Graph(line, seconds, self.steps), [*nodes, _farthest(nodes)])

    def _follow(self, graph: _Graph, nodes: list[Any]) -> None:
        key = id(graph)
        references: list[weakref.ref[_Sentinel]] = []
        self._waiting[key] = (graph, references)

        def gone(_: object) -> None:
            graph.alive -= 1
            if graph.alive or self._waiting.pop(key, None) is None:
                return
            if not graph.used:
                graph.line.unused += 1
                graph.line.unused_seconds += graph.seconds

        for node in nodes:
            sentinel = _Sentinel(graph)
            graph.alive += 1
            references.append(weakref.ref(sentinel, gone))
            node.register_hook(sentinel)


def _tensors(result: Any) -> list[torch.Tensor]:
    """The first tensors of a module's result, in whatever it puts them."""
    tensors: list[torch.Tensor] = []
    left = deque([result])
    while left and len(tensors) < _MOST_OUTPUTS:
        each = left.popleft()
        if isinstance(each, torch.Tensor):
            tensors.append(each)
        elif len(left) < _MOST_NODES:
            left.extend(_parts(each))
    return tensors


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, tuple | list):
        yield from value
    elif hasattr(value, "__dataclass_fields__"):
        yield from (getattr(value, name, None) for name in value.__dataclass_fields__)


def _farthest(nodes: list[Any]) -> Any:
    """The node with the most operations in between, of those that lead to these."""
    seen, last, left = set(nodes), nodes[0], deque(nodes)
    while left and len(seen) < _MOST_NODES:
        node = left.popleft()
        inputs = [each for each, _ in node.next_functions if each is not None]
        # What has no inputs is a parameter's, which other graphs share.
        if inputs:
            last = node
        left.extend(each for each in inputs if each not in seen)
        seen.update(inputs)
    return last


watch = EvaluationObserver

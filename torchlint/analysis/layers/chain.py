"""Layers that run one after the other, and what goes into what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer at a place in a model.

    `call` constructs it; None if it is unknown what is there. `place` is the expression that
    puts it there: the constructor itself, or the name it was given before.
    """

    call: cst.Call | None
    place: cst.CSTNode


@dataclass(frozen=True, slots=True)
class Chain:
    """Layers that run one after the other: which can be the first, and which the last.

    `empty` says that it may pass its input on as it is, as `nn.Identity` does.
    """

    first: tuple[Layer, ...]
    last: tuple[Layer, ...]
    empty: bool = False

    def __or__(self, other: Chain) -> Chain:
        if self == other:
            return self
        first = tuple(dict.fromkeys(self.first + other.first))
        last = tuple(dict.fromkeys(self.last + other.last))
        return Chain(first, last, self.empty or other.empty)


NO_LAYERS = Chain((), (), empty=True)


@dataclass(frozen=True, slots=True)
class Step:
    """What a layer's output goes into.

    `after` constructs that layer; None if it is anything else than a known layer. `place` is
    where it is in the container or, if `called`, the call in `forward`.
    """

    after: cst.Call | None
    place: cst.CSTNode
    called: bool = False


def unknown(node: cst.CSTNode) -> Chain:
    layer = Layer(None, node)
    return Chain((layer,), (layer,))


def either(chains: list[Chain], node: cst.CSTNode) -> Chain:
    """One of these chains runs; without any, it is unknown what is at `node`."""
    return reduce(or_, chains) if chains else unknown(node)

"""Who runs the items of a container one by one: loops such as `for layer in self.layers`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module


class ContainerLoops:
    """The loops of one file that call the items of a container of layers.

    A plain loop is `for layer in self.layers: x = layer(x)` and no more.
    """

    def __init__(self, module: Module) -> None:
        self._module = module

    def is_plain(self, loop: cst.For) -> bool:
        return self._loops.get(loop, False)

    def run_in_order(self, container: cst.CSTNode) -> bool:
        """Whether all loops in the class that run the items of `self.layers` are plain."""
        return self._over.get(self._key(container)) == {True}

    def run_by_hand(self, container: cst.CSTNode) -> bool:
        """Whether a loop in the class runs the items of `self.layers` and does more in between."""
        return False in self._over.get(self._key(container), ())

    def get_from_outside(self, container: cst.Call) -> bool:
        """Whether a container is passed to a class of this file that runs some items by hand."""
        outer = self._module.call_with(container)
        return outer is not None and not self._by_hand.isdisjoint(self._module.resolve(outer.func))

    def _key(self, container: cst.CSTNode) -> tuple[cst.ClassDef | None, str]:
        return (self._module.class_(container), dotted_text(container))

    @cached_property
    def _by_hand(self) -> frozenset[str]:
        """The classes that run the items of some container by hand."""
        classes = {class_ for (class_, _), plain in self._over.items() if False in plain}
        return frozenset(f":{self._module.qualified_name(class_)}" for class_ in classes)

    @cached_property
    def _over(self) -> dict[tuple[cst.ClassDef | None, str], set[bool]]:
        found: dict[tuple[cst.ClassDef | None, str], set[bool]] = {}
        for loop, plain in self._loops.items():
            found.setdefault(self._key(loop.iter), set()).add(plain)
        return found

    @cached_property
    def _loops(self) -> dict[cst.For, bool]:
        """The loops over `self.layers` that run its items, and whether each is plain."""
        loops: dict[cst.For, bool] = {}
        for loop in self._module.nodes(cst.For):
            target = loop.target
            if not (dotted_text(loop.iter).startswith("self.") and isinstance(target, cst.Name)):
                continue
            written = list(self._written(loop))
            for name, value in written:
                if isinstance(value, cst.Call) and dotted_text(value.func) == target.value:
                    others = [other for other, _ in written if other == name]
                    loops[loop] = len(others) == 1 and _gets_only(value, name)
        return loops

    def _written(self, loop: cst.For) -> Iterator[tuple[str, cst.BaseExpression]]:
        for node in self._module.within(loop.body):
            if isinstance(node, (cst.Assign, cst.AugAssign)):
                target = node.target if isinstance(node, cst.AugAssign) else node.targets[0].target
                yield dotted_text(target), node.value


def _gets_only(call: cst.Call, name: str) -> bool:
    return len(call.args) == 1 and dotted_text(call.args[0].value) == name

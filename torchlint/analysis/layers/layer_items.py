"""What a container of layers holds, and loops that run its items one by one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How, dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.layers.layer_lists import LayerLists
    from torchlint.analysis.module import Module

UNORDERED = ("torch.nn.ModuleList", "torch.nn.ModuleDict")
SAME_ITEMS = ("builtins.list", "builtins.tuple", "builtins.reversed")
_SEQUENTIAL = "torch.nn.Sequential"
_Items = list[cst.BaseExpression]


class LayerItems:
    """Answers for one file, on demand."""

    def __init__(self, module: Module, lists: LayerLists) -> None:
        self._module = module
        self._lists = lists
        self._known: dict[cst.CSTNode, _Items | None] = {}

    def items(self, node: cst.CSTNode) -> _Items | None:
        """Every expression that can be an item of a list or `nn.ModuleList`; None if unknown."""
        if node not in self._known:
            self._known[node] = None  # a list that is made from itself
            self._known[node] = self._items(node)
        return self._known[node]

    def _items(self, node: cst.CSTNode) -> _Items | None:
        if isinstance(node, (cst.List, cst.Tuple)):
            return [element.value for element in node.elements]
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return [node.elt]
        if isinstance(node, cst.Call):
            return self._items_of_call(node)
        if isinstance(node, cst.Subscript):
            inner = self.items(node.value)
            if any(isinstance(part.slice, cst.Slice) for part in node.slice):
                return inner
            return self._all_items(inner)
        if isinstance(node, cst.Name):
            bindings = self._module.flow.reaching(node)
            values = [each.value for each in bindings if each.how is How.ASSIGNMENT and each.value]
        elif isinstance(node, cst.Attribute):
            values = self.attribute(node) or []
        else:
            return None
        found = self._all_items(values)
        return None if found is None else [*found, *self._lists.added(node)]

    def _items_of_call(self, call: cst.Call) -> _Items | None:
        if self._module.calls(call, _SEQUENTIAL):
            return None if any(arg.star for arg in call.args) else [arg.value for arg in call.args]
        if self._module.calls(call, *UNORDERED, *SAME_ITEMS):
            return self._all_items([arg.value for arg in call.args[:1]])
        return None

    def _all_items(self, containers: _Items | None) -> _Items | None:
        found: _Items = []
        for container in containers or ():
            items = self.items(container)
            if items is None:
                return None
            found += items
        return None if containers is None else found

    def attribute(self, node: cst.Attribute) -> _Items | None:
        """What the class assigns to `self.name`; None if that is not all known."""
        if not (isinstance(node.value, cst.Name) and node.value.value == "self"):
            return None
        class_ = self._module.class_(node)
        bindings = self._module.values.attributes.get(class_, {}) if class_ else {}
        found = bindings.get(node.attr.value, [])
        values = [binding.value for binding in found if binding.value and not binding.path]
        return values if values and len(values) == len(found) else None

    def iterated(self, iterable: cst.CSTNode, path: tuple[int, ...]) -> _Items | None:
        """What a loop over `iterable` gives to the part of its target that `path` leads to."""
        while isinstance(iterable, cst.Call) and path:
            if self._module.calls(iterable, "builtins.enumerate") and path[0] == 1:
                iterable, path = iterable.args[0].value, path[1:]
            elif self._module.calls(iterable, "builtins.zip") and path[0] < len(iterable.args):
                iterable, path = iterable.args[path[0]].value, path[1:]
            else:
                break
        return None if path else self.items(iterable)

    def is_sequential(self, class_: cst.ClassDef) -> bool:
        """Whether a class runs its modules in the order in which it got them."""
        if "torch.nn.Sequential" not in self._module.definitions.bases(class_):
            return False
        own = method(class_, "forward")
        return own is None or "super(" in self._module.tree.code_for_node(own)

    # loops over containers -------------------------------------------------------------------

    def is_plain_loop(self, loop: cst.For) -> bool:
        """Whether a loop is `for layer in self.layers: x = layer(x)` and no more."""
        return self._loops.get(loop, False)

    def runs_in_order(self, container: cst.CSTNode) -> bool:
        """Whether all loops in the class that run the items of `self.layers` are plain."""
        return self._loops_over.get(self._key(container)) == {True}

    def runs_by_hand(self, container: cst.CSTNode) -> bool:
        """Whether a loop in the class runs the items of `self.layers` and does more in between."""
        return False in self._loops_over.get(self._key(container), ())

    def _key(self, container: cst.CSTNode) -> tuple[cst.ClassDef | None, str]:
        return (self._module.class_(container), dotted_text(container))

    def given_to_a_loop(self, call: cst.Call) -> bool:
        """Whether a container is passed to a class of this file that runs some items by hand."""
        arg = self._module.parent(call)
        outer = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(outer, cst.Call):
            return False
        return not self._by_hand.isdisjoint(self._module.resolve(outer.func))

    @cached_property
    def _by_hand(self) -> frozenset[str]:
        """The classes that run the items of some container by hand."""
        classes = {class_ for (class_, _), plain in self._loops_over.items() if False in plain}
        return frozenset(f":{self._module.qualified_name(class_)}" for class_ in classes)

    @cached_property
    def _loops_over(self) -> dict[tuple[cst.ClassDef | None, str], set[bool]]:
        found: dict[tuple[cst.ClassDef | None, str], set[bool]] = {}
        for loop, plain in self._loops.items():
            found.setdefault(self._key(loop.iter), set()).add(plain)
        return found

    @cached_property
    def _loops(self) -> dict[cst.For, bool]:
        """The loops over `self.layers` that run its items, and whether each does no more."""
        found: dict[cst.For, bool] = {}
        for loop in self._module.nodes(cst.For):
            target = loop.target
            if not (dotted_text(loop.iter).startswith("self.") and isinstance(target, cst.Name)):
                continue
            written = list(self._written(loop))
            for name, value in written:
                if isinstance(value, cst.Call) and dotted_text(value.func) == target.value:
                    others = [other for other, _ in written if other == name]
                    found[loop] = len(others) == 1 and _gets_only(value, name)
        return found

    def _written(self, loop: cst.For) -> Iterator[tuple[str, cst.BaseExpression]]:
        for node in self._module.within(loop.body):
            if isinstance(node, cst.Assign):
                yield dotted_text(node.targets[0].target), node.value
            elif isinstance(node, cst.AugAssign):
                yield dotted_text(node.target), node.value


def _gets_only(call: cst.Call, name: str) -> bool:
    return len(call.args) == 1 and dotted_text(call.args[0].value) == name


def method(class_: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """The method that a class itself defines under a name."""
    for statement in class_.body.body:
        if isinstance(statement, cst.FunctionDef) and statement.name.value == name:
            return statement
    return None

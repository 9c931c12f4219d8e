"""What lists and containers hold, and lists that grow: `layers.append(nn.Conv2d(…))`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.layers.container_loops import ContainerLoops
from torchlint.analysis.names import How, dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module

UNORDERED = ("torch.nn.ModuleList", "torch.nn.ModuleDict")
GROW = frozenset({"append", "extend", "add_module", "insert"})
_SHRINK = frozenset({"pop", "remove", "clear", "reverse", "sort"})
_SAME_ITEMS = (*UNORDERED, "builtins.list", "builtins.tuple", "builtins.reversed")
_SEQUENTIAL = "torch.nn.Sequential"
Items = list[cst.BaseExpression]
Owner = cst.FunctionDef | cst.Module
GrownList = tuple[Owner, str]
"""A list by the function that makes it grow, and by its name there."""


def grown_name(statement: cst.CSTNode) -> str:
    """`layers` in `layers.append(x)`, `layers += [x]` and `layers["conv"] = x`, else empty."""
    if isinstance(statement, cst.Call) and isinstance(statement.func, cst.Attribute):
        grows = statement.func.attr.value in GROW | _SHRINK
        return dotted_text(statement.func.value) if grows else ""
    if isinstance(statement, cst.AugAssign) and isinstance(statement.operator, cst.AddAssign):
        return dotted_text(statement.target)
    if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Subscript):
        return dotted_text(statement.targets[0].target.value)
    return ""


class LayerLists:
    """The lists and containers of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.loops = ContainerLoops(module)
        self._known: dict[cst.CSTNode, Items | None] = {}

    # what they hold ------------------------------------------------------------------------

    def items(self, node: cst.CSTNode) -> Items | None:
        """Every expression that can be an item of a list or `nn.ModuleList`; None if unknown."""
        if node not in self._known:
            self._known[node] = None  # a list that is made from itself
            self._known[node] = self._items(node)
        return self._known[node]

    def _items(self, node: cst.CSTNode) -> Items | None:
        if isinstance(node, (cst.List, cst.Tuple)):
            return [element.value for element in node.elements]
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return [node.elt]
        if isinstance(node, cst.Call):
            if self._module.calls(node, _SEQUENTIAL):
                starred = any(arg.star for arg in node.args)
                return None if starred else [arg.value for arg in node.args]
            same = self._module.calls(node, *_SAME_ITEMS)
            return self._all_items(arg.value for arg in node.args[:1]) if same else None
        if isinstance(node, cst.Subscript):
            inner = self.items(node.value)
            if any(isinstance(part.slice, cst.Slice) for part in node.slice):
                return inner
            return self._all_items(inner)
        if not isinstance(node, (cst.Name, cst.Attribute)):
            return None
        found = self._all_items(self.assigned(node) or [])
        return None if found is None else [*found, *self._added(node)]

    def _all_items(self, containers: Iterable[cst.BaseExpression] | None) -> Items | None:
        if containers is None:
            return None
        all_items: Items = []
        for container in containers:
            items = self.items(container)
            if items is None:
                return None
            all_items += items
        return all_items

    def assigned(self, node: cst.CSTNode, *, partly: bool = True) -> Items | None:
        """What a name or `self.name` is set to; None if that is not all known."""
        if isinstance(node, cst.Name):
            bindings = self._module.flow.reaching(node)
            values = [each.value for each in bindings if each.how is How.ASSIGNMENT and each.value]
            return values if partly or len(values) == len(bindings) else None
        if not isinstance(node, cst.Attribute) or dotted_text(node.value) != "self":
            return None
        bindings = self._module.values.assigned(self._module.class_(node), node.attr.value)
        values = [each.value for each in bindings if each.value and not each.path]
        return values if values and len(values) == len(bindings) else None

    def iterated(self, iterable: cst.CSTNode, path: tuple[int, ...]) -> Items | None:
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
        if _SEQUENTIAL not in self._module.definitions.bases(class_):
            return False
        own = self._module.definitions.own_methods(class_).get("forward")
        return own is None or "super(" in self._module.tree.code_for_node(own)

    # lists that grow -----------------------------------------------------------------------

    @cached_property
    def grown(self) -> dict[GrownList, list[cst.CSTNode]]:
        """For each list that grows, the calls and statements that make it grow."""
        additions: dict[GrownList, list[cst.CSTNode]] = {}
        for node in self._module.nodes(cst.Call, cst.AugAssign, cst.Assign):
            name = grown_name(node)
            class_ = self._module.class_(node) if name == "self" else None
            if class_ is not None and not self.is_sequential(class_):
                continue
            if name and (name.startswith("self.") or "." not in name):
                additions.setdefault((self._owner(node), name), []).append(node)
        return additions

    def _owner(self, node: cst.CSTNode) -> Owner:
        return self._module.function(node) or self._module.tree

    def named(self, node: cst.CSTNode) -> GrownList | None:
        """The list that an expression names: one of its function or, for `self.x`, its class."""
        name = dotted_text(node)
        own = (self._owner(node), name)
        if own in self.grown:
            return own
        return self._attributes.get((self._module.class_(node), name))

    @cached_property
    def _attributes(self) -> dict[tuple[cst.ClassDef | None, str], GrownList]:
        return {
            (class_, name): (owner, name)
            for owner, name in reversed(self.grown)
            if name.startswith("self.") and (class_ := self._module.class_(owner)) is not None
        }

    def _added(self, node: cst.CSTNode) -> Items:
        """What is put into a list or `nn.ModuleList` after it was made."""
        named = self.named(node)
        items: Items = []
        for place in self.grown[named] if named else ():
            if isinstance(place, cst.Call) and isinstance(place.func, cst.Attribute) and place.args:
                value = place.args[-1].value
                extends = place.func.attr.value == "extend"
                items += (self.items(value) or [value]) if extends else [value]
        return items

    @cached_property
    def unordered(self) -> frozenset[GrownList]:
        """Lists that become an `nn.ModuleList`, which runs its items in no order of its own."""
        unordered_lists: set[GrownList] = set()
        for call in self._module.nodes(cst.Call):
            if not self._module.calls(call, *UNORDERED):
                continue
            owner = self._owner(call)
            targets = assign_targets(self._module.parent(call))
            if any(self.loops.run_in_order(target) for target in targets):
                continue
            holders = [*targets, *(arg.value for arg in call.args)]
            unordered_lists.update((owner, dotted_text(holder)) for holder in holders)
        return frozenset(unordered_lists)


def assign_targets(node: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """What an assignment assigns to; nothing for other nodes."""
    if isinstance(node, cst.AnnAssign):
        return [node.target]
    return [each.target for each in node.targets] if isinstance(node, cst.Assign) else []

"""Where in a file a variable, an attribute of `self` or a function occurs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.syntax.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.syntax.module import Module
    from torchlint.syntax.names import Names
    from torchlint.syntax.tree import Tree


class Occurrences:
    """Every name of one file, found by its word, by what it stands for, and on `self`."""

    def __init__(self, tree: Tree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._variables: dict[str, dict[int, list[cst.Name]]] = {}

    @cached_property
    def _spelled(self) -> dict[str, list[cst.Name]]:
        found: dict[str, list[cst.Name]] = {}
        for node in self._tree.nodes(cst.Name):
            found.setdefault(node.value, []).append(node)
        return found

    def spelled(self, word: str) -> list[cst.Name]:
        """Every `Name` node with this word, in source order, whatever it stands for."""
        return self._spelled.get(word, [])

    def of_variable(self, name: cst.Name) -> list[cst.Name]:
        """The places, in source order, that read or set the same variable as `name`."""
        by_bindings = self._variables.get(name.value)
        if by_bindings is None:
            by_bindings = self._variables[name.value] = {}
            for node in self.spelled(name.value):
                if not self._is_label(node):
                    key = id(self._names.lookup(node))
                    by_bindings.setdefault(key, []).append(node)
        return by_bindings.get(id(self._names.lookup(name)), [])

    def _is_label(self, node: cst.Name) -> bool:
        """Whether a name is a keyword or an attribute, not a variable."""
        parent = self._tree.parent(node)
        return (isinstance(parent, cst.Arg) and parent.keyword is node) or (
            isinstance(parent, cst.Attribute) and parent.attr is node
        )

    @cached_property
    def _on_self(self) -> dict[tuple[cst.ClassDef | None, str], list[cst.Attribute]]:
        found: dict[tuple[cst.ClassDef | None, str], list[cst.Attribute]] = {}
        for word in self.spelled("self"):
            node = self._tree.parent(word)
            if isinstance(node, cst.Attribute) and node.value is word:
                key = (self._tree.enclosing(node, cst.ClassDef), node.attr.value)
                found.setdefault(key, []).append(node)
        return found

    def on_self(self, class_: cst.ClassDef | None, name: str) -> list[cst.Attribute]:
        """The places, in source order, where methods of a class say `self.name`."""
        return self._on_self.get((class_, name), [])


def occurrences(
    node: cst.BaseExpression, module: Module
) -> list[cst.Name] | list[cst.Attribute]:
    """The places that read or set the same variable or attribute of `self`; else nothing."""
    if isinstance(node, cst.Name):
        return module.occurrences.of_variable(node)
    if isinstance(node, cst.Attribute) and dotted_text(node) == f"self.{node.attr.value}":
        return module.occurrences.on_self(module.class_(node), node.attr.value)
    return []


def calls_spelled(name: str, module: Module) -> Iterator[cst.Call]:
    """Each call of `name(…)` or `anything.name(…)`, in source order."""
    for node in module.spelled(name):
        parent = module.parent(node)
        func = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
        call = module.parent(func)
        if isinstance(call, cst.Call) and call.func is func:
            yield call


def methods_called_on(node: cst.BaseExpression, module: Module) -> Iterator[cst.Call]:
    """Each call of a method of the same variable, or of an item of it: `x[0].fill(0)`."""
    for each in occurrences(node, module):
        attribute = module.parent(with_items(each, module))
        call = module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if isinstance(call, cst.Call) and call.func is attribute:
            yield call


def with_items(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`x[0][1]` for the `x` in it."""
    parent = module.parent(node)
    while isinstance(parent, cst.Subscript) and parent.value is node:
        node, parent = parent, module.parent(parent)
    return node

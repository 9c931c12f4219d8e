"""The classes and functions that a file defines itself, found by name, by call and by object."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import qualified_name, without_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.values.inference import Inference

_DEEPEST = 8
_MOST_BASES = 200


class Definitions:
    """The definitions of one file."""

    def __init__(self, values: Inference) -> None:
        self._values = values

    def bases(self, class_: cst.ClassDef) -> list[str]:
        """The dotted names of a class's bases, through bases that this file defines."""
        return [name for name, _ in islice(self._ancestry(class_, {class_}), _MOST_BASES)]

    def base_classes(self, class_: cst.ClassDef) -> list[cst.ClassDef]:
        """The bases of a class that this file defines, nearest first, with theirs."""
        found = islice(self._ancestry(class_, {class_}), _MOST_BASES)
        return [own for _, own in found if own is not None]

    def _ancestry(
        self, class_: cst.ClassDef, seen: set[cst.ClassDef], depth: int = 0
    ) -> Iterator[tuple[str, cst.ClassDef | None]]:
        for base in class_.bases:
            for name in self._values.names.resolve(without_parameters(base)):
                own = self.class_named(name)
                yield name, own
                if own is not None and own not in seen and depth < _DEEPEST:
                    seen.add(own)
                    yield from self._ancestry(own, seen, depth + 1)

    def own_methods(self, class_: cst.ClassDef) -> dict[str, cst.FunctionDef]:
        """The methods that a class itself defines, by name."""
        methods: dict[str, cst.FunctionDef] = {}
        for statement in class_.body.body:
            if isinstance(statement, cst.FunctionDef):
                methods.setdefault(statement.name.value, statement)
        return methods

    def methods(self, class_: cst.ClassDef) -> dict[str, cst.FunctionDef]:
        """The methods of a class and of its bases in this file, the class's own first."""
        found = self.own_methods(class_)
        for base in self.base_classes(class_):
            found = self.own_methods(base) | found
        return found

    def class_named(self, name: str) -> cst.ClassDef | None:
        """The class that a dotted name of the form `:Name` refers to."""
        own = self.named(name)
        return own if isinstance(own, cst.ClassDef) else None

    def named(self, name: str) -> cst.ClassDef | cst.FunctionDef | None:
        """The class or function that a dotted name of the form `:Name` refers to."""
        return self._by_name.get(name[1:]) if name.startswith(":") else None

    def callee(self, node: cst.Call) -> cst.FunctionDef | None:
        """The function or method of this file that a call runs."""
        for name in self._values.names.resolve(node.func):
            own = self.named(name)
            if isinstance(own, cst.FunctionDef):
                return own
        return self.method(node.func) if isinstance(node.func, cst.Attribute) else None

    def returns(self, function: cst.FunctionDef) -> list[cst.Return]:
        """The `return` statements of a function itself."""
        return self._returns.get(function, [])

    @cached_property
    def _by_name(self) -> dict[str, cst.ClassDef | cst.FunctionDef]:
        tree = self._values.tree
        nodes: list[cst.ClassDef | cst.FunctionDef] = [
            *tree.nodes(cst.ClassDef),
            *tree.nodes(cst.FunctionDef),
        ]
        return {qualified_name(tree, node): node for node in nodes}

    @cached_property
    def _returns(self) -> dict[cst.FunctionDef, list[cst.Return]]:
        tree = self._values.tree
        returns: dict[cst.FunctionDef, list[cst.Return]] = {}
        for node in tree.nodes(cst.Return):
            owner = tree.enclosing(node, cst.FunctionDef)
            if owner is not None:
                returns.setdefault(owner, []).append(node)
        return returns

    def method(self, func: cst.Attribute) -> cst.FunctionDef | None:
        """The method that is called, on `self` or an object of a class of this file."""
        class_ = self.class_of(func.value)
        if class_ is None:
            return None
        method = self._by_name.get(f"{qualified_name(self._values.tree, class_)}.{func.attr.value}")
        return method if isinstance(method, cst.FunctionDef) else None

    def class_of(self, node: cst.BaseExpression) -> cst.ClassDef | None:
        """The class of this file that an expression is an object of: `self`, or an instance."""
        if isinstance(node, cst.Name) and node.value == "self":
            return self._values.tree.enclosing(node, cst.ClassDef)
        classes = self._values.value(node).classes
        return self.class_named(classes[0]) if len(classes) == 1 else None

"""Where in a file a variable or a function occurs, by its spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.syntax.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.syntax.module import Module


def occurrences(spelled: str, module: Module) -> Iterator[cst.BaseExpression]:
    """Each expression that is written `spelled`, such as `x` or `self.buffer`, in source order."""
    for name in module.spelled(spelled.rpartition(".")[2]):
        parent = module.parent(name)
        is_attribute = isinstance(parent, cst.Attribute) and parent.attr is name
        node = parent if is_attribute else name
        if isinstance(node, (cst.Name, cst.Attribute)) and dotted_text(node) == spelled:
            yield node


def calls_spelled(name: str, module: Module) -> Iterator[cst.Call]:
    """Each call of `name(…)` or `anything.name(…)`, in source order."""
    for node in module.spelled(name):
        parent = module.parent(node)
        func = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
        call = module.parent(func)
        if isinstance(call, cst.Call) and call.func is func:
            yield call


def methods_called_on(spelled: str, module: Module) -> Iterator[cst.Call]:
    """Each call of a method of the variable, or of an item of it: `x.fill(0)`, `x[0].fill(0)`."""
    for node in occurrences(spelled, module):
        attribute = module.parent(with_items(node, module))
        call = module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if isinstance(call, cst.Call) and call.func is attribute:
            yield call


def with_items(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`x[0][1]` for the `x` in it."""
    parent = module.parent(node)
    while isinstance(parent, cst.Subscript) and parent.value is node:
        node, parent = parent, module.parent(parent)
    return node

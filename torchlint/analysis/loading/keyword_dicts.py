"""What `**kwargs` passes, where the dict is spelled out in the same scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.analysis.names import How

if TYPE_CHECKING:
    from torchlint.analysis.module import Module


class Spelled(dict[str, list[cst.BaseExpression]]):
    """The values that dicts can hold, by key."""

    def __init__(self) -> None:
        self.read: set[cst.CSTNode] = set()
        """The expressions about which everything is known."""


_DEEPEST = 4
_READING = frozenset({"get", "keys", "items", "values", "copy"})


def spelled_out(call: cst.Call, module: Module) -> Spelled | None:
    """Every value that the `**dicts` of a call can pass, by key; None if that is unknown."""
    spelled = Spelled()
    for arg in call.args:
        if arg.star == "**" and not _add(spelled, arg.value, module, 0):
            return None
    return spelled


def _add(found: Spelled, node: cst.BaseExpression, module: Module, depth: int) -> bool:
    """Collects what a dict expression holds; False if other code may have filled it."""
    if node not in found.read and depth <= _DEEPEST and _holds(found, node, module, depth):
        found.read.add(node)
    return node in found.read


def _holds(found: Spelled, node: cst.BaseExpression, module: Module, depth: int) -> bool:
    if isinstance(node, cst.Dict):
        return _add_display(found, node, module, depth)
    if isinstance(node, cst.IfExp):
        known = _add(found, node.body, module, depth + 1)
        return _add(found, node.orelse, module, depth + 1) and known
    if isinstance(node, cst.Call) and module.calls(node, "builtins.dict"):
        return _add_arguments(found, node, module, depth)
    if isinstance(node, cst.Name):
        return _add_name(found, node, module, depth)
    return False


def _add_display(found: Spelled, node: cst.Dict, module: Module, depth: int) -> bool:
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            if not _add(found, element.value, module, depth + 1):
                return False
        elif isinstance(element, cst.DictElement):
            key = literal(element.key)
            if not isinstance(key, str):
                return False
            found.setdefault(key, []).append(element.value)
    return True


def _add_arguments(found: Spelled, node: cst.Call, module: Module, depth: int) -> bool:
    """`dict(a=1)` and `kwargs.update({...}, a=1)`."""
    for arg in node.args:
        if arg.keyword is not None:
            found.setdefault(arg.keyword.value, []).append(arg.value)
        elif arg.star == "*" or not _add(found, arg.value, module, depth + 1):
            return False
    return True


def _add_name(found: Spelled, node: cst.Name, module: Module, depth: int) -> bool:
    bindings = module.names.lookup(node)
    if not bindings:
        return False
    for binding in bindings:
        if binding.value is None:
            return False
        if binding.how is How.ASSIGNMENT:
            if not _add(found, binding.value, module, depth + 1):
                return False
        elif not (binding.how is How.UPDATE and _add_item(found, binding.node)):
            return False
    shared = module.function(bindings[0].node) is None
    return all(
        _add_use(found, use, module, depth)
        for use in module.spelled(node.value, near=None if shared else node)
        if use is not node and module.names.lookup(use) is bindings
    )


def _add_item(found: Spelled, node: cst.CSTNode) -> bool:
    """`kwargs["num_workers"] = 4`."""
    if not isinstance(node, cst.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0].target
    if not isinstance(target, cst.Subscript) or len(target.slice) != 1:
        return False
    index = target.slice[0].slice
    key = literal(index.value) if isinstance(index, cst.Index) else None
    if not isinstance(key, str):
        return False
    found.setdefault(key, []).append(node.value)
    return True


def _add_use(found: Spelled, use: cst.Name, module: Module, depth: int) -> bool:
    """Follows `kwargs.update(…)`; False where the dict is passed to other code."""
    parent = module.parent(use)
    if isinstance(parent, cst.Attribute) and parent.value is use:
        call = module.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent and parent.attr.value == "update":
            return _add_arguments(found, call, module, depth)
        return parent.attr.value in _READING
    if isinstance(parent, cst.Arg):
        return parent.star == "**" or parent.keyword is use
    return isinstance(parent, (cst.AssignTarget, cst.Subscript, cst.StarredDictElement))

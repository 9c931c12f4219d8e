"""Code that writes to a layer's bias without asking whether there is one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_ASKS_TYPE = re.compile(r"isinstance\(|__class__|class_?name|type\(", re.IGNORECASE)
_ASKS_NONE = re.compile(r"bias\s+is\s+not\s+None|getattr\([^()]{0,200}bias|^[\w.]+\.bias$")


def bias_uses(module: Module, kind: str) -> Iterator[cst.Attribute]:
    """The places that touch `something.bias` and would crash on None.

    Args:
        kind: `Conv` or `Linear`: the layers whose bias is meant. Places that deal with other
            types only are left out.
    """
    for node in module.nodes(cst.Attribute):
        if node.attr.value != "bias" or dotted_text(node.value) == "self":
            continue  # `self.bias` is a parameter of a module of the project's own
        if not _is_touched(node, module):
            continue
        if not _about_others(node, module, kind) and not _asks_first(node, module):
            yield node


def _is_touched(node: cst.Attribute, module: Module) -> bool:
    parent = module.parent(node)
    if isinstance(parent, (cst.Attribute, cst.Subscript)):
        return True
    call = module.call_with(node)
    return call is not None and not module.calls(call, "builtins.isinstance")


def _about_others(node: cst.Attribute, module: Module, kind: str) -> bool:
    child: cst.CSTNode = node
    for above in module.ancestors(node):
        if isinstance(above, cst.If) and child is above.body:
            test = module.tree.code_for_node(above.test)
            if _ASKS_TYPE.search(test):
                return kind.lower() not in test.lower()
        child = above
    return _holds_another(node.value, module, kind)


def _holds_another(owner: cst.BaseExpression, module: Module, kind: str) -> bool:
    """Whether `self.x` is assigned, and never a layer of this kind."""
    if not (isinstance(owner, cst.Attribute) and dotted_text(owner.value) == "self"):
        return False
    bindings = module.values.assigned(module.class_(owner), owner.attr.value)
    return bool(bindings) and all(
        isinstance(binding.value, cst.Call)
        and module.resolve(binding.value.func) != ()
        and not any(kind in name for name in module.resolve(binding.value.func))
        for binding in bindings
    )


def _asks_first(node: cst.Attribute, module: Module) -> bool:
    return any(
        isinstance(above, (cst.If, cst.IfExp))
        and _ASKS_NONE.search(module.tree.code_for_node(above.test))
        for above in module.ancestors(node)
    )

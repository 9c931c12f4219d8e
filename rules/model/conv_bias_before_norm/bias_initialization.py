"""Code that writes to a layer's bias without asking whether there is one."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module, once

_ASKS_TYPE = re.compile(r"isinstance\(|__class__|class_?name|type\(", re.IGNORECASE)
_ASKS_NONE = re.compile(r"bias\s+is\s+not\s+None|getattr\([^()]{0,200}bias|^[\w.]+\.bias$")


@once
def writes_to_bias(module: Module, kind: str) -> bool:
    """Whether the file touches `something.bias` and would crash on None.

    Args:
        kind: `Conv` or `Linear`: the layers whose bias is meant. Places that deal with other
            types only are left out.
    """
    for name in module.spelled("bias"):
        node = module.parent(name)
        if not isinstance(node, cst.Attribute) or node.attr is not name:
            continue
        if dotted_text(node.value) == "self":
            continue  # a parameter of a module of the project's own
        call, parent = module.call_with(node), module.parent(node)
        given = call is not None and not module.calls(call, "builtins.isinstance")
        touched = given or isinstance(parent, cst.Attribute | cst.Subscript)
        if touched and not _about_others(node, module, kind) and not _asks_first(node, module):
            return True
    return False


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
    made = [each.value.func if isinstance(each.value, cst.Call) else None for each in bindings]
    names = [() if func is None else module.resolve(func) for func in made]
    return bool(names) and all(each and not any(kind in name for name in each) for each in names)


def _asks_first(node: cst.Attribute, module: Module) -> bool:
    return any(
        isinstance(above, cst.If | cst.IfExp)
        and _ASKS_NONE.search(module.tree.code_for_node(above.test))
        for above in module.ancestors(node)
    )

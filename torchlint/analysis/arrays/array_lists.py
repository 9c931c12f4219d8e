"""Lists of arrays, and what people build them from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.uses import method_name, methods_called_on
from torchlint.analysis.values.kinds import NO_VALUE, UNKNOWN_VALUE, Value

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp)


def elements_of(node: cst.BaseExpression, module: Module) -> Value:
    """What each element of a list, tuple or comprehension is; `Kind.NOTHING` for anything else.

    A name stands for the list it was set to and all that was appended to it.
    """
    if isinstance(node, (cst.List, cst.Tuple)):
        found = NO_VALUE
        for element in node.elements:
            starred = isinstance(element, cst.StarredElement)
            found |= UNKNOWN_VALUE if starred else module.value(element.value)
        return found
    if isinstance(node, _COMPREHENSIONS):
        return module.value(node.elt)
    if isinstance(node, cst.Name):
        return _elements_of_name(node, module)
    return NO_VALUE


def _elements_of_name(node: cst.Name, module: Module) -> Value:
    found = NO_VALUE
    bindings = module.flow.reaching(node)
    for binding in bindings:
        if binding.how is not How.ASSIGNMENT or not _makes_list(binding.value, module):
            return NO_VALUE
        assert binding.value is not None
        found |= elements_of(binding.value, module)
    for call in methods_called_on(node, module):
        if any(each in bindings for each in module.flow.reaching(_owner(call))):
            found |= _grown(call, module)
    return found


def _makes_list(value: cst.BaseExpression | None, module: Module) -> bool:
    """Whether it is a list that is written out, a comprehension or `list()`."""
    if isinstance(value, cst.Call):
        return module.calls(value, "builtins.list") and not value.args
    return isinstance(value, (cst.List, cst.Tuple, *_COMPREHENSIONS))


def _owner(call: cst.Call) -> cst.Name:
    """The variable whose method is called."""
    node: cst.BaseExpression = call.func
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    assert isinstance(node, cst.Name)
    return node


def _grown(call: cst.Call, module: Module) -> Value:
    """What a method call adds to a list."""
    method = method_name(call)
    if method == "append" and len(call.args) == 1:
        return module.value(call.args[0].value)
    if method in ("extend", "insert"):
        return UNKNOWN_VALUE
    return NO_VALUE

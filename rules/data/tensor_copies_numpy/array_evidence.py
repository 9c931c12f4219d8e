"""Arrays that are recognised only by how they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import Binding, How
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.environments import first_observation
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind
from torchlint.rule import once

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_DEEPEST = 8
_ARRAY_METHODS = frozenset({"reshape", "ravel", "transpose", "squeeze", "swapaxes", "flatten"})


def looks_like_array(node: cst.BaseExpression, module: Module, depth: int = 0) -> bool:
    """Whether something that a typed constructor takes can hardly be anything but an array.

    Lists have no `.reshape`, and are not sliced by `x[:, 0:3]`; a function that is given an
    array gives one back.
    """
    return depth <= _DEEPEST and _looks_like_array(module, node, depth)


@once
def _looks_like_array(module: Module, node: cst.BaseExpression, depth: int) -> bool:
    if isinstance(node, cst.Name):
        return _named_array(node, module, depth)
    value = module.value(node)
    if value.has(ARRAYS):
        return True
    if not value.only(Kind.UNKNOWN | Kind.PARAMETER):
        return False
    if first_observation(node, module.values):
        return True
    if isinstance(node, cst.Call):
        method = method_name(node)
        if method in _ARRAY_METHODS and not module.resolve(node.func):
            return True
        return any(module.value(arg.value).is_array for arg in node.args)
    return False


def _named_array(node: cst.Name, module: Module, depth: int) -> bool:
    bindings = module.flow.reaching(node)
    known = [each for each in bindings if each.how is not How.UPDATE]
    if not known or any(_is_tensor(each, module) for each in known):
        return False
    if len(known) < len(bindings) and any(_sliced(each.node) for each in bindings):
        return True
    return all(
        each.how is How.ASSIGNMENT
        and each.value is not None
        and looks_like_array(each.value, module, depth + 1)
        for each in known
    )


def _is_tensor(binding: Binding, module: Module) -> bool:
    return binding.value is not None and module.value(binding.value).has(TENSORS | Kind.LOADER)


def _sliced(node: cst.CSTNode) -> bool:
    """`x[:, 0:3] = …`"""
    if not isinstance(node, cst.Assign):
        return False
    target = node.targets[0].target
    return (
        isinstance(target, cst.Subscript)
        and len(target.slice) > 1
        and any(isinstance(element.slice, cst.Slice) for element in target.slice)
    )

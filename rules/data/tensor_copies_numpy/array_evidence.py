"""Arrays that are recognised only by how they are used."""

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.environments import first_observation
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind
from torchlint.rule import Module, once

_DEEPEST = 8
_ARRAY_METHODS = frozenset({"reshape", "ravel", "transpose", "squeeze", "swapaxes", "flatten"})


@once
def looks_like_array(node: cst.BaseExpression, module: Module, depth: int = 0) -> bool:
    """Whether something that a typed constructor takes can hardly be anything but an array.

    Lists have no `.reshape`, and are not sliced by `x[:, 0:3]`; a function that is given an
    array gives one back.
    """
    if depth > _DEEPEST:
        return False
    if isinstance(node, cst.Name):
        return _named_array(node, module, depth)
    value = module.value(node)
    if value.has(ARRAYS):
        return True
    if not value.only(Kind.UNKNOWN | Kind.PARAMETER):
        return False
    if first_observation(node, module.values):
        return True
    if not isinstance(node, cst.Call):
        return False
    reshapes = method_name(node) in _ARRAY_METHODS and not module.resolve(node.func)
    return reshapes or any(module.value(arg.value).is_array for arg in node.args)


def _named_array(node: cst.Name, module: Module, depth: int) -> bool:
    bindings = module.flow.reaching(node)
    set_bindings = [each for each in bindings if each.how is not How.UPDATE]
    if not set_bindings or any(
        module.value(each.value).has(TENSORS | Kind.LOADER) for each in set_bindings
    ):
        return False
    if len(set_bindings) < len(bindings) and any(_sliced(each.node) for each in bindings):
        return True
    return all(
        each.how is How.ASSIGNMENT
        and each.value is not None
        and looks_like_array(each.value, module, depth + 1)
        for each in set_bindings
    )


def _sliced(node: cst.CSTNode) -> bool:
    """`x[:, 0:3] = …`"""
    target = node.targets[0].target if isinstance(node, cst.Assign) else None
    parts = target.slice if isinstance(target, cst.Subscript) else ()
    return len(parts) > 1 and any(isinstance(each.slice, cst.Slice) for each in parts)

"""Why a value is not known to be a tensor on the device, for a user who asks `torchlint why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.values.kinds import ARRAYS, ON_HOST, TENSORS, Kind
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding

_T = TypeVar("_T")
_IN_HOST_MEMORY = Kind.CPU | ARRAYS | Kind.SCALAR
_NOT_KNOWN = Kind.UNKNOWN | Kind.LIKELY
_ASSIGNED = frozenset({How.ASSIGNMENT, How.UNPACKING})
_PLAIN = "{:code} is a plain Python value, not a tensor"
_MOST_HOPS = 8


def off_device(answer: _T, node: cst.BaseExpression | None, module: Module) -> _T:
    """`answer`, and why an expression is not known to be a tensor on the device."""
    if node is None:
        return because(answer, "nothing shows which tensor this is about")
    value, kind = module.value(node), ON_HOST
    if value.only(_IN_HOST_MEMORY | Kind.HOST) and value.has(_IN_HOST_MEMORY):
        said = "{:code} is in host memory already"
    elif value.only(Kind.HOST):
        said = _PLAIN
    elif value.has(Kind.MODULE) and not value.has(TENSORS):
        return because(answer, "{:code} is a model, not a tensor", node)
    elif value.has(Kind.DEVICE) and value.has(ON_HOST):
        said = "{:code} may also be on the host"
    elif value.has(Kind.PARAMETER):
        return because(answer, "nothing shows that callers pass a device tensor as {:code}", node)
    else:
        said, kind = "nothing shows that {:code} is a tensor on the device", _NOT_KNOWN
    by, source = _giver(node, kind, module)
    owner = source.value if isinstance(source, cst.Attribute | cst.Subscript) else None
    if kind is _NOT_KNOWN and owner is not None and module.value(owner).only(Kind.HOST):
        said = _PLAIN  # `x.shape[0]`
    return because(answer, said, node) if by is None else because(answer, said + ": {}", node, by)


def _giver(
    node: cst.BaseExpression, kind: Kind, module: Module
) -> tuple[cst.CSTNode | None, cst.BaseExpression]:
    """The place that gives a name in an expression its kind, back through what it is made of; and
    the expression there."""
    place = None
    for _ in range(_MOST_HOPS):
        bindings = _bindings(node, module)
        if bindings:
            given = (each for each in bindings if module.value(each.value).has(kind))
            binding = next(given, bindings[0])
            place = binding.node
            value = binding.value if binding.how in _ASSIGNED else None
            parts = [] if value is None else [value]
        else:
            parts = _parts(node, through_calls=kind is ON_HOST)
        made = next((each for each in parts if module.value(each).only(kind)), None)
        if made is None:
            break
        node = made
    return place, node


def _bindings(node: cst.BaseExpression, module: Module) -> list[Binding]:
    """Where a name or an attribute of `self` is set."""
    if isinstance(node, cst.Attribute) and module.source(node.value) == "self":
        return module.values.assigned(module.class_(node), node.attr.value)
    return module.flow.reaching(node)


def _parts(node: cst.BaseExpression, *, through_calls: bool) -> list[cst.BaseExpression]:
    """What an expression is computed from."""
    if isinstance(node, cst.Comparison):
        return [node.left, *(each.comparator for each in node.comparisons)]
    if isinstance(node, cst.BinaryOperation | cst.BooleanOperation):
        return [node.left, node.right]
    if isinstance(node, cst.Subscript | cst.Attribute):
        return [node.value]
    if isinstance(node, cst.UnaryOperation):
        return [node.expression]
    if through_calls and isinstance(node, cst.Call):
        owner = [node.func.value] if isinstance(node.func, cst.Attribute) else []
        return owner + [arg.value for arg in node.args]
    return []

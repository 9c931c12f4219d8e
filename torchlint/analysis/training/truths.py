"""Where Python asks for the truth of a tensor: `if mask.any():`, `if loss > 10:`, `bool(t)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.analysis.steps.guards import asked_for, asks_for_identity
from torchlint.analysis.training.syncs import Operand, operand_at
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind
from torchlint.because import Unlike, because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_MOST_NAMES = 3
_MOST_PARTS = 8
_ONE_NUMBER = frozenset({"all", "amax", "amin", "any", "max", "mean", "median", "min", "sum"})
_CHECKS = frozenset({"isfinite", "isinf", "isnan"})
_MATHS = frozenset(f"math.{name}" for name in _CHECKS)
"""They take a number, so they read the tensor that they are given."""
_TENSOR_OR_ASKED = Kind.DEVICE | Kind.TENSOR | Kind.PARAMETER
"""What may be a tensor on the device, perhaps by what the callers pass."""
_COMPARING = frozenset({"builtins.max", "builtins.min"})
_FUNCTIONS = frozenset(f"torch.{name}" for name in _ONE_NUMBER)


def truths(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    """The parts of a condition that Python asks for their truth, if `node` has a condition."""
    if isinstance(node, cst.Call):
        if _compares_arguments(node, module):
            return [node]
        named = len(node.args) == 1 and "builtins.bool" in module.resolve(node.func)
        return asked_for(node.args[0].value) if named else []
    if isinstance(node, cst.If | cst.IfExp | cst.Assert):
        return asked_for(node.test)
    return []


def operand_of_truth(truth: cst.BaseExpression, module: Module) -> Operand | None:
    """What a condition reads, or None if it is not a tensor, is on the host or is unknown.

    A name or attribute alone says too little: a list, a dict and the output of a model have a
    truth that costs nothing, and what a framework passes to a hook may be a number. It must be
    the result of a comparison of what was computed, of `any()` and the like, or of a check for
    numbers that are not finite.
    """
    made = origin_of(truth, module)
    if isinstance(made, cst.Comparison):
        if not _compares_numbers(made):
            return because(None, Unlike("{:code} compares no numbers"), made)
        sides = [made.left, *(each.comparator for each in made.comparisons)]
        if not any(_is_computed(each, module) for each in sides):
            return _not_computed(sides, module)
    elif isinstance(made, cst.Call) and _compares_arguments(made, module):
        sides = [arg.value for arg in made.args]
        computed = next((each for each in sides if _is_computed(each, module)), None)
        return operand_at(computed, module) if computed else _not_computed(sides, module)
    elif isinstance(made, cst.Call) and not _MATHS.isdisjoint(module.resolve(made.func)):
        return operand_at(made.args[0].value if made.args else None, module)
    elif not isinstance(made, cst.Call) or not (
        _is_reduction(made, module) or method_name(made) in _CHECKS
    ):
        return _not_computed([truth], module)
    return operand_at(made, module)


def _not_computed(nodes: list[cst.BaseExpression], module: Module) -> Operand | None:
    """None, and why no part of a condition is known for a number of a tensor."""
    node = next((each for each in nodes if not module.value(each).only(Kind.HOST)), nodes[0])
    if not module.value(node).has(_TENSOR_OR_ASKED):
        return off_device(None, node, module)
    said = "{:code} may be something else than a tensor, such as a number or a list"
    return because(None, said, node)


def origin_of(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """What a name was last given, if there is only one such place apart from `x = None`; else the
    expression itself."""
    for _ in range(_MOST_NAMES):
        reaching = module.flow.reaching(node)
        bindings = [
            each for each in reaching if each.value is None or literal(each.value) is not None
        ]
        if len(bindings) != 1 or not isinstance(bindings[0].node, cst.Assign):
            break
        value, path = bindings[0].node.value, bindings[0].path
        if len(path) == 1 and isinstance(value, cst.Tuple) and path[0] < len(value.elements):
            value, path = value.elements[path[0]].value, ()
        if path:
            break
        node = value
    return node


def _is_computed(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is what a call or an operator made, or an item of that."""
    left = [node]
    for _ in range(_MOST_PARTS):
        if not left:
            break
        part = left.pop()
        made = origin_of(part, module)
        if isinstance(made, cst.Call):
            return any(module.value(each).has(_TENSOR_OR_ASKED) for each in (made, part))
        if module.values.is_buffer(part):
            return True
        if isinstance(made, cst.BinaryOperation):
            left += [made.left, made.right]
        elif isinstance(made, cst.Subscript):
            item = made.value
            left.append(item.value if isinstance(item, cst.Attribute) else item)
    return False


def _compares_arguments(call: cst.Call, module: Module) -> bool:
    """`max(valid.sum(), 1)`, which asks whether `1 > valid.sum()`."""
    plain = not any(arg.star or arg.keyword for arg in call.args)
    named = not _COMPARING.isdisjoint(module.resolve(call.func))
    return named and plain and len(call.args) > 1


def _is_reduction(call: cst.Call, module: Module) -> bool:
    """`x.any()`, `torch.all(x)`."""
    named = not _FUNCTIONS.isdisjoint(module.resolve(call.func))
    reduces = named or method_name(call) in _ONE_NUMBER
    return reduces and module.value(call).has(_TENSOR_OR_ASKED)


def _compares_numbers(made: cst.Comparison) -> bool:
    """Whether a comparison may be one of tensors: not with a text, not by `is` or `in`."""
    return not asks_for_identity(made) and not any(
        isinstance(each.operator, cst.In | cst.NotIn)
        or isinstance(literal(each.comparator), str | None)
        for each in made.comparisons
    )

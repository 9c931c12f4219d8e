"""Where Python asks for the truth of a tensor: `if mask.any():`, `if loss > 10:`, `bool(t)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.literals import literal
from torchlint.analysis.steps.guards import asked_for, asks_for_identity
from torchlint.analysis.training.syncs import Operand, operand_at, tensor_at
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind
from torchlint.because import Unlike, because

if TYPE_CHECKING:
    from typing import TypeGuard

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
_ASKING_EACH = frozenset({"builtins.all", "builtins.any"})
_ANSWERS = frozenset({"torch.allclose", "torch.equal", "torch.is_nonzero"})
"""Functions of torch that return a bool of Python."""
_TAKERS = _MATHS | _ANSWERS
_FUNCTIONS = frozenset(f"torch.{name}" for name in _ONE_NUMBER)


def truths(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    """The parts of a condition that Python asks for their truth, if `node` has a condition."""
    if isinstance(node, cst.Call):
        return _asked_by_call(node, module)
    if isinstance(node, cst.If | cst.IfExp | cst.Assert | cst.While | cst.CompIf):
        return asked_for(node.test)
    if isinstance(node, cst.BooleanOperation | cst.UnaryOperation):
        return _asked_for_a_value(node, module)
    return []


def _asked_by_call(call: cst.Call, module: Module) -> list[cst.BaseExpression]:
    """`bool(x)`, `max(x, 1)`, `torch.equal(x, y)`, and each `x` of `all(x.any() for x in xs)`."""
    names = module.resolve(call.func)
    if _compares_arguments(call, module) or not _ANSWERS.isdisjoint(names):
        return [call]
    given = call.args[0].value if len(call.args) == 1 else None
    if given is None:
        return []
    if "builtins.bool" in names:
        return asked_for(given)
    if isinstance(given, cst.GeneratorExp | cst.ListComp) and not _ASKING_EACH.isdisjoint(names):
        return asked_for(given.elt)
    return []


def _asked_for_a_value(
    node: cst.BooleanOperation | cst.UnaryOperation, module: Module
) -> list[cst.BaseExpression]:
    """The parts of `a and b` and `not a` where these are no condition: Python takes `b` as it
    is."""
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        return []
    parent = module.parent(node)
    if isinstance(parent, cst.BooleanOperation | cst.UnaryOperation | cst.CompIf | cst.Assert):
        return []
    if isinstance(parent, cst.If | cst.IfExp | cst.While) and parent.test is node:
        return []
    taker = module.call_with(node)
    if taker is not None and module.calls(taker, "builtins.bool"):
        return []
    return asked_for(node.left if isinstance(node, cst.BooleanOperation) else node)


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
    elif isinstance(made, cst.Call) and not _TAKERS.isdisjoint(names := module.resolve(made.func)):
        given = made.args[0].value if made.args else None
        operand = operand_at(given, module)
        if operand is not None and not _ANSWERS.isdisjoint(names):
            return replace(operand, tensor=True)  # they take tensors only
        return operand if operand or not _adds_losses(given, module) else tensor_at(given, module)
    elif not module.values.is_buffer(truth) and (
        not isinstance(made, cst.Call)
        or not (_is_reduction(made, module) or method_name(made) in _CHECKS)
    ):
        return _not_computed([truth], module)
    return _of_forward(operand_at(made, module), made, module)


def _adds_losses(node: cst.BaseExpression | None, module: Module) -> TypeGuard[cst.BaseExpression]:
    """`sum(losses.values())`: a criterion in the way of DETR gives them as tensors."""
    made = None if node is None else origin_of(node, module)
    if not isinstance(made, cst.Call) or not module.calls(made, "builtins.sum"):
        return False
    return any(method_name(call) == "values" for call in module.calls_within(made))


def _of_forward(
    operand: Operand | None, made: cst.BaseExpression, module: Module
) -> Operand | None:
    """The operand, as a tensor where a reduction is called of what `forward` of a module gets:
    models are given no arrays."""
    if operand is None or operand.sure or operand.tensor:
        return operand
    parts = (
        [made.left, *(each.comparator for each in made.comparisons)]
        if isinstance(made, cst.Comparison)
        else [made]
    )
    reduces = (origin_of(each, module) for each in parts)
    if any(isinstance(each, cst.Call) and _is_reduction(each, module) for each in reduces):
        function, class_ = module.function(made), module.class_(made)
        if function is not None and function.name.value == "forward" and class_ is not None:
            bases = module.definitions.bases(class_)
            if any(each.startswith("torch.nn.") or each in ANY.module_classes for each in bases):
                return Operand(False, True, operand.parameters)
    return operand


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
            if len(made.slice) > 1 and module.value(made).has(_TENSOR_OR_ASKED):
                return True  # `x[0, 1]`: neither a list nor a tuple takes two
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

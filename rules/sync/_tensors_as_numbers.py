"""Tensors that Python or torch reads as numbers: bounds of slices, sizes, `range(n)`, `alpha=t`."""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.training.chosen_branches import demands
from torchlint.analysis.training.syncs import Operand, operand_of_value
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind, sounds_like_tensors
from torchlint.rule import Module

_SIZED = frozenset(
    f"torch.{name}" for name in "arange empty eye full linspace ones rand randn range zeros".split()
)
_SIZED_METHODS = frozenset(
    "expand narrow new_empty new_full new_ones new_zeros repeat reshape unfold view".split()
)
_MATHS = frozenset(
    f"math.{name}" for name in "ceil cos exp floor log log10 log2 pow sin sqrt tanh".split()
)
_CTC = frozenset({"torch.nn.CTCLoss", "torch.nn.functional.ctc_loss"})
_PLACES = frozenset({"argmax", "argmin", "max", "min"})
_MAKE_NUMBERS = frozenset(
    "amax amin argmax argmin clamp count_nonzero cumsum detach float int long max mean min prod "
    "round squeeze sum to".split()
)
"""Methods of tensors whose results are taken for numbers."""
_MAY_BE_TENSORS = TENSORS | Kind.PARAMETER
_NO_NUMBERS = Kind.CONTAINER | Kind.CPU | Kind.UNKNOWN | Kind.MODULE
_EITHER = (cst.IfExp, cst.BooleanOperation)
_MADE = (cst.Call, cst.BinaryOperation, *_EITHER)
_MOST_SOURCES = 8


class Taken(Enum):
    """What a number is needed for."""

    SIZE = "size"
    FACTOR = "factor"
    MATHS = "maths"
    LENGTHS = "lengths"


class Read(NamedTuple):
    """A tensor that is read as a number.

    Args:
        sure: it is read each time, and known to be on the device.
    """

    node: cst.BaseExpression
    operand: Operand
    sure: bool


def taken_for_numbers(
    node: cst.CSTNode, module: Module
) -> Iterator[tuple[cst.BaseExpression, Taken]]:
    """What a slice or a call reads as numbers if these are tensors."""
    if isinstance(node, cst.Slice):
        for bound in (node.lower, node.upper, node.step):
            if bound is not None and not isinstance(bound, cst.Integer):
                yield bound, Taken.SIZE
    elif isinstance(node, cst.Index):
        made = origin_of(node.value, module)
        if isinstance(made, cst.Call) and method_name(made) in _PLACES and not made.args:
            yield node.value, Taken.SIZE
    elif isinstance(node, cst.Call):
        yield from _given_as_numbers(node, module)


def _given_as_numbers(call: cst.Call, module: Module) -> Iterator[tuple[cst.BaseExpression, Taken]]:
    names = module.resolve(call.func)
    method = method_name(call)
    if not _MATHS.isdisjoint(names):
        yield from ((arg.value, Taken.MATHS) for arg in call.args)
    elif "builtins.range" in names or not _SIZED.isdisjoint(names):
        yield from ((size, Taken.SIZE) for size in _sizes(call))
    elif method in _SIZED_METHODS and not names:
        if module.value(receiver(call)).has(TENSORS | Kind.LIKELY | Kind.PARAMETER):
            yield from ((size, Taken.SIZE) for size in _sizes(call))
    elif method == "one_hot":
        classes = module.argument(call, "num_classes", 1)
        if classes is not None:
            yield classes, Taken.SIZE
    elif not _CTC.isdisjoint(names) or "ctc" in method:
        for name, position in (("input_lengths", 2), ("target_lengths", 3)):
            given = module.argument(call, name, position)
            if given is not None:
                yield given, Taken.LENGTHS
    else:
        yield from (
            (arg.value, Taken.FACTOR)
            for arg in call.args
            if arg.keyword is not None
            and arg.keyword.value == "alpha"
            and _is_of_torch(call, module)
        )


def _is_of_torch(call: cst.Call, module: Module) -> bool:
    """`torch.add(…)`, `torch._foreach_add(…)`, `x.add_(…)`."""
    if any(name.startswith("torch.") for name in module.resolve(call.func)):
        return True
    return module.value(receiver(call)).has(TENSORS)


def _sizes(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The sizes that a call is given, one by one or as a tuple."""
    for arg in call.args:
        if arg.star or (arg.keyword is not None and arg.keyword.value not in ("size", "end")):
            continue
        if isinstance(arg.value, cst.Tuple | cst.List):
            yield from (each.value for each in arg.value.elements)
        else:
            yield arg.value


def read_as_a_number(node: cst.BaseExpression, module: Module) -> Iterator[Read]:
    """Where the device tensors come from that are read as a number.

    That is the expression itself, or, where it has several origins, those that are tensors:
    `longest = lengths.max()` under `if longest is None:`.
    """
    for source in _sources(node, module):
        value = module.value(source)
        if value.only(Kind.HOST):
            continue
        if value.has(_NO_NUMBERS) or not _is_computed(source, module):
            off_device(None, source, module)
            continue
        found = operand_of_value(value) or off_device(None, source, module)
        if found is not None:
            # A parameter of any function may be a number: only a device tensor is waited for.
            operand = found if found.sure else Operand(False, False, found.parameters)
            sure = source is node and (value.has(Kind.DEVICE) or not found.sure)
            yield Read(source, operand, sure)


def _is_computed(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is an element of a tensor or computed from one, or what a caller
    passes; the attributes of a batch and what a model tells may well be numbers."""
    left, asked = [node], 0
    while left and asked < _MOST_SOURCES:
        part, asked = left.pop(), asked + 1
        made = origin_of(part, module)
        if isinstance(made, cst.BinaryOperation):
            left += [made.left, made.right]
        elif isinstance(made, cst.UnaryOperation):
            left.append(made.expression)
        elif isinstance(made, cst.Subscript):
            if _is_element(made, module):
                return True
        elif isinstance(made, cst.Call):
            owner = receiver(made)
            torchs = any(name.startswith("torch.") for name in module.resolve(made.func))
            known = method_name(made) in _MAKE_NUMBERS
            if torchs or (known and module.value(owner).has(_MAY_BE_TENSORS)):
                return True
            if module.calls(made, "builtins.max", "builtins.min", "builtins.sum"):
                left += [arg.value for arg in made.args]
        elif isinstance(made, cst.Name):
            hows = {each.how for each in module.flow.reaching(made)}
            if hows and hows <= {How.PARAMETER, How.ITERATION}:
                return True
        elif module.values.is_buffer(made):
            return True
    return False


def _is_element(item: cst.Subscript, module: Module) -> bool:
    """`lengths[i]`, `batch["lengths"][i]`; not `sizes[0]` of what is unpacked from something
    unknown, and of what a batch keeps under another name."""
    index, owner = item.slice[0].slice, item.value
    if isinstance(index, cst.Index) and isinstance(module.literal(index.value), str):
        return False
    if not module.value(owner).has(_MAY_BE_TENSORS):
        return False
    if isinstance(owner, cst.Name):
        whole = all(not each.path for each in module.flow.reaching(owner))
        return whole or module.value(owner).only(Kind.DEVICE)
    called = owner.attr.value if isinstance(owner, cst.Attribute) else ""
    return not called or sounds_like_tensors(called) or module.values.is_buffer(owner)


def _sources(node: cst.BaseExpression, module: Module) -> list[cst.BaseExpression]:
    """The expressions that a number can come from, as far as callers decide between them; the
    number itself if there is only one."""
    left = [node]
    found: list[cst.BaseExpression] = []
    while left and len(found) < _MOST_SOURCES:
        part = left.pop()
        bindings = module.flow.reaching(part)
        if isinstance(part, cst.IfExp):
            left += [part.orelse, part.body]
        elif isinstance(part, cst.BooleanOperation):
            left += [part.right, part.left]
        elif len(bindings) > 1 or (bindings and isinstance(bindings[0].value, _EITHER)):
            plain = [each for each in bindings if each.how is How.ASSIGNMENT and not each.path]
            left += [each.value for each in plain if isinstance(each.value, _MADE)]
        elif part is node or demands(part, module):
            found.append(part)
    return found

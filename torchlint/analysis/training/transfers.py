"""Where a tensor is copied to the device: `x.to(device)`, `x.cuda()`, `x.type_as(y)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.arrays.tensor_constructors import names_gpu
from torchlint.analysis.literals import argument_node, has_star_args
from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import snake
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_LONGEST = 12
_DEVICE = re.compile(r"(?:^|_)(?:dev|devices?|gpus?|cuda|rank)(?:_|\d|$)|device")
_NO_DEVICE = re.compile(r"(?:^|_)(?:cpu|d?types?)(?:_|\d|$)")
_STAYS = frozenset(
    """
    view reshape unsqueeze squeeze expand repeat permute transpose t flatten contiguous clone detach
    float double half bfloat16 long int short byte bool type to
    add add_ sub sub_ mul mul_ div div_ pow neg fill_ zero_ normal_ uniform_ random_ bernoulli_
    abs ceil clamp cos exp floor log round sigmoid sin sqrt square tanh
    """.split()
)
"""Methods of a tensor whose result is on its device, if they are given only numbers."""

_ELEMENTWISE = tuple(
    f"torch.{name}"
    for name in "abs atan ceil cos exp flip floor log neg pow round sigmoid sin softmax sqrt "
    "square tanh tril triu".split()
)
_BESIDE = Kind.HOST | Kind.SCALAR | Kind.PARAMETER
"""What a tensor in host memory can be computed with, so that the result is there, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """A call that copies a tensor to the device.

    `target` is what says where to, which `.cuda()` need not have. With `like` it is a tensor, so
    that the copy takes its type as well; `sure` is False if it may be something else.
    """

    call: cst.Call
    tensor: cst.BaseExpression
    target: cst.Arg | None = None
    like: bool = False
    sure: bool = True


def transfer_of(call: cst.Call, module: Module) -> Transfer | None:
    """The call as a transfer; None for `.to("cpu")`, `.to(torch.long)` and all others."""
    func = call.func
    if not isinstance(func, cst.Attribute) or has_star_args(call):
        return None
    if func.attr.value == "cuda":
        return Transfer(call, func.value, argument_node(call, "device", 0))
    if func.attr.value not in ("to", "type_as"):
        return None
    target = argument_node(call, "device", 0) or argument_node(call, "other", 0)
    if target is None:
        return None
    if func.attr.value == "to" and names_device(target.value, module):
        return Transfer(call, func.value, target)
    value = module.value(target.value)
    if not value.has(TENSORS | Kind.LIKELY | Kind.PARAMETER) or value.only(Kind.CPU):
        return None
    if _NO_DEVICE.search(snake(dotted_text(target.value).rpartition(".")[2])):
        return None
    tensor = value.has(TENSORS) and value.only(TENSORS | Kind.PARAMETER)
    sure = tensor or func.attr.value == "type_as"
    return Transfer(call, func.value, target, like=True, sure=sure)


def names_device(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a device other than the CPU, by its value or by its words:
    `"cuda"`, `x.device`, `args.gpus[0]`, `rank`, `get_device()`, `f"cuda:{rank}"`."""
    if isinstance(node, cst.FormattedString):
        return "cuda" in module.source(node)
    if names_gpu(node, module):
        return True
    called = node.func if isinstance(node, cst.Call) else node
    while isinstance(called, cst.Subscript):
        called = called.value
    last = called.attr.value if isinstance(called, cst.Attribute) else dotted_text(called)
    word = snake(last)
    named = _DEVICE.search(word) and not _NO_DEVICE.search(word)
    return bool(named) and not module.values.is_cpu(node)


def transfer_behind(made: cst.BaseExpression, module: Module) -> Transfer | None:
    """The transfer that follows on an expression in its statement, if nothing in between needs
    more than the tensor and numbers: `(torch.ones(n) * 2).view(-1, 1).to(device)`."""
    return follow(made, module)[1]


def follow(made: cst.BaseExpression, module: Module) -> tuple[cst.BaseExpression, Transfer | None]:
    """The largest expression around a tensor whose result is on the same device, and the transfer
    behind it, if there is one."""
    node = made
    for _ in range(_LONGEST):
        parent = module.parent(node)
        if isinstance(parent, cst.Attribute) and parent.value is node:
            call = module.parent(parent)
            if not isinstance(call, cst.Call) or call.func is not parent:
                break
            transfer = transfer_of(call, module)
            if transfer is not None:
                return node, transfer
            if method_name(call) not in _STAYS:
                break
            node = call
        elif isinstance(parent, cst.Arg):
            call = module.call_with(node)
            if call is None or not _gives_on(node, call, module):
                break
            node = call
        elif isinstance(parent, cst.BaseExpression) and _keeps_place(node, parent, module):
            node = parent
        else:
            break
    return node, None


def _keeps_place(node: cst.CSTNode, parent: cst.CSTNode, module: Module) -> bool:
    """Whether what a parent makes of a tensor is on its device: `2 * x`, `x < 1`, `x[:, 0]`."""
    others: list[cst.CSTNode] = []
    known = Kind.HOST
    if isinstance(parent, cst.BinaryOperation):
        others, known = [parent.left, parent.right], _BESIDE
    elif isinstance(parent, cst.Comparison):
        others = [parent.left, *(each.comparator for each in parent.comparisons)]
        known = _BESIDE | Kind.CPU  # mostly of the tensor itself: `x[:, None] == x[None, :]`
    elif isinstance(parent, cst.Subscript) and parent.value is node:
        items = [each.slice for each in parent.slice]
        others = [each.value for each in items if isinstance(each, cst.Index)]
    elif not isinstance(parent, cst.UnaryOperation):
        return False
    return all(
        each is node or module.value(each).only(known) or _repeats(each, node, module)
        for each in others
    )


def _repeats(other: cst.CSTNode, node: cst.CSTNode, module: Module) -> bool:
    """Whether the other side is made of the same tensor and of numbers: `x / (1 + x)`."""
    if isinstance(other, cst.BinaryOperation):
        sides = (other.left, other.right)
        return all(
            _repeats(each, node, module) or module.value(each).only(Kind.HOST) for each in sides
        )
    return (
        isinstance(node, cst.Name) and isinstance(other, cst.Name) and (other.value == node.value)
    )


def _gives_on(node: cst.BaseExpression, call: cst.Call, module: Module) -> bool:
    """Whether a call gives a tensor that is computed from one and from numbers: `torch.exp(x)`."""
    if module.calls(call, "torch.autograd.Variable"):
        return True
    others = [arg.value for arg in call.args if arg.value is not node]
    return module.calls(call, *_ELEMENTWISE) and all(
        module.value(each).only(Kind.HOST) for each in others
    )

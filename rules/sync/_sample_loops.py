"""Loops over the elements of a tensor, or over the samples of a batch."""

import libcst as cst

from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind, sounds_like_tensors
from torchlint.rule import Module

_ONE_TENSOR = frozenset(
    "abs argmax argmin bool cat clamp clone cpu cuda detach eq exp flatten float ge gt int le log "
    "long lt masked_select mean ne norm reshape sigmoid softmax squeeze stack sum to unsqueeze "
    "view".split()
)
"""Methods and functions that make a single tensor, and nothing else that can be iterated over."""
_NUMBERS = (cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.BitAnd, cst.BitOr)


def is_one_tensor(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is certainly a tensor, not a list or tuple of some."""
    origin = origin_of(node, module)
    if isinstance(origin, cst.BinaryOperation):
        computes = isinstance(origin.operator, _NUMBERS)
    elif isinstance(origin, cst.Call):
        computes = method_name(origin) in _ONE_TENSOR
    else:
        computes = isinstance(origin, cst.Comparison)
    return computes and module.value(node).only(TENSORS | Kind.PARAMETER)


def goes_over_samples(iterable: cst.BaseExpression, module: Module) -> bool:
    """Whether a loop goes over a tensor, or over `range(x.shape[0])`, `range(len(x))`."""
    if not isinstance(iterable, cst.Call):
        return _may_be_iterated(iterable, module)
    names = module.resolve(iterable.func)
    if "builtins.range" in names:
        return any(_is_first_size(arg.value, module) for arg in iterable.args)
    if names in (("builtins.zip",), ("builtins.enumerate",)):
        return any(goes_over_samples(arg.value, module) for arg in iterable.args)
    return is_one_tensor(iterable, module)


def _may_be_iterated(node: cst.BaseExpression, module: Module) -> bool:
    """A tensor, or a parameter that is called like one."""
    called = isinstance(node, cst.Name) and sounds_like_tensors(node.value)
    return (called and module.flow.is_parameter(node)) or is_one_tensor(node, module)


def _is_first_size(count: cst.BaseExpression | None, module: Module) -> bool:
    """`x.shape[0]`, `x.size(0)`, `len(x)`, a name for it, and `n` after `n, c, h, w = x.shape`."""
    bindings = module.flow.reaching(count)
    if len(bindings) == 1:
        count = bindings[0].value
        if bindings[0].path == (0,):
            return _is_shape(count)
    if isinstance(count, cst.Subscript):
        index = count.slice[0].slice
        first = isinstance(index, cst.Index) and module.literal(index.value) == 0
        return first and _is_shape(count.value)
    if not isinstance(count, cst.Call) or not count.args:
        return False
    given = count.args[0].value
    if "builtins.len" in module.resolve(count.func):
        return _may_be_iterated(given, module)
    return method_name(count) == "size" and module.literal(given) == 0


def _is_shape(node: cst.BaseExpression | None) -> bool:
    """`x.shape`, `x.size()`."""
    name = node.func if isinstance(node, cst.Call) else node
    return isinstance(name, cst.Attribute) and name.attr.value in ("shape", "size")


def rounds(node: cst.CSTNode, module: Module) -> str:
    """What to say of the loop around code that goes over samples in each step, if there is one."""
    for loop in module.loops.loops_around(node):
        if isinstance(loop, cst.For) and goes_over_samples(loop.iter, module):
            row = module.span(loop)[0].row
            return f" The loop in line {row} makes it wait once for each sample."
    return ""

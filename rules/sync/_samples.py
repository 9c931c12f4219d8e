"""Loops over the samples of a batch or the elements of a tensor, and what waits in each round."""

import libcst as cst

from torchlint.analysis.training.syncs import Operand, operand_of_value
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

from ._masks import is_mask

_ONE_TENSOR = frozenset(
    "abs argmax argmin bool cat clamp clone cpu cuda detach eq exp flatten float ge gt int le log "
    "long lt masked_select mean ne norm reshape sigmoid softmax squeeze stack sum to unsqueeze "
    "view".split()
)
"""Methods and functions that make a single tensor, and nothing else that can be iterated over."""
_NUMBERS = (cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.BitAnd, cst.BitOr)
_FINDS = frozenset({"argwhere", "masked_select", "nonzero", "unique", "unique_consecutive"})
"""Their results have a size that the host must wait for."""
_READS = frozenset({"item", "tolist"})
_ADDS = frozenset({"index_add_", "scatter_add_"})


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
        return is_one_tensor(iterable, module)
    names = module.resolve(iterable.func)
    if "builtins.range" in names:
        return any(_is_first_size(arg.value, module) for arg in iterable.args)
    if names in (("builtins.zip",), ("builtins.enumerate",)):
        return any(is_one_tensor(arg.value, module) for arg in iterable.args)
    return is_one_tensor(iterable, module)


def waits_for(code: cst.CSTNode, module: Module) -> Operand | None:
    """The first tensor on which a part of the code makes the host wait: `x.item()`,
    `torch.unique(x)`, `x[x > 0]`, `x[:length]`."""
    for node in module.within(code):
        waited = _waited_for(node, module)
        value = module.value(waited)
        if value.has(Kind.DEVICE) and not value.has(Kind.HOST):
            return Operand(True, True, ())
        operand = operand_of_value(value)
        if operand is not None:
            return operand
    return None


def adds_to(code: cst.CSTNode, module: Module) -> Operand | None:
    """The tensor from outside to which a part of the code adds at the places that an index
    names."""
    for call in module.within(code):
        if not isinstance(call, cst.Call) or method_name(call) not in _ADDS:
            continue
        assert isinstance(call.func, cst.Attribute)
        total = call.func.value
        if isinstance(total, cst.Name) and not _is_made_in(code, total, module):
            return operand_of_value(module.value(total))
    return None


def _is_made_in(code: cst.CSTNode, name: cst.Name, module: Module) -> bool:
    return any(code in module.ancestors(each.node) for each in module.flow.reaching(name))


def _waited_for(node: cst.CSTNode, module: Module) -> cst.BaseExpression | None:
    if isinstance(node, cst.Index):
        return node.value if is_mask(node.value, module) else None
    if isinstance(node, cst.Slice):
        return node.upper or node.lower
    if not isinstance(node, cst.Call) or method_name(node) not in _FINDS | _READS:
        return None
    assert isinstance(node.func, cst.Attribute)
    function = any(name.startswith("torch.") for name in module.resolve(node.func))
    given = module.argument(node, "input", 0) if function else None
    return given or node.func.value


def _is_first_size(count: cst.BaseExpression | None, module: Module) -> bool:
    """`x.shape[0]`, `x.size(0)`, `len(x)`, a name for it, and `n` after `n, c, h, w = x.shape`."""
    bindings = module.flow.reaching(count) if isinstance(count, cst.Name) else []
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
        return is_one_tensor(given, module)
    return method_name(count) == "size" and module.literal(given) == 0


def _is_shape(node: cst.BaseExpression | None) -> bool:
    """`x.shape`, `x.size()`."""
    name = node.func if isinstance(node, cst.Call) else node
    return isinstance(name, cst.Attribute) and name.attr.value in ("shape", "size")

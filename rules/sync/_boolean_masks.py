"""Masks: tensors of truths that choose elements of others."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name, reads_of_targets, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

COMPARES = frozenset({"eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "lt", "ne"})
TRUTHS = COMPARES | {"bool", "isclose", "isin", "logical_and", "logical_not", "logical_or"}
_SAME_ELEMENTS = frozenset(
    "clone contiguous cpu cuda detach expand expand_as flatten permute repeat reshape squeeze t to "
    "transpose unsqueeze view".split()
)
_MASK_WORDS = re.compile(r"(?:^|_)(?:masks?|filter)$")
_REDUCTIONS = frozenset({"mean", "sum"})
_OF_EACH = frozenset("abs clamp detach double exp float log neg pow square sqrt".split())
_LOSS_WORDS = re.compile(
    r"(?:^|_)(?:loss|losses|criterion|cross_entropy|mse|l1|bce|nll|kl_div)(?:_|$)|Loss"
)
_MOST_PARTS = 8
_MOST_NAMES = 2


def is_mask(node: cst.BaseExpression, module: Module) -> bool:
    """`x > 0`, `~(x > 0)`, `(x > 0) & (x < 3)`, `torch.isnan(x)`, `x.bool()`, a name for one, also
    in another shape; and what is called a mask and nothing more is known of."""
    left: list[cst.BaseExpression] = [node]
    for _ in range(_MOST_PARTS):
        if not left:
            break
        part = left.pop()
        made = origin_of(part, module)
        if isinstance(made, cst.Comparison):
            return not any(
                isinstance(each.operator, cst.Is | cst.IsNot | cst.In | cst.NotIn)
                for each in made.comparisons
            )
        if isinstance(made, cst.UnaryOperation):
            if isinstance(made.operator, cst.BitInvert):
                left.append(made.expression)
        elif isinstance(made, cst.BinaryOperation):
            if isinstance(made.operator, cst.BitAnd | cst.BitOr | cst.BitXor):
                left.append(made.left)
        elif isinstance(made, cst.Call):
            if method_name(made) in TRUTHS or _makes_truths(made, module):
                return True
            if method_name(made) in _SAME_ELEMENTS and receiver(made) is not None:
                left.append(receiver(made))
        elif any(_MASK_WORDS.search(_called(each, module)) for each in (part, made)):
            return not module.value(made).has(Kind.HOST | Kind.CONTAINER)
    return False


def _called(node: cst.BaseExpression, module: Module) -> str:
    """The last word of a name, or of the key of an item: `batch["mask"]`."""
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
        key = module.literal(node.slice[0].slice.value)
        return key if isinstance(key, str) else ""
    return dotted_text(node).rpartition(".")[2]


def _makes_truths(call: cst.Call, module: Module) -> bool:
    """`torch.eye(3, dtype=torch.bool)`, `x.to(torch.bool)`."""
    given = (arg.value for arg in call.args)
    return any("torch.bool" in module.resolve(each) for each in given)


def telling(read: cst.Subscript, mask: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """Of `x[mask]`, the part that tells more of whether both are tensors on the device."""
    masked, chosen = module.value(mask), module.value(read.value)
    if masked.only(Kind.DEVICE) or masked.has(Kind.HOST | Kind.CPU):
        return mask
    return read.value if chosen.only(Kind.DEVICE) or not masked.has(TENSORS) else mask


def is_only_reduced(chosen: cst.BaseExpression, module: Module, names: int = 0) -> bool:
    """Whether all that is made of chosen elements is a sum, a mean or a loss, for which a product
    with the mask does as well."""
    node: cst.CSTNode = chosen
    for _ in range(_MOST_PARTS):
        parent = module.parent(node)
        if isinstance(parent, cst.Attribute):
            call = module.parent(parent)
            if not isinstance(call, cst.Call) or call.func is not parent:
                return False
            if parent.attr.value in _REDUCTIONS:
                return True
            if parent.attr.value not in _OF_EACH:
                return False
            node = call
        elif isinstance(parent, cst.Arg):
            taker = module.parent(parent)
            called = method_name(taker) if isinstance(taker, cst.Call) else ""
            if called in _REDUCTIONS or _LOSS_WORDS.search(called):
                return True
            if taker is None or called not in _OF_EACH:
                return False
            node = taker
        elif isinstance(parent, cst.BinaryOperation | cst.UnaryOperation):
            node = parent
        elif isinstance(parent, cst.Assign) and names < _MOST_NAMES:
            reads = list(reads_of_targets(parent, module))
            return bool(reads) and all(is_only_reduced(each, module, names + 1) for each in reads)
        else:
            return False
    return False

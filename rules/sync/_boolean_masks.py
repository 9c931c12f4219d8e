"""Masks: tensors of truths that choose elements of others."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

COMPARES = frozenset({"eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "lt", "ne"})
TRUTHS = COMPARES | {"bool", "isclose", "isin", "logical_and", "logical_not", "logical_or"}
_SAME_ELEMENTS = frozenset(
    "clone contiguous cpu cuda detach expand expand_as flatten permute repeat reshape squeeze t to "
    "transpose unsqueeze view".split()
)
_MASK_WORDS = re.compile(r"(?:^|_)masks?$")
_MOST_PARTS = 8


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
        elif _MASK_WORDS.search(dotted_text(made).rpartition(".")[2]):
            return not module.value(made).has(Kind.HOST | Kind.CONTAINER)
    return False


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

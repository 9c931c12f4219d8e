"""Masks: tensors of truths that choose elements of others."""

import libcst as cst

from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name
from torchlint.rule import Module

COMPARES = frozenset({"eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "lt", "ne"})


def is_mask(node: cst.BaseExpression, module: Module) -> bool:
    """`x > 0`, `~(x > 0)`, `(x > 0) & (x < 3)`, `torch.isnan(x)`, a name for one."""
    made = origin_of(node, module)
    if isinstance(made, cst.UnaryOperation):
        made = origin_of(made.expression, module)
    elif isinstance(made, cst.BinaryOperation):
        made = origin_of(made.left, module)
    if isinstance(made, cst.Call):
        return method_name(made) in COMPARES
    return isinstance(made, cst.Comparison)

"""What a call takes the softmax of: `F.softmax(x, 1)`, `x.softmax(1)`, `self.softmax(x)`."""

from typing import Final, NamedTuple

import libcst as cst

from torchlint.analysis.layers.expression_layers import layers_of
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Match, Module

_FUNCTIONS: Final = frozenset({"torch.softmax", "torch.nn.functional.softmax"})


class Softmax(NamedTuple):
    """The call, and the expressions for its input and its dimension, if they are passed."""

    call: cst.Call
    scores: cst.BaseExpression | None
    dim: cst.BaseExpression | None


def softmax_of(node: cst.CSTNode | None, module: Module) -> Softmax | None:
    """The softmax that an expression is; None for anything else."""
    if not isinstance(node, cst.Call):
        return None
    names, given = module.resolve(node.func), module.argument(node, "input", 0)
    if names:
        found = Softmax(node, given, module.argument(node, "dim", 1))
        return None if _FUNCTIONS.isdisjoint(names) else found
    if method_name(node) == "softmax" and dotted_text(node.func) != "self.softmax":
        return Softmax(node, receiver(node), module.argument(node, "dim", 0))
    layers = layers_of(module)
    made = layers.chain(node.func).first
    if len(made) != 1 or made[0].call is None:
        return None
    if not layers.is_one_of(made[0].call, ("torch.nn.Softmax",)):
        return None
    return Softmax(node, given, module.argument(made[0].call, "dim", 0))


def is_method(match: Match) -> bool:
    """Whether a match is a method of an object: `x.log()`, not `torch.log(x)`."""
    return not match.module.resolve(match.call.func)

"""Loops that do something with one gradient after the other."""

from typing import NamedTuple

import libcst as cst

from torchlint.analysis.training.guards import words
from torchlint.rule import Module

_SAYS_NOTHING = frozenset({"data", "grad", "None", "requires_grad"})
_ALL = ("parameters()", "param_groups", '["params"]', "['params']")


class GradientLoop(NamedTuple):
    """A loop over parameters or gradients, and the variable for each of them."""

    loop: cst.For
    variable: str

    def is_over_all(self, module: Module) -> bool:
        """Whether it is written to be over all parameters of a model or optimizer."""
        return any(each in module.source(self.loop.iter) for each in _ALL)

    def picks_some(self, module: Module) -> bool:
        """Whether a condition is about more than whether there is a gradient."""
        about = {*_SAYS_NOTHING, self.variable}
        return any(not about.issuperset(asked) for asked in module.once(_asked, self.loop))


def _asked(module: Module, loop: cst.For) -> list[list[str]]:
    """The names in each condition of a loop."""
    return [
        words(each.test) for each in module.within(loop) if isinstance(each, cst.If | cst.CompIf)
    ]


def gradient_loop(tensor: cst.BaseExpression | None, module: Module) -> GradientLoop | None:
    """The loop whose variable is a gradient, or has one: `p.grad` in a loop over parameters, or
    `g` in a loop over gradients."""
    over = "grad"
    node = tensor
    while isinstance(node, cst.Attribute) and node.attr.value in ("data", "grad"):
        over = "param" if node.attr.value == "grad" else over
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    loop = next(module.loops.loops_around(node), None)
    if not isinstance(loop, cst.For) or node.value not in words(loop.target):
        return None
    return GradientLoop(loop, node.value) if over in module.source(loop.iter) else None

"""Loops that train and have few rounds."""

import libcst as cst

from torchlint.rule import Match, because


def has_few_rounds(match: Match) -> bool:
    """Whether the loop counts epochs, or its optimizer computes the loss several times a step."""
    module, loop = match.module, match.module.step_loop(match.node)
    if loop is None or not isinstance(loop.node, cst.For):
        return False
    if "epoch" in module.source(loop.node.target):
        return because(True, "{} counts epochs, so it may have few rounds", loop.node)
    for each in module.within(loop.node):
        if isinstance(each, cst.FunctionDef) and module.loops.is_closure(each):
            return because(True, "each round takes long: the optimizer calls {} many times", each)
    return False

"""Loops that train and have few rounds."""

import libcst as cst

from torchlint.rule import Match, Module, because, once


def has_few_rounds(match: Match) -> bool:
    """Whether the loop counts epochs, or its optimizer computes the loss several times a step."""
    module, loop = match.module, match.module.step_loop(match.node)
    if loop is None or not isinstance(loop.node, cst.For):
        return False
    if "epoch" in module.source(loop.node.target):
        return because(True, "{} counts epochs, so it may have few rounds", loop.node)
    closure = _closure_in(loop.node, module)
    if closure is None:
        return False
    return because(True, "each round takes long: the optimizer calls {} many times", closure)


@once
def _closure_in(loop: cst.For, module: Module) -> cst.FunctionDef | None:
    """What a loop passes to `optimizer.step`."""
    functions = (node for node in module.within(loop) if isinstance(node, cst.FunctionDef))
    return next(filter(module.loops.is_closure, functions), None)

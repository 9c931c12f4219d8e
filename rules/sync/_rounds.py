"""How often a step does what a rule reports: loops over parameters, samples or the like."""

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.iteration import is_over_loader
from torchlint.rule import Module

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_MAYBE_STEPS = frozenset({"range", "count", "tqdm", "trange", "enumerate", "iter"})
"""What loops of whole steps go over, as others do."""
_LONGEST = 40


def for_each(node: cst.CSTNode, module: Module) -> str:
    """A sentence, with a space before it, if a loop repeats a place within one step; else nothing:
    ` It does so once for each `p` of `parameters`.`"""
    loop = _repeating(node, module)
    if loop is None:
        return ""
    over = module.source(loop.iter)
    where = f"`{over}`" if len(over) <= _LONGEST else f"the loop in line {module.span(loop)[0].row}"
    return f" It does so once for each `{module.source(loop.target)}` of {where}."


def _repeating(node: cst.CSTNode, module: Module) -> cst.For | cst.CompFor | None:
    """The innermost loop or comprehension around a place, if it is certainly no loop of steps."""
    child = node
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef | cst.Lambda | cst.While):
            return None
        if isinstance(above, _COMPREHENSIONS) and child is not above.for_in:
            return above.for_in
        if isinstance(above, cst.For) and child is above.body:
            return above if _is_within_step(above, module) else None
        child = above
    return None


def _is_within_step(loop: cst.For, module: Module) -> bool:
    if loop in module.loops.step_loops:
        return False
    if module.step_loop(loop) is not None:
        return True
    called = (
        dotted_text(loop.iter.func).rpartition(".")[2] if isinstance(loop.iter, cst.Call) else ""
    )
    return called not in _MAYBE_STEPS and not is_over_loader(loop.iter, module.values)

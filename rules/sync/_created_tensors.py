"""Where a tensor that was just created is copied to the device."""

import re

import libcst as cst

from torchlint.analysis.training.transfers import Transfer, follow, transfer_behind
from torchlint.rule import Match, Module, because

_NOT_YET = re.compile(r"\bis None\b|\blen\([^()]{0,80}\) == 0|\bhasattr\(|\bnot in\b")
_DEEPEST = 3


def transfer_of_created(
    made: cst.BaseExpression, module: Module, *, depth: int = _DEEPEST
) -> Transfer | None:
    """The transfer of a tensor that was just created: in the same statement, or where its name is
    used next, if that runs as often."""
    behind = transfer_behind(made, module)
    if behind is not None:
        return behind
    reads = reads_of_created(made, module)
    if not reads:
        return because(None, "no copy to a device follows on it")
    first = reads[0]
    transfer = transfer_behind(first, module)
    if transfer is None and depth:  # `mask = mask < 0.5`
        transfer = transfer_of_created(first, module, depth=depth - 1)
    if transfer is None:
        said = "{:code} is first used in {:line}, and not copied to a device there"
        return because(None, said, first, first)
    if not run_alike(first, made, module):
        return because(None, "the copy, in {:line}, may run more or less often than this", first)
    return transfer


def reads_of_created(made: cst.BaseExpression, module: Module) -> list[cst.Name]:
    """The reads of the name that a created tensor is given, in source order."""
    whole, _ = follow(made, module)
    assign = module.parent(whole)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return []
    target = assign.targets[0].target
    return module.reads(assign, target.value) if isinstance(target, cst.Name) else []


def run_alike(read: cst.Name, made: cst.BaseExpression, module: Module) -> bool:
    """Whether two places are in the same loop of the same function."""
    loops = [next(module.loops.loops_around(each), None) for each in (read, made)]
    return loops[0] is loops[1] and module.function(read) is module.function(made)


def may_run_once(match: Match) -> bool:
    """Whether a condition asks for what is not there yet: `x is None`, `len(state) == 0`."""
    module = match.module
    for each in module.conditions(match.call):
        test = getattr(each, "test", None)
        if test is not None and _NOT_YET.search(module.source(test)):
            return because(True, "{} may hold only once", test)
    return False

"""What runs under a profiler: how much of the training, and how often."""

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.rule import Match, Module, because

_MEASURES: Final = re.compile(r"prof|bench|measure|nvtx|trace", re.IGNORECASE)
_SHORT: Final = 1000


def trains_under(match: Match) -> bool:
    """Whether all steps of a training run under a profiler."""
    said = "no whole training runs in the `with` block of this profiler, as far as the file shows"
    return any(_trainings(match)) or because(False, said)


def takes_one_pass(match: Match) -> bool:
    """Whether the steps under it are those of one loop, not of one epoch after the other."""
    one = not any(repeats for _, repeats in _trainings(match))
    return one and because(True, "it records one pass over the data, and not all epochs")


def is_to_measure(match: Match) -> bool:
    """Whether the file or the function is there to measure."""
    function = match.module.function(match.node)
    names = [match.module.path.replace("\\", "/").rpartition("/")[2]]
    names += [function.name.value] if function else []
    for name in names:
        if _MEASURES.search(name):
            return because(True, "the name `{}` says that this is there to measure", name)
    return False


def records_all(match: Match) -> bool:
    """Whether a profiler is not told which steps to record, or whether to record at all."""
    module, call = match.module, match.call
    enabled = module.argument(call, "enabled", 0)
    if module.argument(call, "schedule") is not None:
        return because(False, "a `schedule` chooses the steps that it records")
    if module.has_star_kwargs(call):
        return because(False, "`**` of this call may choose the steps that it records")
    if enabled is None or module.literal(enabled) is True:
        return True
    return because(False, "`enabled` is {:code} here", enabled)


def _trainings(match: Match) -> Iterator[tuple[cst.CSTNode, bool]]:
    """The step loops that run in the `with` block of a profiler, and whether it repeats them."""
    module = match.module
    item = module.parent(match.node)
    around = module.parent(item) if isinstance(item, cst.WithItem) else None
    if not isinstance(around, cst.With):
        return
    for loop in _long_loops(around.body, module):
        yield loop, _loops_between(loop, around, module)
    for call in module.calls_within(around.body):
        called = module.definitions.callee(call)
        for loop in _long_loops(called.body, module) if isinstance(called, cst.FunctionDef) else ():
            repeats = _loops_between(call, around, module) or _loops_between(loop, None, module)
            yield loop, repeats


def _long_loops(body: cst.BaseSuite, module: Module) -> list[cst.CSTNode]:
    """The step loops in a block that nothing keeps short."""
    return [
        loop
        for loop in module.loops.step_loops
        if body in module.ancestors(loop) and not _is_short(loop, module)
    ]


def _is_short(loop: cst.For | cst.While, module: Module) -> bool:
    """Whether a loop ends early, or says that it has few rounds."""
    if any(isinstance(each, cst.Break | cst.Return) for each in module.within(loop.body)):
        return True
    if isinstance(loop, cst.While):
        return False
    counts = [each for each in module.within(loop.iter) if isinstance(each, cst.Integer)]
    numbers = map(module.literal, counts)
    return any(isinstance(number, int) and 1 < number <= _SHORT for number in numbers)


def _loops_between(node: cst.CSTNode, around: cst.With | None, module: Module) -> bool:
    """Whether another loop runs a node more than once, inside of `around`."""
    return any(
        around is None or around in module.ancestors(loop)
        for loop in module.loops.loops_around(node)
    )

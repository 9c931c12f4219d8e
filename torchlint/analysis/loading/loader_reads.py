"""What a file does with the batches of a loader that it builds."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.once import once
from torchlint.analysis.steps.evaluations import sounds_like_evaluation
from torchlint.analysis.uses import (
    calls_of,
    method_name,
    reads_after,
    reads_of_targets,
    receiving_parameter,
)
from torchlint.because import because
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module

_DEEPEST = 3
_FEW = 10
"""The number of the last batch that is read before a `break`: no more than a look at the data."""
_HANDS_ON = re.compile(r"sampl|generat|data|batch|load", re.IGNORECASE)
"""In the name of a function that may draw batches from the loader for somebody else."""
_ABOUT = frozenset({"dataset", "batch_size", "sampler", "batch_sampler", "num_workers"})
_ASK = ("builtins.len", "builtins.print", "builtins.type", "builtins.isinstance", "builtins.id")


class Reads(Enum):
    """What the batches of a loader are read for."""

    NOTHING = "nothing"
    """It is only counted, or a few batches are looked at, or none is used."""
    EVALUATION_ONCE = "one evaluation"
    EVALUATION = "evaluation"
    OTHER = "other"
    """Training, or what nobody knows."""


@once
def reads_of(call: cst.Call, module: Module) -> Reads:
    """What the loader that a call builds is read for, as far as its file shows."""
    assign = module.parent(call)
    uses = reads_after(assign, module)
    if not uses:
        return _read(call, module, 0) or Reads.OTHER
    found = _joined(uses, module, 0)
    if found is None:  # counted; other files may read the loader of a module
        return Reads.OTHER if _is_exported(call, module) else Reads.NOTHING
    return found


def feeds_nothing(call: cst.Call, module: Module) -> bool:
    """Whether no training and no evaluation of the file reads the loader that a call builds."""
    nothing = reads_of(call, module) is Reads.NOTHING
    return nothing and because(
        True, "the file only counts this loader, or looks at a few of its batches"
    )


def _joined(uses: Iterable[cst.BaseExpression], module: Module, depth: int) -> Reads | None:
    """What all of these uses together read the loader for; None if they only ask about it."""
    found = {_read(use, module, depth) for use in uses} - {None}
    order = (Reads.OTHER, Reads.EVALUATION, Reads.EVALUATION_ONCE, Reads.NOTHING)
    return next((each for each in order if each in found), None)


def _is_exported(node: cst.CSTNode, module: Module) -> bool:
    """Whether a file that is imported may bind what `node` builds."""
    guard = module.main_guard
    return module.function(node) is None and (
        guard is None or not any(above is guard for above in module.ancestors(node))
    )


def _read(use: cst.BaseExpression, module: Module, depth: int) -> Reads | None:
    """What one use of a loader reads it for; None if it only asks about the loader."""
    parent = module.parent(use)
    if isinstance(parent, cst.Attribute):
        return None if parent.attr.value in _ABOUT else Reads.OTHER
    call = module.call_with(use)
    if call is not None and module.calls(call, *_ASK):
        return None
    if call is not None and module.calls(call, "builtins.iter"):
        return _iterator(call, module)
    loop = loop_over(use, module)
    if loop is not None:
        return _looped(loop, module)
    return Reads.OTHER if call is None else _given(use, call, module, depth)


def loop_over(node: cst.BaseExpression, module: Module) -> cst.For | None:
    """The loop that goes over an iterable, through `enumerate`, `tqdm` and other wrappers."""
    call = module.call_with(node)
    while call is not None and module.definitions.callee(call) is None:
        node, call = call, module.call_with(call)
    loop = module.parent(node)
    return loop if isinstance(loop, cst.For) and loop.iter is node else None


def _iterator(made: cst.Call, module: Module) -> Reads:
    """`next(iter(loader))` outside loops, also by way of a name."""
    reads: list[cst.BaseExpression] = [*reads_of_targets(module.parent(made), module)]
    one = all(_gives_one_batch(each, module) for each in reads or [made])
    return Reads.NOTHING if one else Reads.OTHER


def _gives_one_batch(iterator: cst.BaseExpression, module: Module) -> bool:
    call = module.call_with(iterator)
    if call is None:
        method = module.parent(module.parent(iterator) or iterator)
        call = method if isinstance(method, cst.Call) else None
        found = call is not None and method_name(call) in ("next", "__next__")
    else:
        found = module.calls(call, "builtins.next")
    return found and next(module.loops.loops_around(iterator), None) is None


# loops over a loader -------------------------------------------------------------------------


def _looped(loop: cst.For, module: Module) -> Reads:
    if loop in _around_steps(module):
        return Reads.OTHER
    around = next(module.loops.loops_around(loop), None)
    if _does_nothing(loop.body, module) or (around is None and _stops_early(loop, module)):
        return Reads.NOTHING
    if not _evaluates(loop, module):
        return Reads.OTHER
    return Reads.EVALUATION_ONCE if _runs_once(loop, module) else Reads.EVALUATION


@once
def _around_steps(module: Module) -> frozenset[cst.CSTNode]:
    """Everything around a backward pass or an optimizer step."""
    return frozenset(each for step in module.loops.anchors for each in module.ancestors(step))


def _evaluates(loop: cst.For, module: Module) -> bool:
    """Whether a loop runs with gradients off, or in a function that evaluates. One that yields
    hands the batches on."""
    if any(isinstance(each, cst.Yield) for each in module.within(loop.body)):
        return False
    function = module.function(loop)
    inside = (each for each in loop.body.body if isinstance(each, cst.With))
    return (
        module.evaluations.grad_is_off(loop)
        or (function is not None and module.evaluations.only_evaluates(function))
        or any(
            module.evaluations.turns_grad_off(item.item) for each in inside for item in each.items
        )
    )


def _does_nothing(body: cst.BaseSuite, module: Module) -> bool:
    """Whether a block has only `pass`, `print(…)`, strings and jumps."""
    parts = [
        part
        for line in body.body
        for part in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    return all(
        isinstance(part, cst.Pass | cst.Break | cst.Continue)
        or (isinstance(part, cst.Expr) and _is_idle(part.value, module))
        for part in parts
    )


def _is_idle(value: cst.BaseExpression, module: Module) -> bool:
    if isinstance(value, cst.Call):
        return module.calls(value, "builtins.print")
    return isinstance(value, cst.BaseString | cst.Ellipsis)


def _stops_early(loop: cst.For, module: Module) -> bool:
    """Whether a loop ends after a few rounds, as with `if i == 1: break`."""
    for line in loop.body.body:
        if isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[-1], cst.Break):
            return True
        ends = isinstance(line, cst.If) and isinstance(last_statement(line.body), cst.Break)
        if isinstance(line, cst.If) and ends and _counts_to_few(line.test, loop, module):
            return True
    return False


def _counts_to_few(test: cst.BaseExpression, loop: cst.For, module: Module) -> bool:
    if not isinstance(test, cst.Comparison) or not isinstance(test.left, cst.Name):
        return False
    limit = module.literal(test.comparisons[0].comparator)
    targets = {each.value for each in module.within(loop.target) if isinstance(each, cst.Name)}
    return (
        isinstance(limit, int)
        and limit <= _FEW
        and test.left.value in targets
        and isinstance(
            test.comparisons[0].operator, cst.Equal | cst.GreaterThan | cst.GreaterThanEqual
        )
    )


def _runs_once(node: cst.CSTNode, module: Module, depth: int = 0) -> bool:
    """Whether code runs once in a run of its file: in no loop, and in no function that is called
    twice, in a loop, or from who knows where."""
    if next(module.loops.loops_around(node), None) is not None:
        return False
    function = module.function(node)
    if function is None:
        return True
    calls = list(calls_of(function, module))
    return depth < _DEEPEST and len(calls) == 1 and _runs_once(calls[0], module, depth + 1)


# functions that get a loader -----------------------------------------------------------------


def _given(use: cst.BaseExpression, call: cst.Call, module: Module, depth: int) -> Reads:
    """What a function reads a loader for that is an argument of its call."""
    function = module.definitions.callee(call)
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    if function is None:
        spelled = name.value if isinstance(name, cst.Name) else ""
        evaluates = sounds_like_evaluation(spelled) and not _HANDS_ON.search(spelled)
        return _evaluation(call, module) if evaluates else Reads.OTHER
    received = receiving_parameter(call, use, function)
    if received is None or depth >= _DEEPEST:
        return Reads.OTHER
    found = _received(module, received, depth + 1)
    return _evaluation(call, module) if found is Reads.EVALUATION_ONCE else found


@once
def _received(module: Module, param: cst.Param, depth: int) -> Reads:
    return _joined(module.reads(param, param.name.value), module, depth) or Reads.OTHER


def _evaluation(call: cst.Call, module: Module) -> Reads:
    return Reads.EVALUATION_ONCE if _runs_once(call, module) else Reads.EVALUATION

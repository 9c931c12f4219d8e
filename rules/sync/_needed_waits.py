"""Waits for the device or for other processes that somebody needs."""

import re

import libcst as cst

from torchlint.analysis.training.clocks import clock_reads
from torchlint.analysis.uses import method_name
from torchlint.rule import Match, Module, because

_MEASURES = re.compile(r"(?:^|_)(?:time|timed|timing|bench|benchmark|profile|measure)(?:_|$)")
_WAITS = re.compile(r"barrier|synchroni[sz]e|wait_for")


def is_timed(match: Match) -> bool:
    """Whether a clock is read in the same round of the same loop, or a function measures."""
    function = match.module.function(match.call)
    if function is not None and _MEASURES.search(function.name.value):
        return because(True, "`{}` measures times, by its name", function.name.value)
    clock = match.module.once(_timed).get(_round(match.call, match.module))
    return clock is not None and because(True, "it may belong to a measurement of times, {}", clock)


def _timed(module: Module) -> dict[tuple[cst.CSTNode | None, cst.CSTNode | None], cst.Call]:
    """By the function and the loop: a call that reads a clock there."""
    read = clock_reads(module) + module.calls_by_method.get("elapsed_time", [])
    return {_round(call, module): call for call in read}


def _round(
    call: cst.Call, module: Module
) -> tuple[cst.FunctionDef | None, cst.For | cst.While | None]:
    return module.function(call), next(module.loops.loops_around(call), None)


def waits_for_copy(match: Match) -> bool:
    """Whether the same function copies to the host without waiting."""
    copy = match.module.once(_copying).get(match.module.function(match.call))
    return copy is not None and because(True, "it may wait for a copy to the host, {}", copy)


def _copying(module: Module) -> dict[cst.FunctionDef | None, cst.Call]:
    """By the function: a call in it that copies to the host without waiting."""
    calls = (module.enclosing(word, cst.Call) for word in module.spelled("non_blocking"))
    return {
        module.function(call): call
        for call in calls
        if call is not None
        and (
            method_name(call) in ("copy_", "cpu")
            or any(module.values.is_cpu(arg.value) for arg in call.args)
        )
    }


def is_a_wait_of_its_own(match: Match) -> bool:
    """`def wait_for_all(): dist.barrier()`: where it is called decides."""
    function = match.module.function(match.call)
    waits = function is not None and _WAITS.search(function.name.value) is not None
    return waits and because(True, "{} is there to wait, and its callers decide when", function)

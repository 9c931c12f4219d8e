"""Where a file reads a clock, and what it takes for the time of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.once import once

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

CLOCKS: Final = (
    "time.time",
    "time.time_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.monotonic",
    "time.process_time",
    "timeit.default_timer",
)


class Interval(NamedTuple):
    """The time between two reads of a clock that a file computes.

    Args:
        start: the call that reads the clock first.
        end: the call that reads it again.
        elapsed: the difference.
    """

    start: cst.Call
    end: cst.Call
    elapsed: cst.BinaryOperation


def clock_reads(module: Module) -> list[cst.Call]:
    """The calls that read a clock."""
    return [call for name in CLOCKS for call in module.calls_by_name.get(name, ())]


def interval_from(start: cst.Call, module: Module) -> Interval | None:
    """The first time that a file computes from a clock that it reads into a name, as in
    `t0 = time.time()` and `time.time() - t0` or `t1 - t0` below it."""
    assign = module.parent(start)
    if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
        return None
    for use in module.reads(assign, assign.targets[0].target.value):
        elapsed = module.parent(use)
        if (
            isinstance(elapsed, cst.BinaryOperation)
            and isinstance(elapsed.operator, cst.Subtract)
            and elapsed.right is use
        ):
            end = _read_by(elapsed.left, module)
            if end is not None and module.order(start) < module.order(end):
                return Interval(start, end, elapsed)
    return None


def _read_by(node: cst.BaseExpression, module: Module) -> cst.Call | None:
    """The call that read the clock for an expression: itself, or what its name was given."""
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        value = bindings[0].value if len(bindings) == 1 else None
        node = value if isinstance(value, cst.Call) else node
    reads = _known_reads(module)
    return node if isinstance(node, cst.Call) and node in reads else None


@once
def _known_reads(module: Module) -> frozenset[cst.Call]:
    return frozenset(clock_reads(module))

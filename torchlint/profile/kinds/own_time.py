"""Make the script's own Python and NumPy cheaper, or do it less often.

## What it does
Reports functions of the script whose own lines take a notable part of each step: what they do
between the computations of torch, in a data set or a collate function, and loops in a model or a
loss that ask torch for many small operations. One finding for each function, at the line that takes
most of the time.

## Why it is slow
The step waits for it: Python goes over elements one by one, and copies, sorts or draws as much as
it is told to, on one processor. On a GPU the device idles meanwhile, unless enough work is queued.

## How it is seen
In a run of its own, another thread checks every millisecond which line of the script the training
is at, and in the first worker of each loader which line the worker is at. What modules, losses and
optimizers of torch do for a line is not its own. A run of a few steps counts the operations of
torch that each line asks for, and the time in them.

## What the ceiling means
The part of the step that the function's own lines take, in the run that watched them. If the GPU is
the limit, the host may have had that time to spare. Of a function that loads samples it is no more
than a step gains if batches cost nothing (TR101). Of one in a worker it is the time that the step
waits for batches, times the function's part of the worker's time.

## When it is silent
- If the lines between the computations take less than a fifth of a step together, or those of data
  sets do.
- For logs, files and progress bars (TR702), for lines that read the device (TR201), and where torch
  itself computes most of the time, in a few operations.
- For what other threads do, and for workers that are not forks of the training process.
- Outside data sets, if the operations could not be counted, as in compiled programs.
- For the line that takes batches from a loader (TR101): what it does in addition is to give back
  the memory of the batch before.
- A line with fewer than ten looks is left out, since its share is not certain.

## What to do
Look at the line: compute once before the training what does not change, use one operation for the
whole batch instead of a loop, take only the part that is used, and let workers load. `verify` shows
what a change is worth.

## References
- PyTorch performance tuning guide
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.profile.loader_waits import loading_share, waited_s
from torchlint.runtime.probe.instrument_messages import (
    InputSeen,
    KernelsSeen,
    PausesSeen,
    ReadsSeen,
)
from torchlint.runtime.probe.steps.events import LOADER
from torchlint.runtime.probe.steps.lane_clock import OTHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import OwnTime

_LEAST: Final = 0.2
"""Of a step, that the lines of a part take together."""
_FEWEST: Final = 10
"""Looks at a function."""
_MANY: Final = 32
"""Operations a step that one line asks for: it goes around."""
_ASKING_S: Final = 1e-4
"""For an operation: where one takes longer, it is not the asking that costs."""
_MOSTLY: Final = 0.5
_WORKER: Final = "worker"
_WAITING: Final = re.compile(
    r"(?:queue|threading|multiprocessing|concurrent|subprocess|socket|selectors|asyncio)\."
)
"""Modules whose functions wait for another thread, process or machine."""
_LOADS: Final = {LOADER: ", which loads samples", _WORKER: ", in a worker"}
_IN_LOADER: Final = ("TL114", "TL115", "TL117", "TL105", "TL106", "TL108")
_BETWEEN: Final = ("TL115", "TL714", "TL404", "TL105", "TL106")
_AROUND: Final = ("TL210", "TL404", "TL215")

kind = FindingKind(
    code="TR703",
    summary="the script's own Python takes a part of the step",
    instruments=("pauses",),
    also=("kernels",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each function."""
    window = evidence.window(PausesSeen)
    read = evidence.window_or_none(ReadsSeen) if evidence.on_gpu else None
    reads = {each.place for each in read.seen.reads} if read is not None else set()
    lines = [each for each in _without_residue(window.seen) if each.place not in reads]
    loads = [each for each in lines if each.part == LOADER]
    yield from _functions(loads, {}, evidence, window)
    yield from _workers(evidence, window)
    counted = evidence.window_or_none(KernelsSeen)
    if counted is None or counted.seen.why:
        return
    steps = counted.steps
    asked = {each.place: (each.count / steps, each.seconds / steps) for each in counted.seen.lines}
    around = [each for each in lines if each.part != LOADER and _goes_around(each, asked, window)]
    yield from _functions(around, asked, evidence, window)
    waits = evidence.window_or_none(InputSeen)
    taking = {each.place for each in waits.seen.loaders} if waits is not None else set()
    between = [
        each
        for each in lines
        if each.part == OTHER
        and each.place not in taking
        and each not in around
        and _is_python(each, asked, window)
    ]
    yield from _functions(between, {}, evidence, window)


def _without_residue(seen: PausesSeen) -> Iterator[OwnTime]:
    """The lines, less what of their time is in calls that have a finding of their own (TR702)."""
    calls: dict[tuple[str, int], float] = defaultdict(float)
    for asked in seen.asked:
        if asked.place is not None:
            calls[asked.place] += asked.seconds
    for each in seen.residue:
        if each.calls and each.place is not None:
            calls[each.place] += each.seconds
    for line in seen.own:
        left = line.seconds - calls.get(line.place, 0.0)
        if left > line.seconds / 2:
            yield replace(line, seconds=left)


def _workers(evidence: Evidence, window: Window[PausesSeen]) -> Iterator[Observed]:
    """The functions of workers, where a step waits for them."""
    waits = evidence.window_or_none(InputSeen)
    if waits is None or not window.seen.worker_s:
        return
    waited = waited_s(waits) / waits.step_s
    # As if the step had waited for the lines: they have that part of what the worker does.
    part = waited * window.seconds / window.seen.worker_s
    lines = [
        replace(each, seconds=part * each.seconds, part=_WORKER) for each in window.seen.worker
    ]
    yield from _functions(lines, {}, evidence, window)


_Asked = dict[tuple[str, int], tuple[float, float]]
"""Operations and seconds of a step, by line."""


def _count(line: OwnTime, asked: _Asked) -> float:
    return asked.get(line.place, (0.0, 0.0))[0]


def _goes_around(line: OwnTime, asked: _Asked, window: Window[PausesSeen]) -> bool:
    """Whether its time is that of asking torch for one operation after the other."""
    count = _count(line, asked)
    return count >= _MANY and line.seconds / window.steps <= _ASKING_S * count


def _is_python(line: OwnTime, asked: _Asked, window: Window[PausesSeen]) -> bool:
    """Whether most of its time is not in operations of torch."""
    return asked.get(line.place, (0.0, 0.0))[1] <= _MOSTLY * line.seconds / window.steps


def _functions(
    lines: list[OwnTime], asked: _Asked, evidence: Evidence, window: Window[PausesSeen]
) -> Iterator[Observed]:
    """The functions of some lines of a part of the step, if the part is large enough."""
    if sum(each.seconds for each in lines) < _LEAST * window.seconds:
        return
    functions: dict[tuple[str, int], list[OwnTime]] = defaultdict(list)
    for each in lines:
        functions[each.place[0], each.first].append(each)
    for those in functions.values():
        seconds = sum(each.seconds for each in those)
        if sum(each.samples for each in those) < _FEWEST:
            continue
        hottest = max(those, key=lambda each: each.seconds)
        count = sum(_count(each, asked) for each in those)
        ms = 1e3 * seconds / window.steps
        own_ms = 1e3 * hottest.seconds / window.steps
        share = evidence.at_most(seconds, window)
        if hottest.part in _LOADS:
            share = min(share, loading_share(evidence))
        yield Observed(
            hottest.place,
            f"{ms:.3g} ms a step in {_what(hottest, count)}{_part(hottest, own_ms, ms)}",
            _action(hottest, count),
            share,
            _AROUND if count else _IN_LOADER if hottest.part in _LOADS else _BETWEEN,
            {
                "seconds": seconds,
                "function": hottest.function,
                "call": hottest.call,
                "operations": count,
                "line_ms": own_ms,
            },
        )


def _what(line: OwnTime, count: float) -> str:
    own = "the script" if line.function == "<module>" else f"`{line.function}`"
    if count:
        return f"{own}, which asks torch for {count:.0f} operations"
    if _WAITING.match(line.call):
        return f"{own}{_LOADS.get(line.part, '')}, which waits for another thread or process"
    return f"the Python of {own}{_LOADS.get(line.part, '')}"


def _part(line: OwnTime, own_ms: float, ms: float) -> str:
    call = f" (`{line.call}`)" if line.call else ""
    return call if own_ms > 0.95 * ms else f", {own_ms:.3g} ms of it in this line{call}"


def _action(line: OwnTime, count: float) -> str:
    part = line.part
    if count:
        return "compute with whole tensors, by one operation instead of a loop"
    if _WAITING.match(line.call):
        return "let that one work ahead, or give it less to do"
    if part == LOADER:
        return "do it once before the training, take only what is used, or let workers load"
    if part == _WORKER:
        return "do it once before the training, take only what is used, or add workers"
    return "do it once before the training, less often, or for all elements at once"

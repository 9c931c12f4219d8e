"""Give each rank a GPU of its own.

## What it does
Reports two ways of starting processes that waste GPUs: one process that drives several of them
through `nn.DataParallel`, and ranks that all work on one GPU while another one has nothing to do.
Where there are several ranks, the report also says how many threads and processors they have.

## Why it is slow
- `DataParallel` copies the model to all GPUs on each forward pass, and its threads share one Python
  interpreter.
- Ranks on one GPU take turns, and each holds a model and a context of its own there.

## How it is seen
Copies of a model are counted in forward passes that train. GPUs on which torch holds memory are
compared by their ids, rank by rank. Each rank also tells its threads, the processors that it may
run on, and the limit of its control group: in a container, the list of processors is that of the
host.

## What the ceiling means
There is none: nothing was measured with another launch.

## When it is silent
- About threads. More of them than processors may cost much or nothing: in one measurement on two
  busy processors, two ranks took four times as long with two threads each as with one, and no
  longer with four. `--threads` tries another number.
- About GPUs that nobody uses, if the ranks do not share one: they may be for others.
- Limits that a container does not show to its processes are not seen.

The parts for GPUs have been tested with a stand-in of `torch.cuda` and not on several GPUs.

## What to do
Start one process for each GPU with torchrun, call `torch.cuda.set_device(local_rank)` before
anything else, and wrap the model in `DistributedDataParallel`.

## References
- PyTorch documentation, "torchrun (Elastic Launch)"
- PyTorch documentation, `torch.nn.DataParallel`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed, Told
from torchlint.runtime.probe.instrument_messages import LaunchSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window

_EACH_STEP: Final = 0.5
"""Copies of a model in a step: what is rarer is not training."""

kind = FindingKind(
    code="TR602",
    summary="processes are started in a way that wastes GPUs",
    instruments=("launch",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """Copies of models, and a GPU that ranks share."""
    if evidence.on_gpu:
        yield from _copies(evidence.window(LaunchSeen))
        yield from _one_gpu(_ranks(evidence))


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """How the ranks share the machine."""
    ranks = _ranks(evidence)
    if len(ranks) < 2:
        return
    usable, threads = _usable(ranks), [each.seen.threads for each in ranks]
    chosen = all(each.seen.chosen for each in ranks)
    on = f" on {evidence.nodes} nodes" if evidence.nodes > 1 else ""
    text = f"{len(ranks)} ranks{on}, {_spread(threads)} each, {_processors(usable)}"
    told = f"{text} (torchlint has set the threads)" if chosen else text
    values = {"ranks": len(ranks), "threads": threads, "processors": usable, "chosen": chosen}
    yield Told("launch", told, values)


def _ranks(evidence: Evidence) -> tuple[Window[LaunchSeen], ...]:
    return evidence.window(LaunchSeen).ranks


def _usable(ranks: tuple[Window[LaunchSeen], ...]) -> float:
    """Processors that all ranks may use together."""
    nodes = {each.node for each in ranks}
    return sum(_usable_on([each for each in ranks if each.node == node]) for node in nodes)


def _usable_on(ranks: list[Window[LaunchSeen]]) -> float:
    """The same on one machine."""
    every = {number for each in ranks for number in each.seen.processors}
    quotas = [each.seen.quota for each in ranks]
    # A group for all of them, or one for each: the sum would not be less.
    return min([float(len(every)), *(each for each in quotas if each is not None)])


def _copies(window: Window[LaunchSeen]) -> Iterator[Observed]:
    for line in window.seen.copied:
        gpus, calls = line.gpus, line.calls
        if gpus < 2 or calls < _EACH_STEP * window.steps:
            continue
        yield Observed(
            line.place,
            f"one process drives {gpus} GPUs and copies the model to them {calls} times in "
            f"{window.steps} steps",
            "start one process for each GPU, with DistributedDataParallel",
            None,
            ("TL601",),
            {"gpus": gpus, "copies": calls},
        )


def _one_gpu(ranks: tuple[Window[LaunchSeen], ...]) -> Iterator[Observed]:
    if any(each.seen.gpus is None for each in ranks):
        return
    used = [set(each.seen.used_gpus or ()) for each in ranks]
    every = {name for each in ranks for name in each.seen.gpus or ()}
    idle = len(every - set().union(*used))
    if len(ranks) < 2 or not idle or any(len(each) != 1 or each != used[0] for each in used):
        return
    yield Observed(
        None,
        f"{len(ranks)} ranks work on one GPU, and {idle} of {len(every)} GPUs are idle",
        "call `torch.cuda.set_device(local_rank)` before anything else",
        None,
        (),
        {"ranks": len(ranks), "gpus": len(every), "idle": idle},
    )


def _spread(threads: list[int]) -> str:
    low, high = min(threads), max(threads)
    if low < high:
        return f"{low} to {high} threads"
    return "1 thread" if high == 1 else f"{high} threads"


def _processors(count: float) -> str:
    return "1 processor" if count == 1 else f"{count:g} processors"

"""Send less between the ranks, and let no rank wait for another.

## What it does
Reports, where several ranks train on processors with gloo: gradients that are exchanged in each
backward pass although the optimizer steps only after several; lines that wait for messages between
ranks; and a rank whose own work takes longer than that of the others, so that they wait for it. It
also tells how long a step is blocked by messages.

## Why it is slow
Every exchange takes time, and ends only when the last rank has come. `DistributedDataParallel`
averages gradients in each backward pass. If they are only added to by the next one, that average
was wasted: the sum can be averaged once. A rank with more work holds up all the others.

## How it is seen
In a run of its own. `DistributedDataParallel` times its exchange itself: from the first message to
the end of the last, and which part of that passed while the backward pass still computed. Calls and
waits in Python are timed at their line. An exchange counts as superfluous if no optimizer has
stepped between it and the next one, and the gradients were not zero in between.

A rank is the slow one if it works longest in eight of ten steps or more, and on the whole longer
than the others. It works while it has a processor, and while it waits for anything but messages,
batches and a processor, as Linux counts it: a rank that only shares its processors with others is
not slow. Where the system does not count that, only the time with a processor is work. A rank whose
loader is slow is reported as such (TR101).

## What the ceiling means
- Superfluous exchanges: the time of them on the rank on which they take least, also where the
  backward pass computed meanwhile, since on a CPU both use the same processors.
- Lines: the wait on the rank that waits least there. Without the line the others would wait
  elsewhere.
- A slow rank: what a step would be shorter if it worked no longer than the next slowest rank, or if
  the work were shared evenly, whichever gives more.

## When it is silent
With one rank, and with NCCL: there a wait ends when its work is queued on the GPU, so the times of
the host say nothing. Messages that FSDP or a compiled function sends without Python are not seen,
nor is the copy of buffers (such as the statistics of batch norms) that DDP sends in a forward pass.
Nothing is said about slow ranks where ranks send to each other one by one, as in a pipeline.

## What to do
For accumulation, run all but the last of the backward passes, and their forward passes, in
`with model.no_sync():`. For a line, send one large message for many small ones, send it less often,
or use `async_op=True` and wait later. For a slow rank, share batches by their length or cost, and
let the other ranks do what only rank 0 does, or nobody.

## References
- PyTorch documentation, `torch.nn.parallel.DistributedDataParallel.no_sync`
- Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed, Told
from torchlint.profile.loader_waits import waited_s
from torchlint.runtime.probe.instrument_messages import ExchangesSeen, InputSeen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import Collectives, GradientExchanges
    from torchlint.runtime.probe.messages import Place

    Rank = Window[ExchangesSeen]
    Line = TypeVar("Line", GradientExchanges, Collectives)

_MOSTLY: Final = 0.8
"""Of the steps: in which the slow rank works longest."""
_WORKS: Final = 0.5
"""Of what a slow rank holds up the others, apart from the processor that it lacked itself: what its
own work takes longer than theirs."""
_LONGER: Final = 0.1
"""Of its own work; less is chance."""
_FEWEST: Final = 10
"""Steps: in fewer of them, chance makes a slow rank."""

kind = FindingKind(
    code="TR601",
    summary="ranks wait for messages that need not be sent, or for a slower rank",
    instruments=("exchanges",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line that exchanges too often or waits, and one for a slow rank."""
    ranks = _ranks(evidence)
    if not ranks:
        return
    yield from _exchanged_again(evidence, ranks)
    yield from _waits(evidence, ranks)
    yield from _slow_rank(ranks, evidence)


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """How long a step is blocked, and how much of that is waiting for other ranks."""
    ranks = _ranks(evidence)
    if not ranks:
        yield Told("communication", "no process group with gloo, so nothing was measured")
        return
    if not (ranks[0].seen.exchanges or ranks[0].seen.collectives):
        yield Told(
            "communication", "no message was seen; what is sent without Python or DDP is not"
        )
        return
    steps = _blocked(ranks)
    if not steps:
        return
    whole = statistics.fmean(statistics.fmean(step) for step in steps)
    least = statistics.fmean(min(step) for step in steps)
    text = f"messages block a rank for {_ms(whole)} a step"
    if len(ranks) > 1:
        text += f" on average, {_ms(whole - least)} of that to wait for slower ranks"
    yield Told("communication", text, {"blocked_s": whole, "waiting_s": whole - least})


def _ranks(evidence: Evidence) -> tuple[Rank, ...]:
    """The windows of one process group, by rank; empty if there is none or it is not gloo's."""
    window = evidence.window(ExchangesSeen)
    ranks = {each.rank: each for each in window.ranks if each.seen.gloo}
    return tuple(ranks[number] for number in sorted(ranks))


# exchanges of gradients ----------------------------------------------------------------------


def _exchanged_again(evidence: Evidence, ranks: tuple[Rank, ...]) -> Iterator[Observed]:
    for place, lines in _by_place([each.seen.exchanges for each in ranks]).items():
        calls = _most(lines, lambda each: each.calls)
        again = _most(lines, lambda each: each.again)
        if not again:
            continue
        seconds, first = _least(ranks, lines, lambda each: each.again_seconds), ranks[0]
        yield Observed(
            place,
            f"gradients are exchanged {_times(calls, first)} a step, {_times(again, first)} for "
            f"nothing, which takes {_ms(seconds / first.steps)}",
            "run all but the last of these passes under `no_sync()`",
            evidence.at_most(seconds, first),
            ("TL603",),
            {"exchanges": calls, "superfluous": again, "seconds": seconds},
        )


# lines that wait -----------------------------------------------------------------------------


def _waits(evidence: Evidence, ranks: tuple[Rank, ...]) -> Iterator[Observed]:
    for place, lines in _by_place([each.seen.collectives for each in ranks]).items():
        seconds, first = _least(ranks, lines, lambda each: each.seconds), ranks[0]
        calls = _most(lines, lambda each: each.calls)
        what = next(iter(lines.values()))[0].what
        fact = f"{what} {_times(calls, first)} a step" if calls else "waits for messages"
        yield Observed(
            place,
            f"{fact}, {_ms(seconds / first.steps)} a step",
            "send fewer and larger messages, less often, or wait for them later",
            evidence.at_most(seconds, first),
            ("TL607", "TL214"),
            {"calls": calls, "what": what, "seconds": seconds},
        )


# a rank that others wait for -----------------------------------------------------------------


def _slow_rank(ranks: tuple[Rank, ...], evidence: Evidence) -> Iterator[Observed]:
    steps = _works(ranks, evidence.window_or_none(InputSeen))
    if len(ranks) < 2 or len(steps) < _FEWEST or any(_is_pipeline(each) for each in ranks):
        return
    waited, work = _means(_blocked(ranks)), _means(steps)
    slow = work.index(max(work))
    longest = sum(step[slow] == max(step) for step in steps)
    lead = [each - waited[slow] for each in waited]
    others = [each for rank, each in enumerate(lead) if rank != slow]
    more = _more(work, slow)
    unexplained = statistics.fmean(others) - _more([_held_s(each) for each in ranks], slow)
    if (
        min(others) <= 0
        or longest < _MOSTLY * len(steps)
        or more < max(_WORKS * unexplained, _LONGER * work[slow])
    ):
        return
    share = max(min(others), statistics.fmean(lead)) / ranks[slow].step_s
    yield Observed(
        None,
        f"{ranks[slow].who} works longest in {longest} of {len(steps)} steps, {_ms(more)} longer "
        f"on average, and the others wait for it {_ms(statistics.fmean(others))} a step",
        "share the work evenly between the ranks",
        share,
        (),
        {
            "rank": ranks[slow].rank,
            "node": ranks[slow].node,
            "steps": longest,
            "waited_s": waited,
            "work_s": work,
        },
    )


def own_work(ranks: tuple[Rank, ...], read: Window[InputSeen] | None) -> list[float]:
    """Seconds of a step that each rank works itself.

    Args:
        read: what the instrument `input` saw in its run, if it saw something.
    """
    return _means(_works(ranks, read))


def _works(ranks: tuple[Rank, ...], read: Window[InputSeen] | None) -> list[tuple[float, ...]]:
    """Of each step that all ranks know, the seconds that each of them worked itself."""
    loads = {each.rank: waited_s(each) for each in read.ranks} if read is not None else {}
    return _rows([_worked(each, loads.get(each.rank, 0.0)) for each in ranks])


def _worked(rank: Rank, loading_s: float) -> list[float | None]:
    """Of each step, the seconds that a rank worked itself.

    A thread that gets a message may then wait for a processor. Both count as waiting all the while,
    so that less seems to be left for its work than the time in which it ran.
    """
    took, ran, blocked = rank.seen.took, rank.seen.ran, rank.seen.blocked
    held = rank.seen.held or took  # not known: only what ran is work
    return [
        None if waited is None else max(running, whole - lacked - waited) - loading_s
        for whole, running, lacked, waited in zip(took, ran, held, blocked, strict=False)
    ]


def _held_s(rank: Rank) -> float:
    """Seconds of a step in which it had no processor; 0 if the system does not say."""
    return sum(rank.seen.held) / rank.steps


def _more(values: list[float], rank: int) -> float:
    """How much more one rank has than the others on average."""
    return values[rank] - statistics.fmean(values[:rank] + values[rank + 1 :])


def blocked_by_rank(evidence: Evidence) -> dict[int, float]:
    """Seconds of a step that each rank waits for messages; empty where that is not known."""
    ranks = _ranks(evidence)
    steps = _blocked(ranks) if ranks else []
    return {each.rank: mean for each, mean in zip(ranks, _means(steps), strict=False)}


def _is_pipeline(rank: Rank) -> bool:
    return rank.seen.between_two > 0


# ranks side by side --------------------------------------------------------------------------


def _blocked(ranks: tuple[Rank, ...]) -> list[tuple[float, ...]]:
    """Of each step that all ranks know, the seconds that each of them was blocked."""
    return _rows([each.seen.blocked for each in ranks])


def _rows(columns: Sequence[Sequence[float | None]]) -> list[tuple[float, ...]]:
    """The steps that all ranks know, from the steps of each rank."""
    return [
        tuple(known)
        for step in zip(*columns, strict=False)
        if len(known := [each for each in step if each is not None]) == len(columns)
    ]


def _means(steps: list[tuple[float, ...]]) -> list[float]:
    """Of each rank, its mean over the steps."""
    return [statistics.fmean(each) for each in zip(*steps, strict=True)]


def _by_place(ranks: Sequence[Sequence[Line]]) -> dict[Place | None, dict[int, list[Line]]]:
    """What each line sent, on each rank by its number in `ranks`."""
    lines: dict[Place | None, dict[int, list[Line]]] = {}
    for number, sent in enumerate(ranks):
        for line in sent:
            lines.setdefault(line.place, {}).setdefault(number, []).append(line)
    return lines


def _least(
    ranks: tuple[Rank, ...], lines: dict[int, list[Line]], seconds: Callable[[Line], float]
) -> float:
    """Seconds on the rank on which they are fewest: no other rank would have them back."""
    return min(sum(map(seconds, lines.get(number, ()))) for number in range(len(ranks)))


def _most(lines: dict[int, list[Line]], count: Callable[[Line], int]) -> int:
    return max(sum(map(count, line)) for line in lines.values())


def _times(count: int, rank: Rank) -> str:
    number = count / rank.steps
    return "once" if number == 1 else f"{number:.3g} times"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"

"""What each rank did in a step: how long it took, worked and waited."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from torchlint.profile.kinds.communication import blocked_by_rank, own_work
from torchlint.profile.loader_waits import waited_s
from torchlint.runtime.probe.instrument_messages import InputSeen, ReadsSeen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.profile.evidence import Evidence, Window

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank. Seconds are those of a step; None: it was not measured.

    Args:
        rank: its number.
        node: name of its machine; empty if there is one.
        step_s: in the run that carries the step meter alone.
        input_s: that it waited for batches.
        blocked_s: that it waited for messages of other ranks; only with gloo.
        work_s: of its own: a step without these, and without waiting for a processor.
        reads: values of tensors that the host reads in a step.
    """

    rank: int
    node: str
    step_s: float | None
    input_s: float | None
    blocked_s: float | None
    work_s: float | None
    reads: float | None


def ranks_of(evidence: Evidence) -> tuple[Rank, ...]:
    """All ranks, by their numbers; empty if there is one process."""
    seen = [each for window in evidence.windows.values() for each in window.ranks]
    nodes = {each.rank: each.node for each in seen}
    if evidence.ranks < 2 or len(nodes) < 2:
        return ()
    windows, timed = evidence.windows, dict(enumerate(evidence.timing.ranks))
    waited = _each(evidence.window_or_none(InputSeen), waited_s)
    reads = _each(evidence.window_or_none(ReadsSeen), _reads)
    blocked = blocked_by_rank(evidence) if "exchanges" in windows else {}
    work: Mapping[int, float] = {}
    if blocked:
        ranks = tuple(each for each in windows["exchanges"].ranks if each.rank in blocked)
        works = own_work(ranks, evidence.window_or_none(InputSeen))
        work = dict(zip(blocked, works, strict=True))
    return tuple(
        Rank(
            rank,
            nodes[rank],
            timed.get(rank),
            waited.get(rank),
            blocked.get(rank),
            work.get(rank),
            reads.get(rank),
        )
        for rank in sorted(nodes)
    )


def summary(ranks: tuple[Rank, ...]) -> str:
    """The least, the median and the most of each, and which rank has the most; empty without
    several ranks."""
    parts = [
        _spread("step", ranks, "step_s"),
        _spread("own work", ranks, "work_s"),
        _spread("input", ranks, "input_s"),
        _spread("reads", ranks, "reads"),
    ]
    return " · ".join(filter(None, parts))


def _spread(name: str, ranks: tuple[Rank, ...], field: str) -> str:
    measured = [(getattr(each, field), each) for each in ranks if getattr(each, field) is not None]
    if not measured:
        return ""
    values = [value for value, _ in measured]
    most, rank = max(measured, key=lambda each: each[0])
    scale, unit = (1.0, "") if field == "reads" else (1e3, " ms")
    least, middle = min(values), statistics.median(values)
    shown = " / ".join(f"{scale * each:.3g}" for each in (least, middle, most))
    where = f" (rank {rank.rank}{f' on {rank.node}' if rank.node else ''})"
    return f"{name} {shown}{unit}{where if most > least else ''}"


def _each(window: Window[_T] | None, value: Callable[[Window[_T]], float]) -> dict[int, float]:
    return {} if window is None else {each.rank: value(each) for each in window.ranks}


def _reads(window: Window[ReadsSeen]) -> float:
    return sum(each.calls for each in window.seen.reads) / window.steps

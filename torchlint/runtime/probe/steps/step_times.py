"""How long steps take, where their time goes, and when a script is warm."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from torchlint.runtime.probe.machine.clock import seconds_between
from torchlint.runtime.probe.messages import Lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.runtime.probe.steps.boundary import Moment

LANES = ("data", "forward", "backward", "optimizer")
CALM = 5
"""Steps in a row without anything new, after which a script is warm."""


def durations(moments: Sequence[Moment]) -> list[float]:
    """Seconds of each step except the first, whose beginning was not seen.

    On a GPU those between two marks in its stream, which must have been waited for.
    """
    seconds = []
    for before, later in pairwise(moments):
        on_gpu = seconds_between(before.mark, later.mark)
        seconds.append(later.time - before.time if on_gpu is None else on_gpu)
    return seconds


def lanes(moments: Sequence[Moment]) -> Lanes:
    """Seconds of the host in the same steps by what they went into; `other` is the rest.

    Threads that take turns over a step have clocks of their own: what is not known is `other`.
    """
    seconds_by_lane: dict[str, list[float]] = {name: [] for name in (*LANES, "other")}
    for before, later in pairwise(moments):
        left = later.time - before.time
        for name, early, late in zip(LANES, before.spent, later.spent, strict=True):
            spent = min(left, max(0.0, late - early))
            seconds_by_lane[name].append(spent)
            left -= spent
        seconds_by_lane["other"].append(left)
    return Lanes(**{name: tuple(seconds) for name, seconds in seconds_by_lane.items()})


def warm_up(moments: Sequence[Moment], news: Sequence[float]) -> int:
    """Steps until CALM of them pass without news, or as many as are left; all if none do.

    Args:
        moments: the ends of the steps.
        news: when a new shape of inputs was seen, or something was compiled.
    """
    ends = [moment.time for moment in moments]
    busy = {bisect_left(ends, time) for time in news}
    for step in range(1, len(ends)):
        if busy.isdisjoint(range(step, step + CALM)):
            return step
    return len(ends)


def steady(times: Sequence[float], warm: int) -> float:
    """Median seconds of the steps after the warm-up, of all if there are none; 0 without any."""
    after = times[max(0, warm - 1) :] or times
    return statistics.median(after) if after else 0.0

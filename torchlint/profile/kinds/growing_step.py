"""Let go of what each step adds to the next.

## What it does
Reports a program whose steps take longer and longer within the window that is watched.

## Why it is slow
Something of each step is kept and gone through again: the state of a recurrent network with the
graph of all steps before, a list of all losses, a metric that is computed from all predictions, a
buffer that is copied whole. What takes a millisecond in the first steps takes a second after a
thousand.

## How it is seen
In the run that watches pauses the time of each step is written down. The slope is the median of the
slopes between all pairs of steps (Theil and Sen), with the interval that follows from Kendall's
test. How many objects and tensors Python holds, and the most memory that the process has had,
is counted before and after the window. Growth is no
noise: which other costs matter is decided by the noise that is left without it.

## What the ceiling means
How much less the steps of the window would take together if all took as long as the first third of
them. In a longer run it is more, since the steps go on to grow.

## When it is silent
If the last steps do not take at least a tenth longer than the first, if the order of the steps
explains less than chance and other programs may, or if the steps of the timing run did not grow by
a third of that.

## What to do
Detach what goes from one step to the next (`state = state.detach()`), keep numbers and not tensors
with their graphs, compute metrics after the epoch, and take from a buffer only what is used.

## References
- P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", 1968
"""

from __future__ import annotations

import math
import statistics
from itertools import combinations
from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import GrowthSeen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.profile.evidence import Evidence

_FEWEST: Final = 12
"""Steps."""
_RISE: Final = 0.1
"""Of a step, from the first third of the window to the last."""
_IN_ORDER: Final = 0.5
"""Kendall's tau: a busy machine slows steps down for a while, a growing program all of them."""
_DEVIATIONS: Final = 3.3
"""Normal deviations of the interval: one chance in a thousand."""
_AS_WELL: Final = 1 / 3
"""Of the growth in the window: what the steps of the timing run must have grown by."""
_LEAST_MB: Final = 0.05
_RULES: Final = ("TL406", "TL203", "TL212", "TL714")

kind = FindingKind(
    code="TR704",
    summary="each step takes longer than the one before",
    instruments=("growth",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """At most one, without a line."""
    window = evidence.window(GrowthSeen)
    seconds = window.seen.seconds
    if len(seconds) < _FEWEST:
        return
    third = len(seconds) // 3
    first, last = statistics.median(seconds[:third]), statistics.median(seconds[-third:])
    slope, low, high, tau = _slope(seconds)
    if last < (1 + _RISE) * first or tau < _IN_ORDER or low <= 0:
        return
    timed = evidence.timing.growth_s
    if timed is not None and timed < _AS_WELL * slope:
        return
    kept = _kept(window.seen, len(seconds))
    yield Observed(
        None,
        f"each step takes {1e3 * slope:.2g} ms longer than the one before "
        f"[{1e3 * low:.2g}, {1e3 * high:.2g}]: {1e3 * first:.3g} ms at first, {1e3 * last:.3g} ms "
        f"after {len(seconds)} steps{kept}",
        "detach what goes from step to step, and keep numbers, not tensors",
        max(0.0, 1 - first * len(seconds) / sum(seconds)),
        _RULES,
        {
            "slope_ms": 1e3 * slope,
            "low_ms": 1e3 * low,
            "high_ms": 1e3 * high,
            "objects": window.seen.objects,
            "tensors": window.seen.tensors,
            "memory_mb": window.seen.memory_mb,
        },
        certain=True,
    )


def _kept(seen: GrowthSeen, steps: int) -> str:
    """What there is more of after each step."""
    tensors, objects, mb = (each / steps for each in (seen.tensors, seen.objects, seen.memory_mb))
    grown = [f"{mb:.2g} MiB"] if mb >= _LEAST_MB else []
    if tensors >= 1:
        grown.append(f"{tensors:.0f} tensors")
    elif objects >= 1:
        grown.append(f"{objects:.0f} objects")
    return f"; after each there are {' and '.join(grown)} more" if grown else ""


def _slope(values: Sequence[float]) -> tuple[float, float, float, float]:
    """The slope by Theil and Sen, its interval, and Kendall's tau."""
    count = len(values)
    pairs = combinations(enumerate(values), 2)
    slopes = sorted((later - sooner) / (at - before) for (before, sooner), (at, later) in pairs)
    sign = sum((each > 0) - (each < 0) for each in slopes)
    spread = _DEVIATIONS * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low = max(0, math.floor((len(slopes) - spread) / 2))
    high = len(slopes) - 1 - low
    return statistics.median(slopes), slopes[low], slopes[high], sign / len(slopes)

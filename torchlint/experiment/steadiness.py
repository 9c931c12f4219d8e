"""Whether a process had reached a steady pace when it was measured."""

from __future__ import annotations

from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    Times = Sequence[float]

_FEWEST: Final = 6


def drifting(block_seconds: Times) -> bool:
    """Whether a process was still becoming faster or slower while it was measured.

    After pyperf's test of a warm-up, which compares the first half of the values with the second.
    Its bounds are for dozens of values: with ten blocks its limit on the spread alone finds a
    drift in 8 of 10 steady processes. So both quartiles have to move the same way by more than
    5 %, to where the middle halves no longer overlap; or the first block is an outlier that lifts
    the mean of its half by more than 10 %. Of steady recorded processes that is 1 in 10.

    Args:
        block_seconds: seconds per step, in the order of measurement; fewer than 6 say nothing.
    """
    return warming_up(block_seconds) or warming_up(block_seconds[::-1], outlier=False)


def warming_up(block_seconds: Times, *, outlier: bool = True) -> bool:
    """Whether a process was still becoming faster while it was measured.

    Args:
        block_seconds: as for `drifting`.
        outlier: a first block far above all others tells that too.
    """
    if len(block_seconds) < _FEWEST:
        return False
    half = len(block_seconds) // 2
    first, second = block_seconds[:half], block_seconds[-half:]
    if _moved_up(first, second):
        return True
    low, high = _quartiles(block_seconds)
    far = outlier and block_seconds[0] > high + 1.5 * (high - low)
    return far and fmean(first) > 1.10 * fmean(second)


def _moved_up(values: Times, base: Times) -> bool:
    low, high = _quartiles(values)
    base_low, base_high = _quartiles(base)
    return low > 1.05 * base_low and high > 1.05 * base_high and low > base_high


def _quartiles(values: Times) -> tuple[float, float]:
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high

"""Ratios of step times with intervals whose unit is the pair of processes.

Blocks of one process resemble each other: where its memory is and which processor it got stay the
same. An interval over blocks takes them for independent and is far too narrow: in draws of four
recorded pairs of identical programs, one of 95 % misses the truth 17 to 37 times of 100. So each
pair gives one value, the median of its blocks' log ratios, and Student's t over those values gives
the interval. Medians tolerate a block that something else disturbed; nothing is left out, and
nothing is the best of several.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    Times = Sequence[float]
    Pair = tuple[Times, Times]

_LARGEST_LOG: Final = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class Sample:
    """Log ratios, one per pair, as Student's t sees them.

    A single value says nothing about its spread: its interval is everything, its p-values are 1.
    """

    mean: float
    sd: float
    size: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Sum up one log ratio per pair.

        Raises:
            ValueError: there is none.
        """
        if not values:
            raise ValueError("there is no pair of processes to compare")
        return cls(fmean(values), math.sqrt(_variance(values)), len(values))

    def half_width(self, alpha: float) -> float:
        """Half of the interval that covers the mean with probability 1 - alpha."""
        return half_width(self.sd, self.size, alpha)

    def interval(self, alpha: float) -> tuple[float, float]:
        """The interval of ratios (not logs) that covers the truth with probability 1 - alpha."""
        half = self.half_width(alpha)
        return exp(self.mean - half), exp(self.mean + half)

    def p_above(self, edge: float) -> float:
        """One-sided p-value against a true mean of `edge` (a log) or less."""
        distance = self.mean - edge
        if self.size < 2:
            return 1.0
        if self.sd == 0.0:
            return 0.0 if distance > 0 else 1.0
        from scipy.special import stdtr  # type: ignore[import-untyped]

        return float(stdtr(self.size - 1, -distance * math.sqrt(self.size) / self.sd))

    def p_below(self, edge: float) -> float:
        """One-sided p-value against a true mean of `edge` (a log) or more."""
        return Sample(-self.mean, self.sd, self.size).p_above(-edge)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio of step times, original by changed: above 1 is faster.

    `ci` is the 95 % interval, `strict` the wider one that a verdict at this look needs. The unit
    of both is the process pair: `pairs` of them, `blocks` in all. `sd_between` and `sd_within`
    are standard deviations of the log ratio. `ms` is the original's median time of a step in
    milliseconds, and that divided by the ratio; `cpu_ratio` the same ratio in CPU time of the
    training process; `memory_mb` the peak of each, None where it is not known.
    """

    ratio: float
    ci: tuple[float, float]
    strict: tuple[float, float]
    pairs: int
    blocks: int
    sd_between: float
    sd_within: float
    ms: tuple[float, float]
    cpu_ratio: float | None = None
    memory_mb: tuple[float, float] | None = None
    pairs_needed: int | None = None


def half_width(sd: float, size: int, alpha: float) -> float:
    """Half of a two-sided t interval over `size` values; infinite for a single one."""
    if size < 2:
        return math.inf
    return student(size - 1, 1 - alpha / 2) * sd / math.sqrt(size)


@cache
def student(freedom: int, probability: float) -> float:
    """Quantile of Student's t."""
    # scipy.special alone: scipy.stats takes several times as long to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def exp(log: float) -> float:
    """The exponential; infinite where it is too large for a float."""
    return math.exp(log) if log < _LARGEST_LOG else math.inf


def log_ratios(before: Times, after: Times) -> tuple[float, ...]:
    """Logs of before / after, block by block.

    Raises:
        ValueError: no blocks, not as many of one as of the other, or something that is not a time.
    """
    if not before or len(before) != len(after):
        raise ValueError(f"{len(before)} blocks cannot be compared with {len(after)}")
    for seconds in (*before, *after):
        if not (seconds > 0 and math.isfinite(seconds)):
            raise ValueError(f"a step cannot take {seconds} s")
    # Two logs rather than one of a quotient, which could overflow.
    return tuple(math.log(a) - math.log(b) for a, b in zip(before, after, strict=True))


def pair_values(pairs: Sequence[Pair]) -> tuple[float, ...]:
    """The median log ratio of each pair.

    Raises:
        ValueError: as `log_ratios`.
    """
    return tuple(median(log_ratios(before, after)) for before, after in pairs)


def estimate(
    pairs: Sequence[Pair],
    *,
    strict_alpha: float,
    cpu: Sequence[Pair] | None = None,
    memory: Sequence[Pair] | None = None,
) -> Estimate:
    """How many times faster the second of each pair is.

    Args:
        pairs: seconds per step of the original and of the changed program, block by block.
        strict_alpha: how often the strict interval may miss; the other misses at 0.05.
        cpu: the same in CPU time, for the ratio of CPU times.
        memory: megabytes, block by block, for the peaks.

    Raises:
        ValueError: no pairs, or as `log_ratios`.
    """
    ratios = [log_ratios(before, after) for before, after in pairs]
    sample = Sample.of([median(each) for each in ratios])
    before_ms = 1000 * median(seconds for before, _ in pairs for seconds in before)
    return Estimate(
        ratio=exp(sample.mean),
        ci=sample.interval(0.05),
        strict=sample.interval(strict_alpha),
        pairs=len(pairs),
        blocks=sum(len(each) for each in ratios),
        sd_between=sample.sd,
        sd_within=math.sqrt(fmean(_variance(each) for each in ratios)),
        ms=(before_ms, before_ms * exp(-sample.mean)),
        cpu_ratio=_cpu_ratio(cpu),
        memory_mb=_peaks(memory),
    )


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _cpu_ratio(pairs: Sequence[Pair] | None) -> float | None:
    """A second witness only: where CPU time is too short for its clock there is none."""
    try:
        return math.exp(Sample.of(pair_values(pairs or ())).mean)
    except ValueError:
        return None


def _peaks(pairs: Sequence[Pair] | None) -> tuple[float, float] | None:
    if not pairs:
        return None
    before = max(value for times, _ in pairs for value in times)
    after = max(value for _, times in pairs for value in times)
    return (before, after) if before > 0 and after > 0 else None

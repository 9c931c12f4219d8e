"""Scales, ticks and curves of charts, in percent of the space that a chart has."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_CLOSEST: Final = 11.0
"""Percent between two labels, so that they stay apart on a telephone."""
_STEPS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Each of them goes into 1."""
_WIDEST: Final = 64.0
_MANY: Final = 100
_NEARLY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place; `at` in percent."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class StepLane:
    """One part of a step.

    Args:
        share: of all of them.
        time: in words, as `4.00 ms`.
        path: a bar for each step, in thousandths of the room; empty: only the whole is known.
    """

    name: str
    share: float
    time: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to percent, linearly or in the logarithm; what is outside is cut off."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """0 at the low end, 100 at the high one."""
        low, high, value = (self._in(each) for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(100 * min(1.0, max(0.0, share)), 2)

    def from_top(self, value: float) -> float:
        """100 at the low end and 0 at the high one, as pictures count."""
        return round(100 - self.at(value), 2)

    def _in(self, value: float) -> float:
        return math.log(max(value, 1e-300)) if self.logarithmic else value


def ratio_scale(ratios: Iterable[float], margin: float) -> Scale:
    """A logarithmic scale around 1 that holds the ratios and the margin."""
    logs = [
        math.log(min(_WIDEST, max(1 / _WIDEST, each)))
        for each in (*ratios, 1 - 1.5 * margin, 1 + 1.5 * margin)
        if math.isfinite(each) and each > 0
    ]
    room = 0.05 * (max(logs) - min(logs))
    return Scale(math.exp(min(logs) - room), math.exp(max(logs) + room), logarithmic=True)


def padded_scale(values: Sequence[float]) -> Scale:
    """A linear scale that holds the values with a little room; never empty."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return Scale(low - room, high + room)


def ratio_ticks(scale: Scale) -> tuple[Tick, ...]:
    """Ticks at round ratios, 1 among them: as many as stay far enough apart to be read."""
    series = [_multiples(scale, step) for step in _STEPS]
    series += [sorted({1.0, *_powers(scale, base)}) for base in (2.0, 4.0, 8.0)]

    def is_readable(values: Sequence[float]) -> bool:
        places = [scale.at(value) for value in values]
        return all(after - before >= _CLOSEST for before, after in pairwise(places))

    found = _densest([[1.0], *series], is_readable)
    return tuple(Tick(scale.at(value), f"{value:.4g}") for value in found)


def linear_ticks(scale: Scale, most: int) -> list[float]:
    """At most so many round values within the scale."""
    span = scale.high - scale.low
    if not span > 0 or not math.isfinite(span):
        return [scale.low]
    size = 10.0 ** math.floor(math.log10(span / most))
    series = [_multiples(scale, factor * size) for factor in (1, 2, 5, 10, 20)]
    return _densest([[scale.low], *series], lambda values: len(values) <= most)


def decades(scale: Scale, most: int) -> list[float]:
    """At most so many powers of ten within a logarithmic scale."""
    series = [_powers(scale, 10.0**stride) for stride in range(1, 9)]
    return _densest(series, lambda values: len(values) <= most)


def _densest(series: Iterable[list[float]], is_good: Callable[[list[float]], bool]) -> list[float]:
    return max(filter(is_good, series), key=len)


def _multiples(scale: Scale, step: float) -> list[float]:
    """Of a step, within the scale; none if there are too many of them."""
    first, last = math.ceil(scale.low / step), math.floor(scale.high / step)
    return [number * step for number in range(first, last + 1)] if last - first < _MANY else []


def _powers(scale: Scale, base: float) -> list[float]:
    low, high = (math.log(end, base) for end in (scale.low, scale.high))
    powers = range(math.ceil(low - _NEARLY), math.floor(high + _NEARLY) + 1)
    return [base**power for power in powers]


def curve(across: Scale, scale: Scale, values: Sequence[float]) -> tuple[str, ...]:
    """Polylines through the finite ones of evenly spaced values, in thousandths."""
    parts = _runs(math.isfinite(value) for value in values)
    lines = [[_point(across, scale, at, values[at]) for at in part] for part in parts]
    return tuple(" ".join(line * 2 if len(line) == 1 else line) for line in lines)


def area(across: Scale, scale: Scale, ends: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Polygons between the lowest and the highest of evenly spaced values, in thousandths."""
    parts = _runs(math.isfinite(low) and math.isfinite(high) for low, high in ends)
    return tuple(
        " ".join(
            [_point(across, scale, at, ends[at][1]) for at in part]
            + [_point(across, scale, at, ends[at][0]) for at in reversed(part)]
        )
        for part in parts
    )


def _point(across: Scale, scale: Scale, x: float, y: float) -> str:
    """`x,y` in thousandths of the room."""
    return f"{10 * across.at(x):.0f},{10 * scale.from_top(y):.0f}"


def _runs(known: Iterable[bool]) -> list[list[int]]:
    """The indexes of values that are known, in a list for each of their runs without a gap."""
    groups = groupby(enumerate(known), key=lambda each: each[1])
    return [[at for at, _ in group] for is_known, group in groups if is_known]

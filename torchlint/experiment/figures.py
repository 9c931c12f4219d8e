"""The numbers of a measurement, formatted for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.intervals import Estimate

UNKNOWN: Final = "-"
TIMES: Final = "\N{MULTIPLICATION SIGN}"
TO: Final = "\N{RIGHTWARDS ARROW}"
_WIDEST: Final = 1e4
_SIZES: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def ratio(value: float | None) -> str:
    """`1.777`; four figures from ten on."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{value:.3f}" if abs(value) < 10 else f"{value:#.4g}".rstrip(".")


def interval(ends: tuple[float, float]) -> str:
    """`[1.758, 1.796]`; a single pair has none."""
    if not is_interval(ends):
        return "no interval"
    return f"[{ratio(ends[0])}, {ratio(ends[1])}]"


def is_interval(ends: tuple[float, float]) -> bool:
    """Whether the ends say anything: a single pair leaves everything between 0 and infinity, and
    two that disagree leave nearly that."""
    return all(math.isfinite(end) and end > 0 for end in ends) and ends[1] < _WIDEST * ends[0]


def ratio_with_interval(estimate: Estimate | None) -> str:
    """`1.777 [1.758, 1.796]`, with the interval that the verdict rests on."""
    return UNKNOWN if estimate is None else f"{ratio(estimate.ratio)} {interval(estimate.strict)}"


def times(estimate: Estimate) -> str:
    """The same with a multiplication sign in front."""
    return f"{TIMES}{ratio_with_interval(estimate)}"


def milliseconds(value: float) -> str:
    """A time in three figures with its unit."""
    if not math.isfinite(value):
        return UNKNOWN
    for unit, size in (("s", 1e3), ("ms", 1.0)):
        if abs(value) >= size:
            return f"{_three_figures(value / size)} {unit}"
    return f"{_three_figures(value * 1e3)} µs" if value else "0 ms"


def before_and_after(pair: tuple[float, float]) -> str:
    """`16.6 → 9.40 ms`, with one unit if they share it."""
    first, last = milliseconds(pair[0]), milliseconds(pair[1])
    number, _, unit = first.partition(" ")
    return f"{number} {TO} {last}" if last.endswith(f" {unit}") else f"{first} {TO} {last}"


def _three_figures(value: float) -> str:
    if abs(value) >= 999.5:
        return f"{value:.0f}"
    return f"{value:#.3g}".rstrip(".")


def percent(share: float) -> str:
    """`1.2%`."""
    if not math.isfinite(share):
        return UNKNOWN
    return f"{share * 100:.2g}%" if abs(share) < 0.995 else f"{share * 100:.0f}%"


def difference(value: float) -> str:
    """A relative difference in two figures."""
    return f"{value:.1e}" if math.isfinite(value) else "not finite"


def duration(seconds: float) -> str:
    """`48 s`, `1 min 48 s`, `2 h 5 min`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def count(number: int) -> str:
    """A whole number with thousands apart."""
    return f"{number:,}".replace(",", " ")


def megabytes(pair: tuple[float, float]) -> str:
    """`812 → 806 MB`."""
    before, after = (count(round(each)) if math.isfinite(each) else UNKNOWN for each in pair)
    return f"{before} {TO} {after} MB"


def scaled(value: float, unit: str) -> str:
    """`1.24 GFLOP` for 1.24e9 of them."""
    for size, letter in _SIZES:
        if value >= 0.9995 * size:
            return f"{_at_most_three(value / size)} {letter}{unit}"
    return f"{_at_most_three(value)} {unit}"


def mebibytes(value: float) -> str:
    """`512 MiB`, `12.5 GiB`."""
    in_gib = value >= 0.9995 * 1024
    return f"{_at_most_three(value / 1024)} GiB" if in_gib else f"{_at_most_three(value)} MiB"


def _at_most_three(value: float) -> str:
    return f"{value:.0f}" if value >= 999.5 else f"{value:.3g}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

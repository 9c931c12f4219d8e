"""What the charts of intervals, blocks, lanes and losses show."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import is_interval, milliseconds
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.report.measured.axes import (
    Scale,
    StepLane,
    Tick,
    area,
    curve,
    decades,
    linear_ticks,
    padded_scale,
    ratio_scale,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.rounds import BlockStrip
    from torchlint.runtime.probe.messages import Lanes
    from torchlint.verify.result import Comparison, FixMeasurement, Numerics, Result, Verdict

_MARGIN: Final = 0.02
_MOST_STEPS: Final = 240
_SMALLEST: Final = 1e-17
"""Relative difference of a loss that a chart shows."""


# intervals ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """A ratio with its intervals; `dots` are single pairs."""

    shape: str
    tone: str
    estimate: Estimate
    dots: Sequence[float] = ()

    @property
    def inner(self) -> tuple[float, float]:
        """The 95 % interval."""
        ratio, ci = self.estimate.ratio, self.estimate.ci
        return ci if is_interval(ci) else (ratio, ratio)

    @property
    def outer(self) -> tuple[float, float]:
        """The stricter one around it."""
        (low, high), strict = self.inner, self.estimate.strict
        return (min(strict[0], low), max(strict[1], high)) if is_interval(strict) else (low, high)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A line of the forest: `noise`, `total` or the id of a fix, with up to two intervals."""

    key: str
    marks: list[Mark]
    fix: FixMeasurement | None = None


@dataclass(frozen=True, slots=True)
class Forest:
    """Intervals of ratios over a common axis.

    `margin` around 1 holds what is not a difference; `floor` is what the claim of a difference has
    to clear, 0 unless the machine's noise is wider than that.
    """

    margin: float
    floor: float
    rows: list[ForestRow] = field(default_factory=list)

    @property
    def scale(self) -> Scale:
        marks = [mark for row in self.rows for mark in row.marks]
        return ratio_scale(
            [end for mark in marks for end in (mark.estimate.ratio, *mark.inner)], self.margin
        )


def forest(result: Result) -> Forest:
    """The original against itself, the whole change, and each fix that was measured, alone and
    after the others."""
    margin = result.plan.margin if result.plan else _MARGIN
    floor = result.aa.floor if result.aa and math.isfinite(result.aa.floor) else 0.0
    chart = Forest(margin, floor if floor > margin else 0.0)
    if result.aa is not None:
        colour = "noise" if result.aa.fit else "unfit"
        dots = _pair_ratios(result.strips, AGAIN)
        chart.rows.append(ForestRow("noise", _marks("noise", colour, result.aa.estimate, dots)))
    dots, total = _pair_ratios(result.strips, CHANGED), result.total
    alone = [fix.alone.estimate for fix in result.fixes]
    if total is not None and alone != [total.estimate]:  # or it is that of the only fix
        chart.rows.append(ForestRow("total", _compared("total", total, dots)))
        dots = []
    for fix in result.fixes:
        if fix.is_measured:
            marks = _compared("alone", fix.alone, dots) + _compared("after", fix.after)
            chart.rows.append(ForestRow(fix.id, marks, fix))
    return chart


def tone(verdict: Verdict) -> str:
    """The verdict as the name of a colour."""
    return verdict.name.lower().replace("_", "-")


def _compared(shape: str, comparison: Comparison | None, dots: Sequence[float] = ()) -> list[Mark]:
    if comparison is None:
        return []
    return _marks(shape, tone(comparison.verdict), comparison.estimate, dots)


def _marks(shape: str, colour: str, estimate: Estimate | None, dots: Sequence[float]) -> list[Mark]:
    is_known = estimate is not None and math.isfinite(estimate.ratio)
    return [Mark(shape, colour, estimate, dots)] if estimate and is_known else []


def _pair_ratios(strips: Sequence[BlockStrip], variant: str) -> list[float]:
    """The median ratio of each pair: what the interval is made of."""
    dots = []
    for strip in strips:
        before, after = (strip.seconds.get(name, ()) for name in (ORIGINAL, variant))
        ratios = [a / b for a, b in zip(before, after, strict=False) if a > 0 and b > 0]
        dots += [median(ratios)] if ratios else []
    return dots


# blocks ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blocks:
    """All pairs on one scale of time: for each a panel, which has the polylines of its variants in
    thousandths."""

    panels: list[dict[str, tuple[str, ...]]]
    ticks: list[Tick]
    variants: list[str]


def blocks(strips: Sequence[BlockStrip]) -> Blocks | None:
    """Seconds per step, block by block, so that drift shows; None if nothing was measured."""
    lines = [seconds for strip in strips for seconds in strip.seconds.values()]
    values = [value for line in lines for value in line if math.isfinite(value)]
    if not values:
        return None
    scale = padded_scale(values)
    panels = [
        {
            name: curve(Scale(0, max(1, len(each) - 1)), scale, each)
            for name, each in strip.seconds.items()
        }
        for strip in strips
    ]
    return Blocks(
        panels,
        [Tick(scale.from_top(at), milliseconds(at * 1e3)) for at in linear_ticks(scale, 4)],
        list(dict.fromkeys(name for panel in panels for name in panel)),
    )


# lanes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LaneChart:
    """The lanes on one scale of time; bars of `cut` steps reach beyond the top."""

    lanes: list[StepLane]
    whole: str
    """The time of all lanes together: of a step then, not of one that was measured."""
    steps: int
    cut: int
    top: str


def lanes(found: Lanes) -> LaneChart | None:
    """Where the time of a step goes; None if it was not seen."""
    times = {
        name: [each if math.isfinite(each) and each > 0 else 0.0 for each in lane]
        for name, lane in asdict(found).items()
    }
    medians = {name: median(lane) if lane else 0.0 for name, lane in times.items()}
    whole = sum(medians.values())
    if not whole > 0:
        return None
    top = 1.25 * max(sorted(lane)[int(0.9 * len(lane))] for lane in times.values() if lane)
    return LaneChart(
        [
            StepLane(name, each / whole, milliseconds(each * 1e3), _bars(times[name], top))
            for name, each in medians.items()
        ],
        milliseconds(whole * 1e3),
        max(map(len, times.values())),
        len({at for lane in times.values() for at, value in enumerate(lane) if value > top}),
        milliseconds(top * 1e3),
    )


def _bars(values: Sequence[float], top: float) -> str:
    """A bar for each step, or for each few steps their median, in thousandths of the room."""
    group = -(-len(values) // _MOST_STEPS)
    kept = [median(values[at : at + group]) for at in range(0, len(values), group or 1)]
    width = 1000 / max(1, len(kept))
    bar = max(0.6 * width, width - 3)
    return "".join(
        f"M{at * width:.1f} 1000V{1000 - 1000 * min(1.0, value / top):.0f}h{bar:.1f}V1000z"
        for at, value in enumerate(kept)
        if value > 0
    )


# losses ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LossChart:
    """Curves in thousandths of the room; a gap in a curve ends one of its polylines.

    `apart` and `spread` are relative: of the changed program, and of the perturbed originals.
    """

    ticks: tuple[Tick, ...]
    step_ticks: tuple[Tick, ...]
    original: tuple[str, ...]
    changed: tuple[str, ...]
    envelope: tuple[str, ...]
    apart_ticks: tuple[Tick, ...]
    apart: tuple[str, ...]
    spread: tuple[str, ...]
    steps: int
    equal: bool
    """Whether all losses are equal to the last bit."""


def losses(numerics: Numerics | None) -> LossChart | None:
    """The curves; None if no loss was seen."""
    pairs = numerics.losses if numerics else ()
    shown = [value for pair in pairs for value in pair if math.isfinite(value)]
    if numerics is None or not shown:
        return None
    scale = padded_scale(shown)
    across = Scale(0, max(1, len(pairs) - 1))
    apart = [_relative(before, after - before) for before, after in pairs]
    spread = [
        _relative(before, max(abs(high - before), abs(before - low)))
        for (before, _), (low, high) in zip(pairs, numerics.envelope, strict=False)
    ]
    small = [value for value in (*apart, *spread) if math.isfinite(value) and value > 0]
    down = _decade_scale(small)
    return LossChart(
        ticks=_labelled(scale, linear_ticks(scale, 4)),
        step_ticks=tuple(
            Tick(across.at(step), f"{step:.0f}")
            for step in linear_ticks(across, 6)
            if step == int(step)
        ),
        original=curve(across, scale, [before for before, _ in pairs]),
        changed=curve(across, scale, [after for _, after in pairs]),
        envelope=area(across, scale, numerics.envelope),
        apart_ticks=_labelled(down, decades(down, 4)),
        apart=curve(across, down, apart),
        spread=curve(across, down, spread),
        steps=len(pairs),
        equal=all(before == after for before, after in pairs),
    )


def _relative(base: float, gap: float) -> float:
    """Not a number where they are equal: a logarithmic scale has no place for that."""
    return abs(gap) / max(abs(base), 1e-12) if gap else math.nan


def _decade_scale(values: Sequence[float]) -> Scale:
    """Whole powers of ten around the values."""
    low = math.floor(math.log10(max(_SMALLEST, min(values)))) if values else -8
    high = math.ceil(math.log10(max(_SMALLEST * 10, *values))) if values else -4
    return Scale(10.0**low, 10.0 ** max(high, low + 2), logarithmic=True)


def _labelled(scale: Scale, values: Iterable[float]) -> tuple[Tick, ...]:
    return tuple(Tick(scale.from_top(value), _short(value)) for value in values)


def _short(value: float) -> str:
    power = f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e+")
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 or value == 0 else power

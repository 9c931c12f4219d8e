"""What the charts of intervals, blocks and lanes show, as places in percent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import is_interval, milliseconds
from torchlint.report.measured.axes import (
    Scale,
    StepLane,
    Tick,
    curve,
    linear_ticks,
    padded_scale,
    ratio_scale,
    ratio_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.rounds import BlockStrip
    from torchlint.runtime.survey import Lanes
    from torchlint.verify.result import Comparison, FixResult, Result, Verdict

_MARGIN: Final = 0.02
_MOST_STEPS: Final = 240


# intervals ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """One interval. `low` and `high` are the 95 % interval, `outer` the stricter one; `dots` are
    single pairs. All of them in percent."""

    shape: str
    at: float
    low: float
    high: float
    outer: tuple[float, float]
    tone: str
    dots: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A line of the forest: `noise`, `total` or the id of a fix, with up to two intervals."""

    key: str
    marks: tuple[Mark, ...]
    fix: FixResult | None = None


@dataclass(frozen=True, slots=True)
class Forest:
    """Intervals of ratios over a common axis.

    `band` is the margin around `one`, which holds what is no difference; `noise_band` what the
    claim of a difference has to clear, if the machine's noise is wider than that.
    """

    rows: tuple[ForestRow, ...]
    ticks: tuple[Tick, ...]
    one: float
    margin: float
    band: tuple[float, float]
    noise_band: tuple[float, float] | None


def forest(result: Result) -> Forest:
    """The original against itself, the whole change, and each fix that was measured, alone and
    after the others."""
    margin = result.plan.margin if result.plan else _MARGIN
    floor = result.aa.floor if result.aa and math.isfinite(result.aa.floor) else 0.0
    scale = ratio_scale(_ends(result), margin)
    rows = []
    if result.aa is not None:
        dots = _pair_ratios(result.strips, "original again")
        colour = "noise" if result.aa.fit else "unfit"
        rows.append(ForestRow("noise", _marks(scale, "noise", colour, result.aa.estimate, dots)))
    dots = _pair_ratios(result.strips, "changed")
    if result.total is not None and not _is_the_only_fix(result):
        colour = tone(result.total.verdict)
        rows.append(ForestRow("total", _marks(scale, "total", colour, result.total.estimate, dots)))
        dots = []
    for fix in filter(attrgetter("is_measured"), result.fixes):
        alone = _marks(scale, "alone", tone(fix.alone.verdict), fix.alone.estimate, dots)
        rows.append(ForestRow(fix.id, alone + _after(scale, fix.after), fix))
    return Forest(
        rows=tuple(rows),
        ticks=ratio_ticks(scale),
        one=scale.at(1.0),
        margin=margin,
        band=_band(scale, margin),
        noise_band=_band(scale, floor) if floor > margin else None,
    )


def _band(scale: Scale, margin: float) -> tuple[float, float]:
    """As much faster as slower."""
    return scale.at(1 / (1 + margin)), scale.at(1 + margin)


def _is_the_only_fix(result: Result) -> bool:
    """Whether the whole change is one fix, which then stands for it."""
    return (
        len(result.fixes) == 1
        and result.total is not None
        and result.total.estimate == result.fixes[0].alone.estimate
    )


def tone(verdict: Verdict) -> str:
    """The verdict as the name of a colour."""
    return verdict.name.lower().replace("_", "-")


def _after(scale: Scale, after: Comparison | None) -> tuple[Mark, ...]:
    return () if after is None else _marks(scale, "after", tone(after.verdict), after.estimate)


def _ends(result: Result) -> Iterator[float]:
    comparisons = [result.total]
    for fix in result.fixes:
        comparisons += [fix.alone, fix.after]
    found = [each.estimate for each in comparisons if each is not None]
    for estimate in (result.aa.estimate if result.aa else None, *found):
        if estimate is not None:
            yield estimate.ratio
            yield from estimate.ci if is_interval(estimate.ci) else ()


def _marks(
    scale: Scale, shape: str, colour: str, estimate: Estimate | None, dots: Iterable[float] = ()
) -> tuple[Mark, ...]:
    if estimate is None or not math.isfinite(estimate.ratio):
        return ()
    low, high = estimate.ci if is_interval(estimate.ci) else (estimate.ratio, estimate.ratio)
    outer = estimate.strict if is_interval(estimate.strict) else (low, high)
    return (
        Mark(
            shape,
            scale.at(estimate.ratio),
            scale.at(low),
            scale.at(high),
            (scale.at(min(outer[0], low)), scale.at(max(outer[1], high))),
            colour,
            tuple(scale.at(dot) for dot in dots),
        ),
    )


def _pair_ratios(strips: Sequence[BlockStrip], variant: str) -> list[float]:
    """The median ratio of each pair: what the interval is made of."""
    found = []
    for strip in strips:
        blocks = zip(
            strip.seconds.get("original", ()), strip.seconds.get(variant, ()), strict=False
        )
        ratios = [before / after for before, after in blocks if before > 0 and after > 0]
        if ratios:
            found.append(median(ratios))
    return found


# blocks ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blocks:
    """All pairs on one scale of time: for each a panel, which has the polylines of its variants in
    thousandths."""

    panels: tuple[dict[str, tuple[str, ...]], ...]
    ticks: tuple[Tick, ...]
    variants: tuple[str, ...]


def blocks(strips: Sequence[BlockStrip]) -> Blocks | None:
    """Seconds per step, block by block, so that drift shows; None if nothing was measured."""
    lines = [seconds for strip in strips for seconds in strip.seconds.values()]
    values = [value for line in lines for value in line if math.isfinite(value)]
    if not values:
        return None
    scale = padded_scale(values)
    return Blocks(
        tuple(
            {
                name: curve(Scale(0, max(1, len(each) - 1)), scale, each)
                for name, each in strip.seconds.items()
            }
            for strip in strips
        ),
        tuple(
            Tick(scale.from_top(value), milliseconds(value * 1e3))
            for value in linear_ticks(scale, 4)
        ),
        tuple(dict.fromkeys(name for strip in strips for name in strip.seconds)),
    )


# lanes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LaneChart:
    """The lanes on one scale of time; bars of `cut` steps reach beyond the top."""

    lanes: tuple[StepLane, ...]
    whole: str
    """The time of all lanes together: of a step then, not of one that was measured."""
    steps: int
    cut: int
    top: str


def lanes(found: Lanes) -> LaneChart | None:
    """Where the time of a step goes; None if it was not seen."""
    by_name = {name: _finite(times) for name, times in asdict(found).items()}
    steps = max(map(len, by_name.values()))
    medians = {name: median(each) if each else 0.0 for name, each in by_name.items()}
    whole = sum(medians.values())
    if not whole > 0:
        return None
    top = 1.25 * max(_quantile(each, 0.9) for each in by_name.values() if each)
    over = {at for each in by_name.values() for at, value in enumerate(each) if value > top}
    return LaneChart(
        tuple(
            StepLane(
                name, medians[name] / whole, milliseconds(medians[name] * 1e3), _bars(each, top)
            )
            for name, each in by_name.items()
        ),
        milliseconds(whole * 1e3),
        steps,
        len(over),
        milliseconds(top * 1e3),
    )


def _finite(values: Sequence[float]) -> list[float]:
    return [value if math.isfinite(value) and value > 0 else 0.0 for value in values]


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


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

"""What the charts of losses show: both curves, and how far they are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.report.measured.axes import (
    Scale,
    Tick,
    area,
    curve,
    decades,
    linear_ticks,
    padded_scale,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.verify.result import Numerics

_SMALLEST: Final = 1e-17


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

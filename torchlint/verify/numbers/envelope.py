"""How far a program's numbers move when only the last place of its weights is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from torchlint.verify.numbers.traces import distances, shape_differs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.verify.numbers.traces import Distance, Floats, Trace

CLEAR: Final = 0.05
"""While the original strays by a smaller part of its loss than this, a difference can be seen."""
NEAR: Final = 1e-3
"""So far apart may two first losses be that differ in rounding."""
ROUGH: Final = 0.2
"""A parameter that strays by a larger part of its way than this is not known well enough."""


@dataclass(frozen=True, slots=True)
class Stray:
    """Where a program is furthest outside of an envelope.

    Args:
        ratio: times the envelope; 0 if it is the same, infinite if only one of the two is a number.
        quantity: what, by name.
        step: when, counted from 0.
    """

    ratio: float = 0.0
    quantity: str = ""
    step: int = 0


class Envelope:
    """What runs of one program that differ in a last place make of each of its quantities.

    Args:
        reference: the run that the others are measured from.
        draws: the same program, each with its first weights changed by one unit in the last place,
            or not changed at all where it does not repeat itself.
    """

    def __init__(self, reference: Trace, draws: Sequence[Trace]) -> None:
        self._reference = reference
        self._draws = tuple(draws)
        self._widths = _widths(reference, draws)
        self._noise = self._only_noise()
        self.judged = self._first_wide_step()
        """The first step that cannot be judged: the envelope is as wide as the loss is high."""

    def stray(self, runs: Sequence[Trace], reference: Trace | None = None) -> Stray:
        """Where every one of some runs of another program is outside.

        Args:
            runs: of that program, different in a last place.
            reference: measure from this run instead.
        """
        reference = self._reference if reference is None else reference
        apart = [distances(reference, run) for run in runs]
        worst = Stray()
        for name in set.intersection(*(set(each) for each in apart)):
            least: dict[int, float] = {}
            for distance in (each[name] for each in apart):
                for step, ratio in self._ratios(name, distance).items():
                    least[step] = min(ratio, least.get(step, ratio))
            for step, ratio in least.items():
                if (ratio, -step, name) > (worst.ratio, -worst.step, worst.quantity):
                    worst = Stray(ratio, name, step)
        return worst

    def first_stray(self, run: Trace) -> Stray:
        """How far the first loss of another program is outside, or its first output."""
        worst = Stray()
        apart = distances(self._reference, run)
        for name in self._reference.answers:
            # Only the first look: what comes later may follow from what was declared.
            for step, ratio in list(self._ratios(name, apart[name]).items())[:1]:
                if ratio > worst.ratio:
                    worst = Stray(ratio, name, step)
        return worst

    def losses(self) -> list[tuple[float, float]]:
        """Per step, the lowest and the highest loss of all runs of the program."""
        runs = [run.mean_losses() for run in (self._reference, *self._draws)]
        return [(min(each), max(each)) for each in zip(*runs, strict=False)]

    def _ratios(self, name: str, distance: Distance) -> dict[int, float]:
        """Times the envelope, by step. Where the envelope has no end, nothing is outside of it."""
        widths = self._widths.get(name, {})
        noise = self._noise.get(name, frozenset())
        ratios = {}
        for step, far, floor in zip(distance.steps, distance.far, distance.floor, strict=True):
            width = widths.get(step, 0.0)
            if step < self.judged and step not in noise:
                outside = far > 0 and width < np.inf
                ratios[step] = float(np.divide(far, width + floor)) if outside else 0.0
        return ratios

    def _only_noise(self) -> dict[str, frozenset[int]]:
        """By parameter, the steps at which it has moved by what rounding makes, and little else.

        Such as the bias of a convolution before batch norm, whose gradient is what is left of a
        sum that should be zero: it depends on the order of the sum as nothing else does.
        """
        names = {}
        for name, course in self._reference.parameters.items():
            widths = self._widths[name]
            moved = np.linalg.norm(course.values, axis=1)
            names[name] = frozenset(
                step
                for step, far in zip(course.steps, moved, strict=True)
                if widths.get(step, 0.0) > ROUGH * far
            )
        return names

    def _first_wide_step(self) -> int:
        """A loss that has come close to nothing still counts as the number that it was."""
        wide = self._reference.end
        for name, course in self._reference.answers.items():
            sizes = np.maximum.accumulate(np.nan_to_num(course.size, posinf=0.0))
            for step, size in zip(course.steps, sizes, strict=True):
                if self._widths[name].get(step, 0.0) > CLEAR * size:
                    wide = min(wide, step)
        return wide


def repeats_but_for_rounding(reference: Trace, again: Trace) -> bool:
    """Whether two runs of one program are apart as kernels are that add up in any order.

    Other samples, or another dropout, change a first loss and a first update by far more.
    """
    if shape_differs(reference, again):
        return False
    apart = distances(reference, again)
    losses = [apart[name].share(0) for name in reference.answers]
    ways = [
        apart[name].far[0] / moved
        for name, course in reference.parameters.items()
        if name in apart and (moved := float(np.linalg.norm(course.values[0]))) > 0
    ]
    return max(losses, default=0.0) < NEAR and (not ways or float(np.median(ways)) < CLEAR)


def _widths(reference: Trace, draws: Sequence[Trace]) -> Mapping[str, dict[int, float]]:
    """By quantity and step: how far the furthest draw has been up to then."""
    widths: dict[str, dict[int, float]] = {name: {} for name in reference.quantities}
    for draw in draws:
        for name, distance in distances(reference, draw).items():
            grown: Floats = np.maximum.accumulate(distance.far)
            for step, far in zip(distance.steps, grown, strict=True):
                widths[name][step] = max(widths[name].get(step, 0.0), float(far))
    return widths

"""What one run of a program computed, and how far two runs are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from torchlint.runtime.probe.messages import History, Recorded

    Floats = NDArray[np.float64]
    Own = tuple[int, float, float]

_ULPS = 4.0
"""A loss is the end of a sum whose order may change: so many units in its last place mean
nothing."""


@dataclass(frozen=True, slots=True)
class Course:
    """A quantity, step by step.

    Args:
        steps: at which it was looked at.
        digests: one per look; equal for equal bits.
        values: float64, looks by numbers. What the quantity has become since its start.
        size: float64, one per look: its magnitude.
        eps: relative distance of neighbouring numbers of its type; 0 for integers.
        count: how many numbers it represents.
    """

    steps: tuple[int, ...]
    digests: tuple[object, ...]
    values: Floats
    size: Floats
    eps: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Distance:
    """How far a quantity of one run is from the same of another, look by look.

    Args:
        steps: at which both were looked at.
        equal: whether all bits are the same, one per look.
        far: float64, absolute; infinite where one of the two is not a number.
        size: float64, magnitude of the quantity.
        floor: float64, what rounding makes of any quantity of this type and magnitude.
    """

    steps: tuple[int, ...]
    equal: tuple[bool, ...]
    far: Floats
    size: Floats
    floor: Floats

    def share(self, look: int) -> float:
        """How large a part of the quantity the distance is at one look."""
        if self.far[look] == 0:
            return 0.0
        return float(self.far[look] / self.size[look]) if self.size[look] > 0 else math.inf

    def largest(self, judged: int) -> float:
        """The largest share before the step `judged`."""
        shares = (self.share(look) for look, step in enumerate(self.steps) if step < judged)
        return max(shares, default=0.0)


@dataclass(frozen=True, slots=True)
class Trace:
    """What one run computed.

    Args:
        first: the first step that was written down, counted from 0 as all steps are.
        steps: how many were written down.
        counts: backward passes of each of them.
        losses: by place within a step.
        parameters: by name.
        outputs: by place within a step; only of a program that takes no gradients.
        own: size, mean and root mean square of the parameters before they were taken over.
        held: switches of the program that were held back so that it repeats itself.
    """

    first: int
    steps: int
    counts: tuple[int, ...]
    losses: tuple[Course, ...]
    parameters: Mapping[str, Course]
    outputs: tuple[Course, ...]
    own: Mapping[str, Own]
    held: tuple[str, ...]

    @classmethod
    def from_record(cls, record: Recorded) -> Trace:
        """Read what a run has recorded.

        Raises:
            MalformedError: its numbers are not numbers, or their count is wrong.
        """
        try:
            return cls._from_record(record)
        except (ValueError, TypeError, OverflowError) as error:
            raise MalformedError(f"record: {error}") from error

    @classmethod
    def _from_record(cls, record: Recorded) -> Trace:
        losses = [[float.fromhex(value) for value in step] for step in record.losses]
        rows = [[_Row.read(row) for row in step] for step in record.outputs]
        return cls(
            first=record.first,
            steps=record.steps,
            counts=tuple(len(step) for step in losses),
            losses=tuple(_losses(losses, record.first, float.fromhex(record.loss_eps))),
            parameters={
                name: _parameter(history, record.at) for name, history in record.parameters.items()
            },
            outputs=tuple(_outputs(rows, record.first, float.fromhex(record.output_eps))),
            own={
                name: (size, float.fromhex(mean), float.fromhex(rms))
                for name, (size, mean, rms) in record.own.items()
            },
            held=tuple(record.held),
        )

    @property
    def end(self) -> int:
        """The step after the last."""
        return self.first + self.steps

    @property
    def answers(self) -> dict[str, Course]:
        """Losses, or outputs where there are none."""
        found = {_nth("loss", place): each for place, each in enumerate(self.losses)}
        return found | {_nth("output", place): each for place, each in enumerate(self.outputs)}

    @property
    def quantities(self) -> dict[str, Course]:
        """Everything that can be compared, losses first."""
        return self.answers | dict(self.parameters)

    def mean_losses(self) -> list[float]:
        """One number per step that has a loss; the steps after the first without are left out."""
        losses = []
        for step in range(self.first, self.end):
            there = [
                loss.values[loss.steps.index(step), 0] for loss in self.losses if step in loss.steps
            ]
            if not there:
                break
            losses.append(float(np.mean(there)))
        return losses


def shape_differs(reference: Trace, other: Trace) -> str:
    """What another run does more or less often than the reference, in words; empty if nothing."""
    if reference.steps != other.steps:
        return f"it takes {other.steps} steps where the original takes {reference.steps}"
    counts = zip(reference.counts, other.counts, strict=True)
    for step, (mine, theirs) in enumerate(counts, reference.first):
        if mine != theirs:
            return f"it takes gradients {theirs} times in step {step}, the original {mine} times"
    if [each.steps for each in reference.outputs] != [each.steps for each in other.outputs]:
        return "its model returns other tensors"
    return ""


def same_bits(reference: Trace, other: Trace) -> bool:
    """Whether all that both have computed is the same to the last bit."""
    return not shape_differs(reference, other) and all(
        all(distance.equal) for distance in distances(reference, other).values()
    )


def distances(reference: Trace, other: Trace) -> dict[str, Distance]:
    """How far the quantities that both runs have are apart."""
    theirs = other.quantities
    return {
        name: _distance(mine, theirs[name])
        for name, mine in reference.quantities.items()
        if name in theirs and mine.count == theirs[name].count
    }


def _distance(mine: Course, other: Course) -> Distance:
    steps = tuple(sorted(set(mine.steps) & set(other.steps)))
    here = [mine.steps.index(step) for step in steps]
    there = [other.steps.index(step) for step in steps]
    ours, theirs = mine.values[here], other.values[there]
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(_same(ours, theirs), 0.0, np.abs(ours - theirs))
        far = np.sqrt(np.square(np.where(np.isnan(apart), np.inf, apart)).sum(axis=1))
        size = np.nan_to_num(mine.size[here], nan=0.0, posinf=0.0)
    return Distance(
        steps=steps,
        equal=tuple(mine.digests[a] == other.digests[b] for a, b in zip(here, there, strict=True)),
        far=far,
        size=size,
        floor=size * max(mine.eps, other.eps),
    )


def _same(ours: Floats, theirs: Floats) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (np.isnan(ours) & np.isnan(theirs)) | (ours == theirs)
    return same


def _nth(what: str, place: int) -> str:
    return what if place == 0 else f"{what} {place + 1}"


def _losses(losses: list[list[float]], first: int, eps: float) -> Iterator[Course]:
    for place in range(max(map(len, losses), default=0)):
        there = {step: each[place] for step, each in enumerate(losses, first) if len(each) > place}
        values = np.array(list(there.values()))
        digests = tuple(value.hex() for value in there.values())
        yield Course(tuple(there), digests, values[:, None], np.abs(values), _ULPS * eps)


@dataclass(frozen=True, slots=True)
class _Row:
    """A tensor at one moment: digest, sketch and norm."""

    digest: int
    sketch: tuple[float, ...]
    norm: float

    @classmethod
    def read(cls, row: list[Any]) -> _Row:
        digest, *sketch, squares = row
        return cls(digest, tuple(map(float.fromhex, sketch)), float.fromhex(squares) ** 0.5)


def _course(
    rows: Mapping[int, _Row], start: tuple[float, ...] | None, eps: float, count: int
) -> Course:
    sketches = np.array([row.sketch for row in rows.values()]).reshape(len(rows), -1)
    if start is not None:
        with np.errstate(invalid="ignore"):
            sketches = sketches - np.array(start)
    return Course(
        steps=tuple(rows),
        digests=tuple(row.digest for row in rows.values()),
        values=sketches,
        size=np.array([row.norm for row in rows.values()]),
        eps=eps,
        count=count,
    )


def _parameter(history: History, at: Sequence[int]) -> Course:
    rows = {
        step: _Row.read(row) for step, row in zip(at, history.after, strict=True) if row is not None
    }
    start = _Row.read(history.start).sketch
    return _course(rows, start, float.fromhex(history.eps), history.size)


def _outputs(rows: list[list[_Row]], first: int, eps: float) -> Iterator[Course]:
    for place in range(max(map(len, rows), default=0)):
        there = {step: each[place] for step, each in enumerate(rows, first) if len(each) > place}
        yield _course(there, None, eps, 1)

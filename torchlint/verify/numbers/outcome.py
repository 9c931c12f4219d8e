"""What is reported about two runs whose numbers were compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from torchlint.verify.numbers.traces import distances
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from torchlint.verify.numbers.envelope import Envelope, Stray
    from torchlint.verify.numbers.traces import Course, Trace


def describe(
    agreement: Agreement,
    reference: Trace,
    other: Trace,
    *,
    level: int,
    why: str = "",
    stray: Stray | None = None,
    envelope: Envelope | None = None,
) -> Numerics:
    """The verdict with everything that a reader may want to see of it.

    Args:
        agreement: the verdict.
        reference: a run of the original.
        other: a run of the changed program.
        level: how far random numbers were realigned in both.
        why: what to say about it, apart from what is noted here.
        stray: where the changed program is furthest outside of the envelope.
        envelope: how far the original strays by itself.
    """
    apart = distances(reference, other)
    unequal = [
        step
        for distance in apart.values()
        for step, equal in zip(distance.steps, distance.equal, strict=True)
        if not equal
    ]
    judged = reference.end if envelope is None else envelope.judged
    return Numerics(
        agreement=agreement,
        why="; ".join(filter(None, (why, *_notes(reference, other)))),
        level=level,
        first_step=min(unequal, default=None),
        steps=(reference.end if agreement is Agreement.BITWISE else judged) - reference.first,
        first=reference.first,
        largest=max((distance.largest(judged) for distance in apart.values()), default=0.0),
        envelope_ratio=None if stray is None else stray.ratio,
        losses=tuple(zip(reference.mean_losses(), other.mean_losses(), strict=False)),
        envelope=() if envelope is None else tuple(envelope.losses()),
    )


def repetition(reference: Trace, again: Trace, *, same: bool) -> Numerics:
    """Whether the original repeats its own numbers."""
    if not reference.quantities:
        return nothing_seen(reference)
    if same:
        return describe(Agreement.BITWISE, reference, again, level=0)
    why = "the original computes other numbers each time that it runs"
    return describe(Agreement.UNKNOWN, reference, again, level=0, why=why)


def nothing_seen(reference: Trace) -> Numerics:
    """A program without a known number."""
    if reference.first and not reference.steps:
        why = f"the script ends before step {reference.first}; lower --numbers-from"
    else:
        why = "no loss, parameter or output was seen"
    return Numerics(Agreement.UNKNOWN, why)


def wavers_alike(mine: Course, theirs: Course, times: float) -> bool:
    """Whether two courses of a loss are about as far apart as one of them from step to step."""
    steps = [step for step in mine.steps if step in theirs.steps]
    ours = np.array([mine.values[mine.steps.index(step), 0] for step in steps])
    other = np.array([theirs.values[theirs.steps.index(step), 0] for step in steps])
    finite = np.isfinite(ours)
    if not np.array_equal(finite, np.isfinite(other)):
        return False
    ours, other = ours[finite], other[finite]
    if len(ours) < 2:
        return True
    return bool(np.abs(ours - other).max() <= times * np.abs(np.diff(ours)).max())


def _notes(reference: Trace, other: Trace) -> list[str]:
    notes = []
    mine, theirs = reference.parameters, other.parameters
    for names, word in ((set(mine) - set(theirs), "fewer"), (set(theirs) - set(mine), "more")):
        if names:
            noun = "parameter" if len(names) == 1 else "parameters"
            notes.append(f"checkpoints hold {len(names)} {noun} {word}")
    if mine and theirs and not set(mine) & set(theirs):
        notes.append("no parameter has the same name in both, so only losses were compared")
    reshaped = [name for name in mine if name in theirs and mine[name].count != theirs[name].count]
    if reshaped:
        notes.append(f"{reshaped[0]} has another size")
    held = [name for name in other.held if name not in reference.held]
    if held:
        notes.append(f"compared with {' and '.join(held)} held off")
    broken = _first_that_is_no_number(reference)
    if broken is not None:
        notes.append(f"the loss is not a number from step {broken} on, in both")
    return notes


def _first_that_is_no_number(trace: Trace) -> int | None:
    for step, loss in enumerate(trace.mean_losses(), trace.first):
        if not math.isfinite(loss):
            return step
    return None

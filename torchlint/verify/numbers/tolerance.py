"""Numbers that differ on purpose: how far the losses may move then."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

from torchlint.verify.result import Agreement, Numerics

_USUAL = 0.05
"""That of `torchlint tune`, which is offered to those who declared none."""
_SHOWN = 0.001
"""A loss that moves less has moved by "less than" this."""


def tolerated(found: Numerics, tolerance: float | None) -> Numerics:
    """The same, as declared, if it differs in nothing but numbers, and the mean of the losses moves
    by no more than a share of it; of a larger move, `why` says how far.

    Args:
        tolerance: the share; None: what differs was not meant to.
    """
    if tolerance is None or found.agreement is not Agreement.DIFFERS:
        return found
    if found.envelope_ratio is None:  # other shapes, or other first weights
        return found
    moved = moved_by(found)
    if moved is None:
        return found
    agreement = Agreement.DECLARED if moved <= tolerance else Agreement.DIFFERS
    why = f"the mean loss moves by {move_in_words(moved)}"
    return replace(found, agreement=agreement, why=why)


def offered(found: Numerics) -> str:
    """What to do if numbers differ on purpose, in a sentence; empty if they differ by more than a
    change of precision explains."""
    allowed = tolerated(found, _USUAL)
    if allowed.agreement is not Agreement.DECLARED:
        return ""
    return (
        f"{allowed.why.capitalize()}; if the change computes other numbers on purpose, as bfloat16 "
        f"does, allow it with --tolerance {_USUAL:g}."
    )


def moved_by(found: Numerics) -> float | None:
    """How far the mean of the losses moved, as a share; None if there are none."""
    pairs = [each for each in found.losses if all(map(math.isfinite, each))]
    if not pairs or len(pairs) < len(found.losses):
        return None
    before, after = fmean(one for one, _ in pairs), fmean(other for _, other in pairs)
    return abs(after - before) / abs(before) if before else None


def move_in_words(moved: float) -> str:
    """`2.8%`, or "less than 0.1%"."""
    return f"{moved:.1%}" if moved >= _SHOWN else f"less than {_SHOWN:.1%}"

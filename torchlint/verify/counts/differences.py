"""What a change does fewer or more of in a step, and whether that is less work."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import TO, scaled
from torchlint.verify.result import COUNTERS, Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.verify.result import Comparison, Counters

UNITS: Final = {
    **{name: name for name in COUNTERS},
    "bytes": "bytes copied",
    "flops": "FLOP of products",
}
"""What the counters count."""
_OF_COST: Final = tuple(name for name in COUNTERS if name not in ("batches", "flops"))
"""Of which fewer are better, if the work is the same."""
_OPEN: Final = (Verdict.UNRESOLVED, Verdict.NOT_MEASURABLE)
_MOST: Final = 3
_LEAST_FLOPS: Final = 0.01
"""Share of the products that has to be missing; a change of their order may round a size up."""


def with_counters(found: Comparison, before: Counters | None, after: Counters | None) -> Comparison:
    """The comparison with what was counted: where the ratio says nothing, its reason begins with
    that.

    Args:
        before: of the original.
        after: of the changed program; None: it was not counted.
    """
    if before is None or after is None:
        return found
    less = less_work(before, after, found.numerics.agreement if found.numerics else None)
    why = found.why
    if found.verdict in _OPEN and not less:
        why = "; ".join(filter(None, (fewer_and_more(before, after), why)))
    return replace(found, why=why, counters=after, less_work=less)


def differing(before: Counters, after: Counters) -> list[str]:
    """The names of the counters that are known of both and differ."""
    return [name for name in COUNTERS if _differs(before.of(name), after.of(name))]


def fewer_and_more(before: Counters, after: Counters) -> str:
    """`does fewer: 3 → 0 reads a step`; empty if nothing that costs time differs."""
    said = []
    for word, is_less in (("fewer", True), ("more", False)):
        names = [
            name
            for name in differing(before, after)
            if name in _OF_COST and (_value(after, name) < _value(before, name)) is is_less
        ]
        if names:
            said.append(f"does {word}: {_listed(before, after, names)} a step")
    return "; ".join(said)


def less_work(before: Counters, after: Counters, agreement: Agreement | None) -> str:
    """`1 → 0.5 batches a step`, where the change leaves out work and its numbers do not show that
    the rest computes the same; else empty.

    What a rule declares to change may be how much is computed, as without padding, but not how many
    batches are.
    """
    if agreement is not None and agreement.is_good:
        return ""
    names = ["batches"] if agreement is Agreement.DECLARED else ["batches", "flops"]
    left_out = []
    for name in names:
        known = before.of(name), after.of(name)
        if None in known:
            continue
        least = _LEAST_FLOPS * _value(before, name) if name == "flops" else 0.0
        if _value(after, name) < _value(before, name) - least:
            left_out.append(name)
    said = [f"{_listed(before, after, left_out)} a step"] if left_out else []
    if after.steps < before.steps:
        said.append(f"it ends after {after.steps} of {before.steps} counted steps")
    return "; ".join(said)


def count_in_words(name: str, value: float | None) -> str:
    """`3`, `0.1`, `1.24 G`, or a dash."""
    if value is None:
        return "-"
    if name in ("bytes", "flops"):
        return scaled(value, "").strip()
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"


def _listed(before: Counters, after: Counters, names: Sequence[str]) -> str:
    shown = names[:_MOST]
    return ", ".join(f"{before_and_after(name, before, after)} {UNITS[name]}" for name in shown)


def before_and_after(name: str, before: Counters, after: Counters) -> str:
    """`3 → 0`."""
    first, last = (count_in_words(name, each.of(name)) for each in (before, after))
    return f"{first} {TO} {last}"


def _differs(before: float | None, after: float | None) -> bool:
    """Averages over the same number of steps are equal if what was counted is; over another one,
    up to the rounding of a division."""
    if before is None or after is None:
        return False
    return not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)


def _value(found: Counters, name: str) -> float:
    value = found.of(name)
    assert value is not None
    return value

"""What a step does one after the other, as the instrument `timeline` saw it."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.profile.evidence import Window
    from torchlint.runtime.probe.instrument_messages import TimelinePart, TimelineSeen

READ: Final = "read"
COLLECTOR: Final = "collector"
KINDS: Final = ("data", "forward", "backward", "optimizer", READ, COLLECTOR)
STEP: Final = "step"
OTHER: Final = "other"
"""What a step does apart from its parts: the script's own Python."""
_LEAST_GAP_S: Final = 1e-5
_LATE: Final = 0.01
"""Of a step: how long the end of the one before is heard in it."""
_MOST: Final = 5000
"""Spans that are read."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a step, on the host's clock.

    Args:
        kind: of `KINDS`, or `STEP`.
        name: of a read: `item`.
        start: seconds since the first of them began.
        seconds: that it took.
        path: as it is shown; empty: it has no line.
    """

    kind: str
    name: str
    start: float
    seconds: float
    path: str = ""
    row: int = 0

    @property
    def stop(self) -> float:
        return self.start + self.seconds


def spans_of(window: Window[TimelineSeen]) -> tuple[Span, ...]:
    """The steps of the first part of a window and what they consist of, in the order in which they
    begin, the longer one first.

    Raises:
        MalformedError: the instrument has sent something else.
    """
    ends = (0.0, *window.seen.ends)
    if any(last >= end for last, end in pairwise(ends)):
        raise MalformedError("timeline: ends do not rise")
    steps = [Span(STEP, "", start, end - start) for start, end in pairwise(ends)]
    parts = [_span(each) for each in window.seen.spans[:_MOST]]
    return tuple(sorted([*steps, *parts], key=lambda each: (each.start, -each.seconds)))


def typical(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Of all steps the one of median length: itself, then its parts, from second 0 on.

    A part that ends just after a step began is that which ended the step before.
    """
    steps = [each for each in spans if each.kind == STEP]
    if not steps:
        return ()
    length = statistics.median_low(each.seconds for each in steps)
    step = next(each for each in steps if each.seconds == length)
    begun = step.start + _LATE * step.seconds
    parts = [each for each in spans if each.kind != STEP]
    inside = [
        replace(
            each,
            start=max(0.0, each.start - step.start),
            seconds=min(each.stop, step.stop) - max(each.start, step.start),
        )
        for each in parts
        if each.start < step.stop and (each.start >= step.start or each.stop > begun)
    ]
    return (replace(step, start=0.0), *inside)


def gaps(spans: Sequence[Span], start: float, stop: float) -> tuple[Span, ...]:
    """What none of these parts covers between two moments, as parts of the kind `OTHER`.

    Args:
        spans: in the order in which they begin.
    """
    gaps_found = []
    reached = start
    for each in (*spans, Span(OTHER, "", stop, 0.0)):
        if each.start - reached > _LEAST_GAP_S:
            gaps_found.append(Span(OTHER, "", reached, each.start - reached))
        reached = max(reached, each.stop)
    return tuple(gaps_found)


def _span(part: TimelinePart) -> Span:
    if part.kind not in KINDS or not 0 <= part.start <= part.stop:
        raise MalformedError(f"timeline: {part.kind[:40]!r} from {part.start} to {part.stop}")
    path, row = part.place or ("", 0)
    shown = os.path.relpath(path) if path else ""
    return Span(part.kind, part.name, part.start, part.stop - part.start, shown, row)

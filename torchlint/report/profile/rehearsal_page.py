"""A rehearsal as one page: a step as a strip of operations, waits and copies, and its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.report.measured import measured_page
from torchlint.report.profile import profile_words, rehearsal_words
from torchlint.report.profile.profile_json import document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.profile.profile_result import Profile, RehearsedPart

_PARTS: Final = 400
"""Of a strip; more would be thinner than a line."""
_WAIT: Final = 3.0
"""A wait or a copy is as wide as so many operations, or it would not be seen."""
_LINES: Final = 20
_HEIGHT: Final = 60.0


class Piece(NamedTuple):
    """A part of the strip: where it begins and how wide it is, as shares of the step."""

    what: str
    place: str
    calls: int
    start: float
    width: float


def render(result: Profile) -> str:
    """The page. All that comes from the program is escaped, and its hidden characters are shown."""
    seen = result.rehearsal
    asked, lines = (seen.strip, seen.lines) if seen is not None else ((), ())
    return measured_page.render(
        "rehearse",
        "rehearsal.html.jinja",
        document(result),
        room="profile",
        result=result,
        seen=seen,
        measured=seen is not None,
        following=profile_words.following(result),
        words=profile_words,
        said=rehearsal_words,
        strip=strip(asked),
        memory=memory(asked),
        lines=sorted(lines, key=lambda each: (-each.waits, -each.copies, -each.launches))[:_LINES],
    )


def strip(parts: Sequence[RehearsedPart]) -> list[Piece]:
    """A step from left to right."""
    kept = parts[:_PARTS]
    whole = sum(map(_width, kept)) or 1.0
    pieces, start = [], 0.0
    for each in kept:
        width = _width(each) / whole
        place = f"{each.path}:{each.row}" if each.path else ""
        pieces.append(Piece(each.what, place, each.calls, start, width))
        start += width
    return pieces


def memory(parts: Sequence[RehearsedPart]) -> list[tuple[float, float]]:
    """Points of a line over the strip: the share of its width, and how far below its top the line
    is; empty if nothing is known."""
    kept = parts[:_PARTS]
    most = max((each.memory for each in kept), default=0)
    if not most:
        return []
    points, now = [], 0
    for each, piece in zip(kept, strip(parts), strict=True):
        now = each.memory or now
        below = _HEIGHT * (1.0 - now / most)
        points += [(piece.start, below), (piece.start + piece.width, below)]
    return points


def _width(part: RehearsedPart) -> float:
    return part.calls if part.what == "launch" else _WAIT * part.calls

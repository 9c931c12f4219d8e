"""Which lines of a file are new, compared with an older content of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.files.diffs import changed_lines, common_ends
from torchlint.files.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.finding import Position

_MOST: Final = 1_000
"""Lines between the first and the last change that are compared one by one; of more, all count as
new. To compare the lines of hostile files takes the square of their number and more."""


class ChangedLines:
    """The lines of a file that are new or different; how they end does not matter.

    Args:
        before, after: its text; of a notebook, that of each code cell.
    """

    def __init__(self, before: Iterable[str], after: Iterable[str]) -> None:
        old, _ = _lines(before)
        new, self._starts = _lines(after)
        head, tail = common_ends(old, new)
        if max(len(old), len(new)) - head - tail > _MOST:
            self._changes = [(head, len(old) - tail, head, len(new) - tail)]
        else:
            self._changes = changed_lines(old, new)

    def touch(self, start: Position, end: Position) -> bool:
        """Whether anything in these rows changed, both included, or was taken out of them."""
        first, last = self._row(start), self._row(end)
        return any(above < last and below >= first for _, _, above, below in self._changes)

    def _row(self, place: Position) -> int:
        cell = place.cell or 1
        return place.row + (self._starts[cell - 1] if cell <= len(self._starts) else 0)


def _lines(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """The lines, and how many come before each text."""
    lines: list[str] = []
    starts: list[int] = []
    for text in texts:
        starts.append(len(lines))
        lines += split_lines(text)
        if not lines[-1]:
            lines.pop()  # behind the last end
    return lines, starts

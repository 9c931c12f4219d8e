"""Which lines of a file are new, compared with an older content of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.files.diffs import changed_lines, common_ends
from torchlint.files.reading import NOTEBOOK, SourceError

if TYPE_CHECKING:
    from torchlint.finding import Position

_MOST: Final = 1_000
"""Lines between the first and the last change that are compared one by one; of more, all count as
new. To compare the lines of hostile files takes the square of their number and more."""


class ChangedLines:
    """The lines of a file that are new or different; how they end does not matter. Of a notebook,
    those of its code cells.

    Args:
        path: the name of the file.
        before, after: its contents.
    """

    def __init__(self, path: str, before: bytes, after: bytes) -> None:
        old, _ = _lines(path, before)
        new, self._starts = _lines(path, after)
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


def _lines(path: str, data: bytes) -> tuple[list[bytes], list[int]]:
    """The lines of a file, and how many come before each cell of a notebook."""
    if not path.endswith(NOTEBOOK):
        return data.splitlines(), [0]
    from torchlint.notebooks.document import Notebook

    lines: list[bytes] = []
    starts: list[int] = []
    try:
        for cell in Notebook(path, data).cells:
            starts.append(len(lines))
            lines += cell.source.encode("utf-8", "surrogatepass").splitlines()
    except SourceError:
        return [], []  # nothing was found in it, or it was none before
    return lines, starts

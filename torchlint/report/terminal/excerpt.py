"""The source line of a finding with a caret under the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.reading import SourceError, read_bytes
from torchlint.project.target import texts_in
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.finding import Position

_WIDTH = 100
_BEFORE = 60
_LEAST = 20
_TAB = "    "


class Excerpts:
    """Lines of checked files, read again one file at a time.

    Args:
        texts: the content of files that do not come from disk, by their shown path.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._path: str | None = None
        self._whole: list[str] = []
        self._lines: list[list[str]] = []

    def line(self, path: str, row: int, cell: int | None = None) -> str | None:
        """The 1-based line without its end, or None if the file has changed or gone.

        Args:
            cell: the code cell of a notebook, from 1.
        """
        if path != self._path:
            self._path = path
            self._whole = self._read(path)
            self._lines = list(map(_lines, self._whole))
        number = (cell or 1) - 1
        lines = self._lines[number] if number < len(self._lines) else []
        return lines[row - 1] if 0 < row <= len(lines) else None

    def text(self, path: str, cell: int | None = None) -> str | None:
        """The whole file, or this cell of a notebook; None if it has gone."""
        self.line(path, 1)
        number = (cell or 1) - 1
        return self._whole[number] if number < len(self._whole) else None

    def _read(self, path: str) -> list[str]:
        """The text of the file, or of each cell of a notebook."""
        data = self._texts.get(path)
        try:
            return texts_in(path, read_bytes(path) if data is None else data)
        except SourceError:
            return []


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def excerpt(line: str, start: Position, end: Position, width: int | None = None) -> tuple[str, str]:
    """The line as it is shown and the carets under it; a long line is cut around the place.

    Args:
        width: how many characters there is room for.
    """
    width = min(_WIDTH, max(_LEAST, width or _WIDTH))
    before, place, after = parts(line, start, end, width)
    return before + place + after, " " * _columns(before) + "^" * max(1, _columns(place))


def parts(line: str, start: Position, end: Position, width: int) -> tuple[str, str, str]:
    """The line as it is shown: the text before the place, the place itself, and the rest."""
    line = line.rstrip()
    first = start.column - 1
    last = end.column - 1 if end.row == start.row else len(line)
    left, right = 0, len(line)
    if right > width:
        # The two `…` take two columns.
        width = width if width >= _WIDTH else width - 2
        left = max(0, first - width * _BEFORE // _WIDTH)
        right = min(right, left + width)
    last = max(first + 1, min(last, right))
    before = ("…" if left > 0 else "") + _safe(line[left:first])
    after = _safe(line[last:right]) + ("…" if right < len(line) else "")
    return before, _safe(line[first:last]), after


def _safe(text: str) -> str:
    return visible(text.replace("\t", _TAB))


def _columns(text: str) -> int:
    """How many terminal columns the text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )

"""The source line of a finding with a caret under the place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchlint.project.source import NOTEBOOK, SourceError, decode, read_bytes
from torchlint.report.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.lint.finding import Position

_WIDTH = 100
_BEFORE = 60
_TAB = "    "


class Excerpts:
    """Lines of checked files, read again one file at a time.

    Args:
        texts: the content of files that do not come from disk, by their shown path.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._path: str | None = None
        self._parts: list[list[str]] = []

    def line(self, path: str, row: int, cell: int | None = None) -> str | None:
        """The 1-based line without its end, or None if the file has changed or gone.

        Args:
            cell: the code cell of a notebook, from 1.
        """
        if path != self._path:
            self._path = path
            self._parts = self._read(path)
        number = (cell or 1) - 1
        lines = self._parts[number] if number < len(self._parts) else []
        return lines[row - 1] if 0 < row <= len(lines) else None

    def _read(self, path: str) -> list[list[str]]:
        """The lines of the file, or of each cell of a notebook."""
        data = self._texts.get(path)
        try:
            data = read_bytes(path) if data is None else data
            if not path.endswith(NOTEBOOK):
                return [_lines(decode(path, data).text)]
            from torchlint.project.notebook import Notebook

            return [_lines(cell.source) for cell in Notebook(path, data).cells]
        except SourceError:
            return []


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def excerpt(line: str, start: Position, end: Position) -> tuple[str, str]:
    """The line as it is shown and the carets under it; a long line is cut around the place."""
    line = line.rstrip()
    first = start.column - 1
    last = end.column - 1 if end.row == start.row else len(line)
    left, right = 0, len(line)
    if right > _WIDTH:
        left = max(0, first - _BEFORE)
        right = min(right, left + _WIDTH)
    last = max(first + 1, min(last, right))
    before = ("…" if left > 0 else "") + _safe(line[left:first])
    place = _safe(line[first:last])
    after = _safe(line[last:right]) + ("…" if right < len(line) else "")
    return before + place + after, " " * _columns(before) + "^" * max(1, _columns(place))


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

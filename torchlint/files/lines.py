"""Rows and columns in a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

from torchlint.finding import Position


@cache
def _line_end() -> re.Pattern[str]:
    return re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends, as `LineIndex` counts them; what follows the last end
    is a line, too."""
    return _line_end().split(text) if "\r" in text else text.split("\n")


class LineIndex:
    """Turns offsets in a text into rows and columns, and back.

    Lines end at `\\n`, `\\r\\n` and `\\r`, as in Python's grammar; form feeds end none.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0]
        if "\r" in text:
            self._starts.extend(match.end() for match in _line_end().finditer(text))
        else:
            offset = 0
            for line in text.split("\n")[:-1]:
                offset += len(line) + 1
                self._starts.append(offset)
        self._length = len(text)

    def offset(self, position: Position) -> int:
        """The 0-based offset in characters.

        Raises:
            ValueError: the text has no such place.
        """
        row, column = position.row, position.column
        if 0 < row <= len(self._starts):
            end = self._starts[row] if row < len(self._starts) else self._length
            offset = self._starts[row - 1] + column - 1
            if column > 0 and offset <= end:
                return offset
        raise ValueError(f"no row {row}, column {column}")

    def position(self, offset: int) -> Position:
        """The row and column of a 0-based offset."""
        row = bisect_right(self._starts, offset)
        return Position(row, offset - self._starts[row - 1] + 1)

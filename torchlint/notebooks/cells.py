"""The code cells of a notebook as one Python text, and back.

The text has the cells in their order, each below a comment that marks its border. Lines that are
not Python are replaced by Python of one line each, so that a row gives the cell and its line, and
so that the replaced lines can be restored.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from torchlint.files.digests import blake2b
from torchlint.files.lines import LineIndex
from torchlint.finding import Edit, Position
from torchlint.notebooks.magics import stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HEAD: Final = "# notebook "
"""Starts the text. There are two rows before the first cell, so that no line of a cell can declare
an encoding."""


class SpreadError(ValueError):
    """An edit that crosses the border of a cell, or changes a line that is not Python."""


class Cells:
    """Code cells as one text.

    Args:
        sources: the code of each cell.
        trouble: returns why Python cannot parse a cell by itself, and where; None if it can.

    Attributes:
        text: the cells as Python. A cell that cannot be parsed is blank, and its border says why.
    """

    def __init__(
        self, sources: Sequence[str], trouble: Callable[[str], tuple[Position, str] | None]
    ) -> None:
        self._token = _token(sources)
        self._replaced: dict[str, tuple[str, str]] = {}
        """For each replaced line, by name: its replacement, and the line."""
        parts = [f"{_HEAD}{self._token}\n"]
        for number, source in enumerate(sources, 1):
            pieces = _pieces(source)
            code = self._masked(number, pieces, stand_ins([line for line, _ in pieces]))
            border = f"# {self._token} {number}"
            unread = trouble(code)
            if unread is not None:
                code = self._masked(number, pieces, dict.fromkeys(range(len(pieces)), ""))
                place, reason = unread
                border += f" {place.row}:{place.column} {reason}"
            parts += (border, "\n", code, "\n")
        self.text = "".join(parts)

    def sources(self, text: str) -> list[str]:
        """The code of each cell in a text that edits have made of this one.

        Raises:
            SpreadError: the border of a cell, or a replaced line, has changed.
        """
        borders, before = (list(_borders(self._token).finditer(each)) for each in (text, self.text))
        if [each[0] for each in borders] != [each[0] for each in before]:
            raise SpreadError("it crosses the border of a cell")
        sources_of_cells: list[str] = []
        ends = [*(each.start() for each in borders[1:]), len(text)]
        for border, end in zip(borders, ends, strict=False):
            sources_of_cells.append(text[border.end() : end].removesuffix("\n"))
        if borders:  # an insertion before the first cell goes to its beginning
            sources_of_cells[0] = (
                text[text.index("\n") + 1 : borders[0].start()] + sources_of_cells[0]
            )
        seen = [self._restored(source) for source in sources_of_cells]
        if sum(count for _, count in seen) != len(self._replaced):
            raise SpreadError("it changes a line that is not Python")
        return [source for source, _ in seen]

    def _masked(
        self, number: int, pieces: Sequence[tuple[str, str]], instead: dict[int, str]
    ) -> str:
        masked: list[str] = []
        for index, (line, end) in enumerate(pieces):
            if index in instead and line.strip():
                name = f"{self._token} {number}:{index + 1}"
                stand_in = f"{instead[index]}  # {name}" if instead[index] else f"# {name}"
                self._replaced[name] = (stand_in, line)
                line = stand_in
            masked += (line, end)
        return "".join(masked)

    def _restored(self, source: str) -> tuple[str, int]:
        """A cell with the replaced lines restored, and their number.

        Raises:
            SpreadError: the replacement of one of them has changed.
        """

        def put_back(found: re.Match[str]) -> str:
            stand_in, line = self._replaced.get(found[1], ("", ""))
            if found[0] != stand_in:
                raise SpreadError("it changes a line that is not Python")
            return line

        return re.subn(rf"[^\r\n]*# ({self._token} \d+:\d+)(?![^\r\n])", put_back, source)


class Borders:
    """Where the cells are in a text that `Cells` has made.

    Args:
        text: that text.

    Attributes:
        unread: where and why Python stopped parsing each cell that it cannot parse.
    """

    __slots__ = ("_ends", "_starts", "unread")

    def __init__(self, text: str) -> None:
        token = text[len(_HEAD) : text.index("\n")]
        lines = LineIndex(text)
        borders = list(_borders(token).finditer(text))
        self._starts = [lines.position(each.end()).row for each in borders]
        ends = [each.start() - 1 for each in borders[1:]] + [len(text) - 1]
        self._ends = [lines.position(end) for end in ends]
        self.unread = [
            (Position(int(each[1]), int(each[2]), number), each[3])
            for number, each in enumerate(borders, 1)
            if each[1]
        ]

    @property
    def lines(self) -> list[int]:
        """The number of lines of each cell."""
        pairs = zip(self._starts, self._ends, strict=True)
        return [max(1, end.row - start + 1) for start, end in pairs]

    def row(self, cell: int, row: int) -> int:
        """The row in the text of a row in a cell."""
        return self._starts[cell - 1] + row - 1

    def located(self, place: Position) -> Position:
        """A place in the text as a cell, counted from 1, and a row in it.

        A place between two cells belongs to the end of the first one.
        """
        cell = sum(start <= place.row for start in self._starts) or 1
        row = place.row - self._starts[cell - 1] + 1
        return Position(max(row, 1), place.column, cell)

    def located_edit(self, edit: Edit) -> Edit:
        """An edit in the places of a cell, whose last line may have no end."""
        start, end = self.located(edit.start), self.located(edit.end)
        assert start.cell is not None
        last = self._ends[start.cell - 1]
        if edit.start <= last:
            return Edit(start, end, edit.content)
        place = self.located(last)
        return Edit(place, place, f"\n{edit.content.removesuffix(chr(10))}")


def _token(sources: Sequence[str]) -> str:
    """A word that no cell contains, the same for the same cells."""
    digest = blake2b(digest_size=6)
    for source in sources:
        digest.update(source.encode("utf-8", "surrogatepass"))
    token = f"cell-{digest.hexdigest()}"
    while any(token in source for source in sources):
        digest.update(b"another")
        token = f"cell-{digest.hexdigest()}"
    return token


@cache
def _borders(token: str) -> re.Pattern[str]:
    return re.compile(rf"^# {token} \d+(?: (\d+):(\d+) ([^\n]*))?\n", re.MULTILINE)


def _pieces(source: str) -> list[tuple[str, str]]:
    """The lines of a cell by Python's definition, each with its end."""
    parts = _line_end().split(source)
    return [*zip(parts[::2], [*parts[1::2], ""], strict=True)]


@cache
def _line_end() -> re.Pattern[str]:
    return re.compile(r"(\r\n|\r|\n)")

"""The sentences that checks tell, with the places that they mention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.explain.code_words import line_of
from torchlint.finding import Position
from torchlint.reported import Clue, Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.explain.code_words import CodeWords
    from torchlint.explain.told import ToldAnswer
    from torchlint.notebooks.cells import Borders


class Sentences:
    """Fills in the places of sentences about one file.

    Args:
        borders: the borders of the cells of each notebook, by path.
        row_of: the row of a fact or of the text that a clue looks for, and the path of its file;
            None if it is not there any more.
    """

    def __init__(
        self,
        words: CodeWords,
        borders: Mapping[str, Borders | None],
        row_of: Callable[[Fact | Clue], tuple[str, int] | None],
    ) -> None:
        self.words = words
        self._borders = borders
        self._row_of = row_of

    def of(self, told: ToldAnswer) -> str:
        """The sentence of an answer."""
        return told.sentence.format(*(_Place(place, self) for place in told.places))

    def row(self, row: int) -> str:
        """A row of the module as `line 22`; in a notebook by cell."""
        return self.place(self.words.module.path, Position(row, 1))

    def place(self, path: str, position: Position) -> str:
        """`line 22`, or `model.py:22` for another file; in a notebook by cell."""
        borders = self._borders.get(path)
        located = position if borders is None else borders.located(position)
        if path == self.words.module.path:
            return line_of(located)
        return f"{path}:{position.row}" if borders is None else f"{line_of(located)} of {path}"

    def elsewhere(self, about: Fact | Clue) -> str:
        """Where a fact was recorded, or where the text is that a clue looks for."""
        found = self._row_of(about)
        if found is None:
            return about.path if isinstance(about, Fact) else "another file"
        path, row = found
        return self.place(path, Position(row, 1))


class _Place:
    """A place of a sentence; its format says what is shown of a node: `line`, `code` or both."""

    def __init__(self, place: object, sentences: Sentences) -> None:
        self._place = place
        self._sentences = sentences

    def __format__(self, part: str) -> str:
        place, words = self._place, self._sentences.words
        if isinstance(place, cst.CSTNode):
            said = {"line": words.line, "code": words.code}.get(part, words.quoted)
            return said(place)
        if isinstance(place, Fact | Clue):
            return self._sentences.elsewhere(place)
        if isinstance(place, tuple):
            return " or ".join(map(str, place))
        return str(place)

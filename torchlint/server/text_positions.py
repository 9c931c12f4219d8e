"""Places in a text as editors count them: rows from 0, columns in units of an encoding."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from lsprotocol import types

from torchlint.files.diffs import common_ends

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.finding import Edit, Finding, Position

_LINE_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"


class EditorPlaces:
    """Turns places in characters into those of the protocol.

    Args:
        text: what the editor has, with its byte order mark if it keeps one.
        encoding: what was agreed on; UTF-16 if nothing was.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self._lines = _LINE_END.split(text)
        self._text = text
        self._encoding = encoding
        self._plain = text.isascii()
        self._bom = text.startswith(_BOM)

    def position(self, place: Position) -> types.Position:
        """A place of a finding; one that the text does not have becomes the nearest."""
        row = min(max(place.row, 1), len(self._lines))
        line = self._lines[row - 1]
        if place.row > row:
            column = len(line)
        else:
            # The engine counts from behind the mark, the editor from before it.
            column = min(max(place.column - 1, 0) + (row == 1 and self._bom), len(line))
        if not self._plain:
            column = self._units(line[:column])
        return types.Position(line=row - 1, character=column)

    def range(self, start: Position, end: Position) -> types.Range:
        return types.Range(start=self.position(start), end=self.position(end))

    def edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        return [
            types.TextEdit(range=self.range(edit.start, edit.end), new_text=edit.content)
            for edit in edits
        ]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self._text))]

    def _units(self, text: str) -> int:
        if self._encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        if self._encoding == types.PositionEncodingKind.Utf32:
            return len(text)
        return len(text) + sum(sign > "\uffff" for sign in text)

    def offset(self, place: types.Position) -> int:
        """The place in characters of one that the editor counts; the nearest that there is."""
        row = min(place.line, len(self._lines) - 1)
        line = self._lines[row]
        low, high = 0, len(line) if row == place.line else 0
        while low < high:
            middle = (low + high + 1) // 2
            if self._units(line[:middle]) <= place.character:
                low = middle
            else:
                high = middle - 1
        return self._starts[row] + low


def changed(
    text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str
) -> str:
    """A text after what the editor says has changed in it, one thing after the other."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            places = EditorPlaces(text, encoding)
            start, end = places.offset(change.range.start), places.offset(change.range.end)
            text = text[:start] + change.text + text[max(start, end) :]
        else:
            text = change.text
    return text


def overlap(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges share a place; a cursor at the end of a range is in it."""
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return (position.line, position.character)


def moved_along(findings: Iterable[Finding], before: str, after: str) -> tuple[Finding, ...]:
    """The findings of a text, moved to the same text after an edit that cannot be parsed.

    Findings above the edited lines stay, those below move with their lines, and those that the edit
    touches are dropped. They have no fixes, which could break code that is half typed.
    """
    old, new = _LINE_END.split(before), _LINE_END.split(after)
    head, tail = common_ends(old, new)
    moved: list[Finding] = []
    for finding in findings:
        if finding.end.row <= head:
            shift = 0
        elif finding.start.row > len(old) - tail:
            shift = len(new) - len(old)
        else:
            continue
        start, end = (
            place._replace(row=place.row + shift) for place in (finding.start, finding.end)
        )
        moved.append(finding._replace(start=start, end=end, fix=None))
    return tuple(moved)

"""Jupyter notebooks: the code of each cell, and the same file with other code in its cells.

All other bytes stay unchanged.

The format is https://nbformat.readthedocs.io/en/latest/format_description.html, version 4: the
`source` of a cell is a string or a list of strings.
"""

from __future__ import annotations

import codecs
import json
import re
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from torchlint.files.diffs import common_ends
from torchlint.files.reading import MOST_LINES, UnconcernedError
from torchlint.finding import Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_VALUES: Final = 1_000_000
"""Lists and objects in one notebook; each takes a hundred bytes of memory to read."""


class NotebookError(UnconcernedError):
    """A notebook that cannot be read."""

    def __init__(self, path: str, message: str, head: bytes, position: Position | None) -> None:
        super().__init__(path, message, position, kind="syntax")
        self.args = (path, message, head, position)
        self.head = head


class CodeCell:
    """A code cell of a notebook.

    Args:
        source: its code.
        start, end: where the value of `source` is in the JSON, in characters.
        strings: where its strings are, without their quotes.
        listed: whether it is a list of strings.
    """

    __slots__ = ("end", "listed", "source", "start", "strings")

    def __init__(
        self, source: str, start: int, end: int, strings: Sequence[tuple[int, int]], *, listed: bool
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.strings = strings
        self.listed = listed


class Notebook:
    """A notebook of version 4.

    Args:
        path: its name, for messages.
        data: its bytes.

    Raises:
        NotebookError: it is not UTF-8, not JSON, not a notebook of version 4, or has too many
            values.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._bom = data.startswith(codecs.BOM_UTF8)
        try:
            self._text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
            content = _loaded(self._text)
            self.cells = tuple(_code_cells(self._text, content))
            if sum(cell.source.count("\n") for cell in self.cells) > MOST_LINES:
                message = f"Its cells have more than {MOST_LINES:,} lines; split or exclude it."
                raise _UnfitError(message)
        except _UnfitError as unfit:
            raise NotebookError(path, unfit.message, data, unfit.position) from None
        except UnicodeDecodeError:
            message = "This notebook is not UTF-8; save it again with Jupyter."
            raise NotebookError(path, message, data, None) from None

    def with_sources(self, sources: Sequence[str]) -> bytes:
        """The notebook with this code in its code cells.

        Unchanged cells keep their bytes. In changed cells, so do unchanged lines, and the
        unchanged beginnings and ends of changed lines.
        """
        pieces: list[str] = []
        done = 0
        for cell, source in zip(self.cells, sources, strict=True):
            if source != cell.source:
                pieces += (self._text[done : cell.start], self._written(cell, source))
                done = cell.end
        pieces.append(self._text[done:])
        body = "".join(pieces).encode("utf-8")
        return codecs.BOM_UTF8 + body if self._bom else body

    def _written(self, cell: CodeCell, source: str) -> str:
        text, ascii_only = self._text, self._text.isascii()
        if not cell.listed:
            ((start, end),) = cell.strings
            lines = _lines(cell.source)
            spelled = _spelled_again(_parts(text[start:end], lines), lines, source, ascii_only)
            return f'"{"".join(spelled)}"'
        raw = [text[start:end] for start, end in cell.strings]
        lines = [_text_of(each) for each in raw]
        spelled = [f'"{each}"' for each in _spelled_again(raw, lines, source, ascii_only)]
        if not raw:
            return f"[{', '.join(spelled)}]"
        first, last = cell.strings[0][0] - 1, cell.strings[-1][1] + 1
        between = f",{text[cell.start + 1 : first]}"
        if len(raw) > 1:
            between = text[cell.strings[0][1] + 1 : cell.strings[1][0] - 1]
        return text[cell.start : first] + between.join(spelled) + text[last : cell.end]


class _UnfitError(Exception):
    def __init__(self, message: str, position: Position | None = None) -> None:
        self.message = message
        self.position = position


# reading -------------------------------------------------------------------------------------


def _loaded(text: str) -> list[dict[str, Any]]:
    """The cells.

    Raises:
        _UnfitError: the text is not a notebook.
    """
    if text.count("[") + text.count("{") > MOST_VALUES:
        raise _UnfitError("This notebook has over a million values, too many to check; exclude it.")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"This notebook is not valid JSON ({error.msg}); fix or exclude it."
        raise _UnfitError(message, Position(error.lineno, error.colno)) from None
    except (ValueError, RecursionError):
        raise _UnfitError("This notebook's JSON cannot be read; exclude it.") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if isinstance(content, dict) and "worksheets" in content:
        message = "This notebook is older than version 4; convert it with `jupyter nbconvert`."
        raise _UnfitError(message)
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _UnfitError("This is JSON, but not a notebook: it has no list of cells; exclude it.")
    return cells if _is_python(content.get("metadata")) else []


def _is_python(metadata: Any) -> bool:
    """Whether the kernel runs Python; true if the notebook does not say."""
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(part) if isinstance(metadata, dict) else None
        language = about.get(key) if isinstance(about, dict) else None
        if isinstance(language, str):
            return language.lower() in ("python", "ipython")
    return True


def _code_cells(text: str, cells: Sequence[dict[str, Any]]) -> Iterator[CodeCell]:
    """
    Raises:
        _UnfitError: a cell does not follow the format.
    """
    places = _cell_places(text) if cells else ()
    for number, (cell, place) in enumerate(zip(cells, places, strict=True), 1):
        if cell.get("cell_type") != "code":
            continue
        source: Any = cell.get("source")
        members = list(_members(text, place))
        spans = [(start, end) for key, start, end in members if key == "source"]
        listed = isinstance(source, list)
        strings = source if listed else [source]
        if not all(isinstance(each, str) for each in strings) or len(spans) != 1:
            raise _UnfitError(f"Cell {number} of this notebook has no source; fix it.")
        if sum(key == "cell_type" for key, _, _ in members) != 1:
            raise _UnfitError(f"Cell {number} of this notebook has two types; fix it.")
        ((start, end),) = spans
        inner = [(a + 1, b - 1) for a, b in (_items(text, start) if listed else spans)]
        yield CodeCell("".join(strings), start, end, inner, listed=listed)


def _cell_places(text: str) -> list[int]:
    """Where each cell begins."""
    lists = [start for key, start, _ in _members(text, _next(text, 0)) if key == "cells"]
    if len(lists) != 1:
        raise _UnfitError("This notebook has two lists of cells; exclude it.")
    return [start for start, _ in _items(text, lists[0])]


# These find where things are in text that is valid JSON.


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The keys of the object that begins here, each with the place of its value."""
    for start, end in _items(text, at):
        key, after = _decoder().raw_decode(text, start)
        yield key, _next(text, _next(text, after) + 1), end


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The places of the items of the list, or the members of the object, that begins here."""
    at = _next(text, at + 1)
    while text[at] not in "]}":
        start = at
        _, end = _decoder().raw_decode(text, at)
        at = _next(text, end)
        if text[at] == ":":
            _, end = _decoder().raw_decode(text, _next(text, at + 1))
            at = _next(text, end)
        yield start, end
        if text[at] == ",":
            at = _next(text, at + 1)


def _next(text: str, at: int) -> int:
    """The first place from here on that is not blank."""
    found = _blanks().match(text, at)
    assert found is not None
    return found.end()


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder()


@cache
def _blanks() -> re.Pattern[str]:
    return re.compile(r"[ \t\r\n]*")


# writing -------------------------------------------------------------------------------------


def _spelled_again(
    raw: Sequence[str], old: Sequence[str], source: str, ascii_only: bool
) -> list[str]:
    """The lines of `source` as JSON spells them between quotes.

    Args:
        raw: the spelling of the lines before.
        old: those lines.
    """
    new = _lines(source)
    spelled: list[str] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            spelled += raw[i:j]
        elif j - i == m - k:
            pairs = zip(raw[i:j], new[k:m], strict=True)
            spelled += [_changed(before, line, ascii_only) for before, line in pairs]
        else:
            spelled += [_spelled(line, ascii_only) for line in new[k:m]]
    return spelled


def _changed(raw: str, line: str, ascii_only: bool) -> str:
    """A changed line; its unchanged beginning and end keep their spelling."""
    units = [unit[0] for unit in _unit().finditer(raw)]
    old = [_text_of(unit) for unit in units]
    head, tail = common_ends(old, line)
    middle = _spelled(line[head : len(line) - tail], ascii_only)
    return "".join((*units[:head], middle, *units[len(units) - tail :]))


def _parts(raw: str, lines: Sequence[str]) -> list[str]:
    """The raw text of one string, cut where its lines end."""
    units = (unit[0] for unit in _unit().finditer(raw))
    return ["".join(next(units) for _ in line) for line in lines]


@cache
def _unit() -> re.Pattern[str]:
    """The spelling of one character between quotes."""
    return re.compile(
        r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]"
    )


def _text_of(raw: str) -> str:
    return str(json.loads(f'"{raw}"'))


def _spelled(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _lines(source: str) -> list[str]:
    """Lines with their ends, as nbformat puts them into a list."""
    return source.splitlines(keepends=True)

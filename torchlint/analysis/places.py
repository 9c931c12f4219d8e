"""Places in the text of a module: lines, their ends, their indentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n)?")
_REST = re.compile(r"[ \t\f]*(?P<comment>#[^\r\n]*)?(?P<end>\r\n|\r|\n|\Z)?")


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a line: where a comment starts, if there is one, and whether nothing else is
    left."""

    comment: int | None
    ends: bool


def line_start(module: Module, offset: int) -> int:
    """The offset where the line of `offset` begins."""
    return max(module.text.rfind("\n", 0, offset), module.text.rfind("\r", 0, offset)) + 1


def line_end(module: Module, offset: int) -> int:
    """The offset where the line of `offset` ends, before its newline."""
    match = _LINE.match(module.text, offset)
    return match.end() - len(match[1] or "") if match else offset


def next_line(module: Module, offset: int) -> int:
    """The offset where the line after that of `offset` begins."""
    match = _LINE.match(module.text, offset)
    return match.end() if match else offset


def rest_of_line(module: Module, offset: int) -> Rest:
    match = _REST.match(module.text, offset)
    assert match is not None
    comment = None if match["comment"] is None else match.start("comment")
    return Rest(comment, match["end"] is not None)


def first_on_line(module: Module, offset: int) -> bool:
    """Whether only blanks come before `offset` in its line."""
    return not module.text[line_start(module, offset) : offset].strip(" \t\f")


def indent_start(module: Module, offset: int) -> int:
    """The offset where the indentation of the line of `offset` begins: a form feed before it does
    not count."""
    start = line_start(module, offset)
    line = module.text[start : line_end(module, start)]
    blanks = line[: len(line) - len(line.lstrip(" \t\f"))]
    return start + blanks.rfind("\f") + 1


def indentation(module: Module, offset: int) -> str:
    """The blanks and tabs that the code in the line of `offset` is indented by."""
    start = indent_start(module, offset)
    line = module.text[start : line_end(module, start)]
    return line[: len(line) - len(line.lstrip(" \t"))]

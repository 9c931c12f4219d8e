"""Places around a node: its parentheses, its comma, its lines, the end of its block."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_REST = re.compile(r"[ \t\f]*(?P<comment>#[^\r\n]*)?(?P<end>\r\n|\r|\n|\Z)?")
_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n)?")
_BRANCHES = (cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler)


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a line: a comment perhaps, and whether nothing else is."""

    comment: bool
    ends: bool


def outer(module: Module, node: cst.CSTNode) -> tuple[int, int]:
    """The offsets of a node with its own parentheses."""
    if isinstance(node, cst.BaseExpression) and node.lpar:
        return module.offsets(node.lpar[0])[0], module.offsets(node.rpar[-1])[1]
    return module.offsets(node)


def comma_end(module: Module, arg: cst.Arg) -> int | None:
    """The offset after the comma that follows an argument, if there is one."""
    if isinstance(arg.comma, cst.Comma):
        return module.offsets(arg.comma.whitespace_before)[1] + 1
    return None


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
    return Rest(comment=match["comment"] is not None, ends=match["end"] is not None)


def first_on_line(module: Module, offset: int) -> bool:
    """Whether only blanks stand before `offset` in its line."""
    return not module.text[line_start(module, offset) : offset].strip(" \t\f")


def indentation(module: Module, offset: int) -> str:
    """The blanks that the line of `offset` begins with, without form feeds."""
    start = line_start(module, offset)
    line = module.text[start : line_end(module, start)].lstrip("\f")
    return line[: len(line) - len(line.lstrip(" \t"))]


def statement_start(module: Module, stmt: cst.CSTNode) -> int:
    """Where a statement begins, with its decorators."""
    if isinstance(stmt, cst.FunctionDef | cst.ClassDef) and stmt.decorators:
        return module.offsets(stmt.decorators[0])[0]
    return module.offsets(stmt)[0]


def block_end(module: Module, stmt: cst.CSTNode) -> int:
    """Where a statement ends, with the comments that close its block."""
    end = module.offsets(stmt)[1]
    node: cst.CSTNode | None = stmt
    while node is not None:
        if isinstance(node, cst.IndentedBlock):
            comments = [line for line in node.footer if line.comment is not None]
            if comments:
                comment = comments[-1].comment
                assert comment is not None
                end = max(end, module.offsets(comment)[1])
        node = _last_part(node)
    return end


def is_elif(module: Module, stmt: cst.CSTNode) -> bool:
    return isinstance(stmt, cst.If) and isinstance(module.parent(stmt), cst.If)


def _last_part(node: cst.CSTNode) -> cst.CSTNode | None:
    """The suite, branch or statement that a compound statement or block ends with."""
    if isinstance(node, cst.IndentedBlock):
        return node.body[-1] if node.body else None
    if isinstance(node, cst.Match):
        return node.cases[-1].body
    if not isinstance(node, (cst.BaseCompoundStatement, *_BRANCHES)):
        return None
    for name in ("finalbody", "orelse", "handlers", "body"):
        part = getattr(node, name, None)
        if isinstance(part, tuple | list):
            part = part[-1] if part else None
        if isinstance(part, cst.CSTNode):
            return part
    return None

"""Text edits for the changes that fixes make, keeping layout and comments of what stays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.finding import Edit
from torchlint.source.positions import code_of

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_BARE_NEWLINE = re.compile(r"(?<!\r)\n")
_LINES = re.compile(r"\r\n|\r|\n")
_REST = re.compile(r"[ \t\f]*(?P<comment>#[^\r\n]*)?(?P<end>\r\n|\r|\n|\Z)?")
_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n)?")
_BRANCHES = (cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler)
_Statement = cst.BaseStatement | cst.BaseSmallStatement


def replace(module: Module, node: cst.CSTNode, content: str | cst.CSTNode) -> Edit:
    """Put `content` in the place of `node`.

    Text takes the place of what is inside the node's own parentheses, a node that of the
    parentheses too. Comments and blanks around the node stay.

    Raises:
        ValueError: a node for an `elif`, which LibCST would write as an `if`.
    """
    if isinstance(content, str):
        start, end = module.offsets(node)
        return _edit(module, start, end, content)
    if _is_elif(module, node):
        raise ValueError("an elif is not a statement of its own")
    start, end = _outer(module, node)
    statement = module.statement(node)
    indent = _indentation(module, _statement_start(module, statement)) if statement else ""
    return _edit(module, start, end, code_of(content, module.tree, indent=indent))


def add_argument(module: Module, call: cst.Call, text: str) -> Edit:
    """Append an argument such as `num_workers=4`, on a line of its own if the last one is."""
    if not call.args:
        return _first_argument(module, call, text)
    last = call.args[-1]
    start, end = module.offsets(last)
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        return _edit(module, start, end, f"({module.text[start:end]}), {text}")
    comma = _comma_end(module, last)
    tail = comma or end
    if not _first_on_line(module, start):
        return _edit(module, tail, tail, f" {text}," if comma else f", {text}")
    line = f"\n{_indentation(module, start)}{text}"
    here = _line_end(module, tail) if _rest_of_line(module, tail).ends else tail
    if comma:
        return _edit(module, here, here, f"{line},")
    return _edit(module, end, here, f",{module.text[end:here]}{line}")


def _first_argument(module: Module, call: cst.Call, text: str) -> Edit:
    start, end = module.offsets(call.whitespace_before_args)
    blank = module.text[start:end]
    if "#" not in blank:
        return _edit(module, start, end, text)
    row = blank.rindex("#")
    comment = start + row
    indent = " " * 4 + _indentation(module, start)
    if _first_on_line(module, comment):
        indent = _indentation(module, comment)
    here = _line_end(module, comment)
    return _edit(module, here, here, f"\n{indent}{text},")


def remove_argument(module: Module, call: cst.Call, arg: cst.Arg) -> Edit:
    """Take out one argument with its comma, and its line if it stands there alone."""
    start, end = module.offsets(arg)
    tail = _comma_end(module, arg) or end
    args = list(call.args)
    index = next(i for i, each in enumerate(args) if each is arg)
    if len(args) == 1:
        return _only_argument(module, call, start, tail)
    is_last = index == len(args) - 1
    rest = _rest_of_line(module, tail)
    alone = _first_on_line(module, start) and rest.ends
    if alone and (rest.comment or not is_last or _comma_end(module, arg)):
        return _edit(module, line_start(module, start), next_line(module, tail), "")
    if not is_last and not _first_on_line(module, module.offsets(args[index + 1])[0]):
        return _edit(module, start, module.offsets(args[index + 1])[0], "")
    if index == 0:
        return _edit(module, start, tail, "")
    before = _comma_end(module, args[index - 1]) or start
    if not _blank(module, before, start):
        return _edit(module, start, tail, "")
    if is_last and not _comma_end(module, arg):
        before = module.offsets(args[index - 1])[1]
        if not _blank(module, before, start, besides=","):
            return _edit(module, start, tail, "")
    return _edit(module, before, tail, "")


def _only_argument(module: Module, call: cst.Call, start: int, tail: int) -> Edit:
    opened = module.offsets(call.whitespace_before_args)[0]
    closed = module.offsets(call)[1] - 1
    if _blank(module, opened, start) and _blank(module, tail, closed):
        return _edit(module, opened, closed, "")
    return _edit(module, start, tail, "")


def delete_statement(module: Module, stmt: _Statement) -> Edit:
    """Take out a statement with its whole lines, or one of several on a line.

    The only statement of a block becomes `pass`. Comments above it stay.

    Raises:
        ValueError: an `elif`, which cannot go without the branches around it.
    """
    if _is_elif(module, stmt):
        raise ValueError("an elif is not a statement of its own")
    parent = module.parent(stmt)
    if isinstance(parent, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        if len(parent.body) > 1:
            return _delete_from_line(module, list(parent.body), stmt)
        if isinstance(parent, cst.SimpleStatementSuite):
            return replace(module, stmt, "pass")
        stmt = parent
        parent = module.parent(stmt)
    start, end = _statement_start(module, stmt), module.offsets(stmt)[1]
    if isinstance(parent, cst.IndentedBlock) and len(parent.body) == 1:
        return _edit(module, start, end, "pass")
    first = line_start(module, start)
    # A form feed before the statement is a page break of the file's, not of the statement's.
    feeds = len(module.text[first:start]) - len(module.text[first:start].lstrip("\f"))
    return _edit(module, first + feeds, next_line(module, _block_end(module, stmt)), "")


def _delete_from_line(
    module: Module, body: list[cst.BaseSmallStatement], stmt: cst.CSTNode
) -> Edit:
    index = next(i for i, each in enumerate(body) if each is stmt)
    start, end = module.offsets(stmt)
    if index + 1 < len(body):
        return _edit(module, start, module.offsets(body[index + 1])[0], "")
    return _edit(module, module.offsets(body[index - 1])[1], end, "")


def insert_before(module: Module, stmt: _Statement, code: str) -> Edit | None:
    """Put lines above a statement, indented like it; None in a suite such as `if x: f()`.

    Args:
        code: lines without indentation, joined by newlines.
    """
    line = _own_line(module, stmt)
    if line is None:
        return None
    start = _statement_start(module, line)
    here = line_start(module, start)
    if module.text[:here].rstrip("\r\n").endswith("\\"):
        return None
    return _edit(module, here, here, _indented(code, _indentation(module, start)) + "\n")


def insert_after(module: Module, stmt: _Statement, code: str) -> Edit | None:
    """Put lines below a statement and its block; None in a suite such as `if x: f()`."""
    line = _own_line(module, stmt)
    if line is None:
        return None
    lines = _indented(code, _indentation(module, _statement_start(module, line)))
    end = _block_end(module, line)
    here = next_line(module, end)
    if _line_end(module, end) == here:
        return _edit(module, here, here, "\n" + lines)
    return _edit(module, here, here, lines + "\n")


def add_import(module: Module, dotted: str) -> tuple[Edit, ...]:
    """One line `import dotted` with the imports at the top; nothing if the file has it."""
    body = list(module.tree.body)
    if any(_binds(statement, dotted) for statement in body):
        return ()
    code = f"import {dotted}"
    index = 0 if module.tree.get_docstring() is None else 1
    while index < len(body) and _is_import(body[index]):
        index += 1
    if index:
        edit = insert_after(module, body[index - 1], code)
    elif body:
        edit = insert_before(module, body[0], code)
    else:
        end = len(module.text)
        broken = end > 0 and line_start(module, end) != end
        edit = _edit(module, end, end, f"\n{code}" if broken else f"{code}\n")
    return () if edit is None else (edit,)


def _edit(module: Module, start: int, end: int, content: str) -> Edit:
    if module.newline != "\n":
        content = _BARE_NEWLINE.sub(module.newline, content)
    return Edit(module.position(start), module.position(end), content)


def _blank(module: Module, start: int, end: int, besides: str = "") -> bool:
    return not module.text[start:end].strip(" \t\f\\\r\n" + besides)


def _indented(code: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in _LINES.split(code))


def _own_line(module: Module, stmt: _Statement) -> cst.BaseStatement | None:
    """The statement that has the line for itself, or None where none has."""
    node: cst.CSTNode | None = stmt
    if isinstance(stmt, cst.BaseSmallStatement):
        node = module.parent(stmt)
    if not isinstance(node, cst.BaseStatement) or _is_elif(module, node):
        return None
    return node


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Import | cst.ImportFrom
    )


def _binds(statement: cst.CSTNode, dotted: str) -> bool:
    """Whether running this top-level statement makes `dotted` usable under its full name."""
    if isinstance(statement, cst.Try | cst.TryStar):
        return any(_binds(inner, dotted) for inner in statement.body.body)
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    aliases = [
        alias for small in statement.body if isinstance(small, cst.Import) for alias in small.names
    ]
    return any(
        f"{dotted_text(alias.name)}.".startswith(f"{dotted}.")
        for alias in aliases
        if alias.asname is None or alias.evaluated_alias == dotted == alias.evaluated_name
    )


# places around a node: parentheses, comma, lines, the end of its block ---------------------------


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is left of a line: a comment perhaps, and whether nothing else is."""

    comment: bool
    ends: bool


def _outer(module: Module, node: cst.CSTNode) -> tuple[int, int]:
    """The offsets of a node with its own parentheses."""
    if isinstance(node, cst.BaseExpression) and node.lpar:
        return module.offsets(node.lpar[0])[0], module.offsets(node.rpar[-1])[1]
    return module.offsets(node)


def _comma_end(module: Module, arg: cst.Arg) -> int | None:
    """The offset after the comma that follows an argument, if there is one."""
    if isinstance(arg.comma, cst.Comma):
        return module.offsets(arg.comma.whitespace_before)[1] + 1
    return None


def line_start(module: Module, offset: int) -> int:
    """The offset where the line of `offset` begins."""
    return max(module.text.rfind("\n", 0, offset), module.text.rfind("\r", 0, offset)) + 1


def _line_end(module: Module, offset: int) -> int:
    """The offset where the line of `offset` ends, before its newline."""
    match = _LINE.match(module.text, offset)
    return match.end() - len(match[1] or "") if match else offset


def next_line(module: Module, offset: int) -> int:
    """The offset where the line after that of `offset` begins."""
    match = _LINE.match(module.text, offset)
    return match.end() if match else offset


def _rest_of_line(module: Module, offset: int) -> _Rest:
    match = _REST.match(module.text, offset)
    assert match is not None
    return _Rest(comment=match["comment"] is not None, ends=match["end"] is not None)


def _first_on_line(module: Module, offset: int) -> bool:
    """Whether only blanks stand before `offset` in its line."""
    return not module.text[line_start(module, offset) : offset].strip(" \t\f")


def _indentation(module: Module, offset: int) -> str:
    """The blanks that the line of `offset` begins with, without form feeds."""
    start = line_start(module, offset)
    line = module.text[start : _line_end(module, start)].lstrip("\f")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _statement_start(module: Module, stmt: cst.CSTNode) -> int:
    """Where a statement begins, with its decorators."""
    if isinstance(stmt, cst.FunctionDef | cst.ClassDef) and stmt.decorators:
        return module.offsets(stmt.decorators[0])[0]
    return module.offsets(stmt)[0]


def _block_end(module: Module, stmt: cst.CSTNode) -> int:
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


def _is_elif(module: Module, stmt: cst.CSTNode) -> bool:
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

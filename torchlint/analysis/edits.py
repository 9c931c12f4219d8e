"""Text edits for the changes that fixes make, keeping layout and comments of what stays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.surroundings import (
    block_end,
    comma_end,
    first_on_line,
    indentation,
    is_elif,
    line_end,
    line_start,
    next_line,
    outer,
    rest_of_line,
    statement_start,
)
from torchlint.finding import Edit
from torchlint.source.positions import code_of

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_BARE_NEWLINE = re.compile(r"(?<!\r)\n")
_LINES = re.compile(r"\r\n|\r|\n")
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
    if is_elif(module, node):
        raise ValueError("an elif is not a statement of its own")
    start, end = outer(module, node)
    statement = module.statement(node)
    indent = indentation(module, statement_start(module, statement)) if statement else ""
    return _edit(module, start, end, code_of(content, module.tree, indent=indent))


def add_argument(module: Module, call: cst.Call, text: str) -> Edit:
    """Append an argument such as `num_workers=4`, on a line of its own if the last one is."""
    if not call.args:
        return _first_argument(module, call, text)
    last = call.args[-1]
    start, end = module.offsets(last)
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        return _edit(module, start, end, f"({module.text[start:end]}), {text}")
    comma = comma_end(module, last)
    tail = comma or end
    if not first_on_line(module, start):
        return _edit(module, tail, tail, f" {text}," if comma else f", {text}")
    line = f"\n{indentation(module, start)}{text}"
    here = line_end(module, tail) if rest_of_line(module, tail).ends else tail
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
    indent = " " * 4 + indentation(module, start)
    if first_on_line(module, comment):
        indent = indentation(module, comment)
    here = line_end(module, comment)
    return _edit(module, here, here, f"\n{indent}{text},")


def remove_argument(module: Module, call: cst.Call, arg: cst.Arg) -> Edit:
    """Take out one argument with its comma, and its line if it stands there alone."""
    start, end = module.offsets(arg)
    tail = comma_end(module, arg) or end
    args = list(call.args)
    index = next(i for i, each in enumerate(args) if each is arg)
    if len(args) == 1:
        return _only_argument(module, call, start, tail)
    is_last = index == len(args) - 1
    rest = rest_of_line(module, tail)
    alone = first_on_line(module, start) and rest.ends
    if alone and (rest.comment or not is_last or comma_end(module, arg)):
        return _edit(module, line_start(module, start), next_line(module, tail), "")
    if not is_last and not first_on_line(module, module.offsets(args[index + 1])[0]):
        return _edit(module, start, module.offsets(args[index + 1])[0], "")
    if index == 0:
        return _edit(module, start, tail, "")
    before = comma_end(module, args[index - 1]) or start
    if not _blank(module, before, start):
        return _edit(module, start, tail, "")
    if is_last and not comma_end(module, arg):
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
    if is_elif(module, stmt):
        raise ValueError("an elif is not a statement of its own")
    parent = module.parent(stmt)
    if isinstance(parent, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        if len(parent.body) > 1:
            return _delete_from_line(module, list(parent.body), stmt)
        if isinstance(parent, cst.SimpleStatementSuite):
            return replace(module, stmt, "pass")
        stmt = parent
        parent = module.parent(stmt)
    start, end = statement_start(module, stmt), module.offsets(stmt)[1]
    if isinstance(parent, cst.IndentedBlock) and len(parent.body) == 1:
        return _edit(module, start, end, "pass")
    first = line_start(module, start)
    # A form feed before the statement is a page break of the file's, not of the statement's.
    feeds = len(module.text[first:start]) - len(module.text[first:start].lstrip("\f"))
    return _edit(module, first + feeds, next_line(module, block_end(module, stmt)), "")


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
    start = statement_start(module, line)
    here = line_start(module, start)
    if module.text[:here].rstrip("\r\n").endswith("\\"):
        return None
    return _edit(module, here, here, _indented(code, indentation(module, start)) + "\n")


def insert_after(module: Module, stmt: _Statement, code: str) -> Edit | None:
    """Put lines below a statement and its block; None in a suite such as `if x: f()`."""
    line = _own_line(module, stmt)
    if line is None:
        return None
    lines = _indented(code, indentation(module, statement_start(module, line)))
    end = block_end(module, line)
    here = next_line(module, end)
    if line_end(module, end) == here:
        return _edit(module, here, here, "\n" + lines)
    return _edit(module, here, here, lines + "\n")


def add_import(module: Module, dotted: str) -> tuple[Edit, ...]:
    """One line `import dotted` with the imports at the top; nothing if the file has it."""
    body = list(module.tree.body)
    if any(_binds(statement, dotted) for statement in body):
        return ()
    code = f"import {dotted}"
    index = 1 if body and _is_docstring(body[0]) else 0
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


def inside_fstring(module: Module, node: cst.CSTNode) -> bool:
    """Whether `node` stands in an f-string, where quotes and newlines may not be allowed."""
    holders = (cst.FormattedStringExpression, cst.FormattedStringText)
    return isinstance(node, holders) or module.enclosing(node, *holders) is not None


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
    if not isinstance(node, cst.BaseStatement) or is_elif(module, node):
        return None
    return node


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    strings = (cst.SimpleString, cst.ConcatenatedString)
    return isinstance(first, cst.Expr) and isinstance(first.value, strings)


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
        f"{_dotted(alias.name)}.".startswith(f"{dotted}.")
        for alias in aliases
        if alias.asname is None or alias.evaluated_alias == dotted == alias.evaluated_name
    )


def _dotted(name: cst.BaseExpression) -> str:
    parts: list[str] = []
    while isinstance(name, cst.Attribute):
        parts.append(name.attr.value)
        name = name.value
    if isinstance(name, cst.Name):
        parts.append(name.value)
    return ".".join(reversed(parts))

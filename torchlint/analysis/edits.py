"""Text edits for the changes that fixes make, keeping layout and comments of what stays.

What a rule puts into the text is one expression, argument or statement, made of names and of what
`value` and `operand` give. The functions here see the parentheses, lines and strings around it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.comments import comments_in, is_for_people
from torchlint.analysis.names import dotted_text
from torchlint.analysis.places import (
    first_on_line,
    indent_start,
    indentation,
    line_end,
    line_start,
    next_line,
    rest_of_line,
)
from torchlint.analysis.strings import fits_in_string, requoted
from torchlint.analysis.written import fitting, operand, outer, value
from torchlint.finding import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.analysis.module import Module
    from torchlint.finding import Fix

__all__ = [
    "add_argument",
    "add_import",
    "at_start",
    "call_method",
    "delete_statement",
    "indentation",
    "insert_after",
    "insert_before",
    "keep_receiver",
    "move_before",
    "operand",
    "put_all_under",
    "put_before",
    "put_under",
    "remove_argument",
    "replace",
    "replace_argument",
    "replace_statement",
    "value",
    "why_not",
    "wrap",
]

_BARE_NEWLINE = re.compile(r"(?<!\r)\n")
_CONTINUED = re.compile(r"[ \t\f;]*\\(?:\r\n|\r|\n)")
_LINES = re.compile(r"\r\n|\r|\n")
_BACKSLASHED = re.compile(r"\\(?:\r\n|\r|\n)")
_BRANCHES = (cst.BaseSuite, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler)
_Statement = cst.BaseStatement | cst.BaseSmallStatement


def why_not(module: Module, fix: Fix) -> str | None:
    """Why a fix cannot be made in this place, whatever the rule; None if it can."""
    lost: Counter[str] = Counter()
    edits = dict.fromkeys(fix.edits)
    for edit in edits:
        start, end = module.offset(edit.start), module.offset(edit.end)
        lost.update(comments_in(module, start, end))
        if not fits_in_string(module, start, edit.content):
            return "before Python 3.12, an f-string cannot hold what the fix would put into it"
    new = "".join(edit.content for edit in edits)
    if any(new.count(comment) < number for comment, number in lost.items()):
        return "a comment in this code would be lost"
    return None


# expressions -----------------------------------------------------------------------------------


def replace(module: Module, node: cst.BaseExpression, text: str) -> Edit:
    """Put another expression in the place of one, inside its parentheses if it has some.

    Raises:
        ValueError: the text is not one expression.
    """
    start, end = module.offsets(node)
    return _edit(module, start, end, fitting(module, node, text))


def wrap(module: Module, node: cst.BaseExpression, function: str) -> tuple[Edit, Edit]:
    """Put a call of a function with the expression as its argument in the place of it."""
    start, end = outer(module, node)
    return _edit(module, start, start, f"{function}("), _edit(module, end, end, ")")


def call_method(module: Module, call: cst.Call, text: str) -> Edit:
    """Call a method of what a call returns: `text` is `float()`, for `call.float()`."""
    _, end = module.offsets(call)
    return _edit(module, end, end, f".{text}")


def keep_receiver(module: Module, call: cst.Call) -> Edit:
    """Take out a method call behind its object: `x` stays of `x.method(…)`, `(x)` of
    `(x.method)(…)`."""
    assert isinstance(call.func, cst.Attribute)
    start, end = outer(module, call.func.value)[1], module.offsets(call)[1]
    return _edit(module, start, end, ")" * len(call.func.rpar))


# arguments -------------------------------------------------------------------------------------


def replace_argument(module: Module, arg: cst.Arg, *texts: str) -> Edit:
    """Put one or several other arguments in the place of one; each is `value` or `name=value`."""
    start, end = module.offsets(arg)
    return _edit(module, start, end, ", ".join(texts))


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
    """Take out one argument with its comma, and its line if it is alone there."""
    start, end = module.offsets(arg)
    tail = _comma_end(module, arg) or end
    args = list(call.args)
    index = next(i for i, each in enumerate(args) if each is arg)
    if len(args) == 1:
        return _only_argument(module, call, start, tail)
    is_last = index == len(args) - 1
    rest = rest_of_line(module, tail)
    alone = first_on_line(module, start) and rest.ends
    if alone and rest.comment is not None and is_for_people(module.text[rest.comment :]):
        return _edit(module, start, rest.comment, "")
    if alone and (rest.comment is not None or not is_last or _comma_end(module, arg)):
        return _edit(module, line_start(module, start), next_line(module, tail), "")
    if not is_last and not first_on_line(module, module.offsets(args[index + 1])[0]):
        return _edit(module, start, module.offsets(args[index + 1])[0], "")
    if index == 0:
        return _edit(module, start, tail, "")
    before = _comma_end(module, args[index - 1]) or start
    if not _blank(module, before, start):
        return _edit(module, start, tail, "")
    if is_last and not _comma_end(module, arg):
        before = module.offsets(args[index - 1])[1]
        if not _blank(module, before, start, ignored=","):
            return _edit(module, start, tail, "")
    return _edit(module, before, tail, "")


def _only_argument(module: Module, call: cst.Call, start: int, tail: int) -> Edit:
    opened = module.offsets(call.whitespace_before_args)[0]
    closed = module.offsets(call)[1] - 1
    if _blank(module, opened, start) and _blank(module, tail, closed):
        return _edit(module, opened, closed, "")
    return _edit(module, start, tail, "")


# statements ------------------------------------------------------------------------------------


def replace_statement(module: Module, stmt: _Statement, text: str) -> Edit:
    """Put a statement in the place of one.

    Args:
        text: its lines; those below the first are already indented.
    """
    start, end = module.offsets(stmt)
    return _edit(module, start, end, text)


def put_before(module: Module, stmt: cst.BaseSmallStatement, text: str) -> Edit:
    """Put something before a statement in its line, such as `model = `."""
    start, _ = module.offsets(stmt)
    return _edit(module, start, start, text)


def delete_statement(module: Module, stmt: cst.BaseSmallStatement) -> Edit:
    """Take out a statement with its whole lines, or one of several on a line.

    The only statement of a block becomes `pass`. Comments for people stay on lines of their own.
    """
    lines = _whole_lines(module, stmt)
    if lines is None:
        return _delete_from_line(module, stmt)
    start, end = lines
    indent = indentation(module, start)
    kept = filter(is_for_people, comments_in(module, start, end))
    return _edit(module, start, end, "".join(f"{indent}{comment}\n" for comment in kept))


def _whole_lines(module: Module, stmt: cst.BaseSmallStatement) -> tuple[int, int] | None:
    """Where the lines of a statement start and end, if they can go; a form feed before it is the
    file's."""
    line = module.parent(stmt)
    block = None if line is None else module.parent(line)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return None
    start, end = module.offsets(stmt)
    return indent_start(module, _logical_start(module, start)), _line_below(module, end)


def _delete_from_line(module: Module, stmt: cst.BaseSmallStatement) -> Edit:
    start, end = module.offsets(stmt)
    body = _body(module, stmt)
    index = next(i for i, each in enumerate(body) if each is stmt)
    if len(body) == 1:
        return _edit(module, start, end, "pass")
    if index + 1 < len(body):
        return _edit(module, start, module.offsets(body[index + 1])[0], "")
    return _edit(module, module.offsets(body[index - 1])[1], end, "")


def move_before(
    module: Module, stmt: cst.BaseSmallStatement, other: cst.BaseStatement
) -> tuple[Edit, Edit]:
    """Move a statement to a line of its own above another one. The comment behind it goes along."""
    start, end = module.offsets(stmt)
    lines = _whole_lines(module, stmt)
    if lines is None:
        gone = _delete_from_line(module, stmt)
    else:
        gone = _edit(module, *lines, "")
        end = line_end(module, end)
    here, indent = _line_above(module, other)
    return _edit(module, here, here, f"{indent}{module.text[start:end].rstrip()}\n"), gone


def put_under(module: Module, stmt: cst.BaseSmallStatement, head: str) -> Edit | None:
    """Put a statement under a head such as `with lock:`; None if it is not alone on its lines."""
    line = module.parent(stmt)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    start, _ = module.offsets(stmt)
    indent = _line_above(module, line)[1] + module.tree.default_indent
    return _edit(module, start, start, f"{head}\n{indent}")


def put_all_under(
    module: Module, lines: Sequence[cst.BaseStatement], head: str
) -> tuple[Edit, ...] | None:
    """Put statements that follow one another under a head such as `with lock:`; None if a string or
    a backslash spans lines of theirs, which indenting would change.

    Args:
        lines: statements of one block, at least one.
    """
    start, indent = _line_above(module, lines[0])
    end = _block_end(module, lines[-1])
    for node in (node for line in lines for node in module.within(line)):
        if isinstance(node, cst.SimpleString | cst.FormattedString):
            first, last = module.span(node)
            if first.row != last.row:
                return None
    code = module.text[start:end]
    if _BACKSLASHED.search(code):
        return None
    more = module.tree.default_indent
    starts = [start + each.end() for each in _LINES.finditer(code)]
    filled = [each for each in starts if module.text[each : line_end(module, each)].strip()]
    return (
        _edit(module, start, start, f"{indent}{head}\n{more}"),
        *(_edit(module, each, each, more) for each in filled),
    )


def at_start(module: Module, code: str) -> Edit | None:
    """Put lines that use torch below the first import of it at the top of a file, and the imports
    that follow that one; None if it has none."""
    last: cst.BaseSmallStatement | None = None
    for statement in module.tree.body:
        small = statement.body[-1] if isinstance(statement, cst.SimpleStatementLine) else None
        if isinstance(small, cst.Import | cst.ImportFrom):
            last = small if last is not None or _imports_torch(small) else None
        elif last is not None:
            break
    return None if last is None else insert_after(module, last, f"\n{code}")


def _imports_torch(statement: cst.Import | cst.ImportFrom) -> bool:
    return isinstance(statement, cst.Import) and any(
        f"{each.evaluated_name}.".startswith("torch.")
        and (each.asname is None or each.evaluated_name == "torch")
        for each in statement.names
    )


def insert_before(module: Module, stmt: _Statement, code: str) -> Edit | None:
    """Put lines above a statement, indented like it, or a statement before it in its line; None
    where that is not possible.

    Args:
        code: lines without indentation, joined by newlines.
    """
    if _is_elif(module, stmt):
        return None
    if isinstance(stmt, cst.BaseSmallStatement):
        line = module.parent(stmt)
        if not isinstance(line, cst.SimpleStatementLine) or line.body[0] is not stmt:
            start, _ = module.offsets(stmt)
            return None if "\n" in code else _edit(module, start, start, f"{code}; ")
        stmt = line
    here, indent = _line_above(module, stmt)
    return _edit(module, here, here, _indented(code, indent) + "\n")


def insert_after(module: Module, stmt: _Statement, code: str) -> Edit | None:
    """Put lines below a statement and its block, or a statement behind it in its line; None where
    that is not possible."""
    if _is_elif(module, stmt):
        return None
    if isinstance(stmt, cst.BaseSmallStatement):
        line = module.parent(stmt)
        if not isinstance(line, cst.SimpleStatementLine) or line.body[-1] is not stmt:
            _, end = module.offsets(stmt)
            return None if "\n" in code else _edit(module, end, end, f"; {code}")
        stmt = line
    lines = _indented(code, _line_above(module, stmt)[1])
    end = _block_end(module, stmt)
    here = _line_below(module, end)
    if line_start(module, here) != here:
        return _edit(module, here, here, "\n" + lines)
    return _edit(module, here, here, lines + "\n")


def _line_above(module: Module, stmt: cst.BaseStatement) -> tuple[int, str]:
    """Where a line above a statement begins, and how it is indented."""
    here = _logical_start(module, _statement_start(module, stmt))
    return here, indentation(module, here)


def add_import(module: Module, dotted: str) -> tuple[Edit, ...]:
    """A statement `import dotted` with the imports at the top; nothing if the file has it."""
    body = list(module.tree.body)
    if any(_binds(statement, dotted) for statement in body):
        return ()
    code = f"import {dotted}"
    last: cst.BaseSmallStatement | None = None
    for each in _small_statements(body):
        first = last is None and module.tree.get_docstring() is not None
        if not first and not isinstance(each, cst.Import | cst.ImportFrom):
            break
        last = each
    if last is not None:
        edit = insert_after(module, last, code)
    elif body:
        edit = insert_before(module, body[0], code)
    else:
        end = len(module.text)
        broken = end > 0 and line_start(module, end) != end
        edit = _edit(module, end, end, f"\n{code}" if broken else f"{code}\n")
    return () if edit is None else (edit,)


def _small_statements(body: Iterable[cst.CSTNode]) -> Iterator[cst.BaseSmallStatement]:
    """The simple statements that a file begins with."""
    for line in body:
        if not isinstance(line, cst.SimpleStatementLine):
            return
        yield from line.body


def _edit(module: Module, start: int, end: int, content: str) -> Edit:
    if module.newline != "\n":
        content = _BARE_NEWLINE.sub(module.newline, content)
    content = requoted(module, start, content)
    return Edit(module.position(start), module.position(end), content)


def _blank(module: Module, start: int, end: int, ignored: str = "") -> bool:
    return not module.text[start:end].strip(" \t\f\\\r\n" + ignored)


def _indented(code: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in _LINES.split(code))


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


# places around a node: commas, lines that a backslash continues, the end of a block ---------------


def _comma_end(module: Module, arg: cst.Arg) -> int | None:
    """The offset after the comma that follows an argument, if there is one."""
    if isinstance(arg.comma, cst.Comma):
        return module.offsets(arg.comma.whitespace_before)[1] + 1
    return None


def _statement_start(module: Module, stmt: cst.CSTNode) -> int:
    """Where a statement begins, with its decorators."""
    if isinstance(stmt, cst.FunctionDef | cst.ClassDef) and stmt.decorators:
        return module.offsets(stmt.decorators[0])[0]
    return module.offsets(stmt)[0]


def _body(module: Module, stmt: cst.BaseSmallStatement) -> Sequence[cst.BaseSmallStatement]:
    """The statements of its line."""
    line = module.parent(stmt)
    assert isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite)
    return line.body


def _logical_start(module: Module, offset: int) -> int:
    """Where the line begins that a statement is the first one of, which may be further up: a
    backslash continues an empty line."""
    start = line_start(module, offset)
    while (above := _line_before(module, start)).strip(" \t\f\r\n") == "\\":
        start -= len(above)
    return start


def _line_before(module: Module, start: int) -> str:
    """The line above the one that starts here, with its newline."""
    newline = 2 if module.text[start - 2 : start] == "\r\n" else 1
    return module.text[line_start(module, start - newline) : start] if start else ""


def _line_below(module: Module, end: int) -> int:
    """Where the line below a statement begins, past backslashes that continue it by nothing."""
    while (more := _CONTINUED.match(module.text, end)) is not None:
        end = more.end()
    return next_line(module, end)


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

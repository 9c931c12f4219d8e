"""Other ways to lay out a program that leave its syntax tree as it is.

A fix of a program is a fix of each of its layouts. Each function here takes a program and returns it
in another layout, with the same tree; comments that it adds are numbered, so that a lost one shows.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Formatting = Callable[[str], str]
    Between = Callable[["_Gap"], str | None]
    """What to put between two tokens; None leaves it."""

COMMENT: Final = re.compile(r"# kept \d+")
"""A comment that was added."""


# line ends, indentation, single characters -----------------------------------------------------


def carriage_returns_and_newlines(source: str) -> str:
    return source.replace("\n", "\r\n")


def lone_carriage_returns(source: str) -> str:
    return source.replace("\n", "\r")


def no_newline_at_the_end(source: str) -> str:
    return source.rstrip("\n")


def byte_order_mark(source: str) -> str:
    return f"\ufeff{source}"


def coding_line(source: str) -> str:
    return f"# -*- coding: utf-8 -*-\n{source}"


def tabs(source: str) -> str:
    return _indented(source, lambda depth: "\t" * depth)


def one_blank_of_indentation(source: str) -> str:
    return _indented(source, lambda depth: " " * depth)


def form_feeds_before_indented_lines(source: str) -> str:
    """Before the indentation of each line in which a statement begins, and at each page's end."""
    starts = {line for line, depth in _line_depths(source).items() if depth}
    rows = source.split("\n")
    return "\n".join(f"\f{row}" if number in starts else row for number, row in enumerate(rows, 1))


def form_feeds_between_statements(source: str) -> str:
    """On a line of its own before each statement of the module."""
    starts = {line for line, depth in _line_depths(source).items() if not depth}
    rows = source.split("\n")
    return "\n".join(
        f"\f\n{row}" if number in starts else row for number, row in enumerate(rows, 1)
    )


def form_feeds_between_tokens(source: str) -> str:
    return _with_gaps(source, lambda gap: "\f" if gap.text == " " else None)


# brackets --------------------------------------------------------------------------------------


def blanks_between_tokens(source: str) -> str:
    return _with_gaps(source, lambda gap: " ")


def blanks_around_dots(source: str) -> str:
    return _with_gaps(source, lambda gap: " " if gap.at(".") else None)


def line_breaks_after_dots(source: str) -> str:
    return _with_gaps(source, lambda gap: "\n  " if gap.nested and gap.before == "." else None)


def line_breaks_before_dots(source: str) -> str:
    return _with_gaps(source, lambda gap: "\n  " if gap.nested and gap.after == "." else None)


def line_breaks_in_brackets(source: str) -> str:
    return _with_gaps(source, lambda gap: "\n" if gap.may_break else None)


def arguments_on_lines_of_their_own(source: str) -> str:
    def broken(gap: _Gap) -> str | None:
        if gap.nested and (gap.before in "([{," or gap.after in ")]}"):
            return "\n        "
        return None

    return _with_gaps(source, broken)


def backslashes(source: str) -> str:
    """Between all tokens of a statement that are not in brackets."""
    return _with_gaps(source, lambda gap: None if gap.nested else " \\\n  ")


def backslashes_in_brackets(source: str) -> str:
    return _with_gaps(source, lambda gap: "\\\n" if gap.may_break else None)


def commas_before_closing_brackets(source: str) -> str:
    return cst.parse_module(source).visit(_LastCommas()).code


# comments --------------------------------------------------------------------------------------


def comments_at_the_end_of_lines(source: str) -> str:
    numbers = count()
    ends = [end for _, end in _logical_lines(source)]
    return _inserted(source, [(end, f"  # kept {next(numbers)}") for end in ends])


def comments_between_lines(source: str) -> str:
    """Above each statement, and with its indentation."""
    numbers = count()
    added = []
    for start, _ in _logical_lines(source):
        begin = source.rfind("\n", 0, start) + 1
        added.append((begin, f"{source[begin:start]}# kept {next(numbers)}\n"))
    return _inserted(source, added)


def comments_behind_opening_brackets(source: str) -> str:
    return _with_comments(source, lambda gap: gap.nested and gap.before in "([{")


def comments_before_closing_brackets(source: str) -> str:
    return _with_comments(source, lambda gap: gap.nested and gap.after in ")]}")


def comments_behind_commas(source: str) -> str:
    return _with_comments(source, lambda gap: gap.nested and gap.before == ",")


def comments_before_commas(source: str) -> str:
    return _with_comments(source, lambda gap: gap.nested and gap.after == ",")


def comments_at_dots(source: str) -> str:
    return _with_comments(source, lambda gap: gap.nested and gap.at("."))


def comments_in_parentheses(source: str) -> str:
    """Extra parentheses around each expression, with a comment behind the opening one."""
    return comments_behind_opening_brackets(parentheses(source))


# statements ------------------------------------------------------------------------------------


def semicolons_at_the_end(source: str) -> str:
    ends = [end for start, end in _logical_lines(source) if _is_simple(source, start, end)]
    return _inserted(source, [(end, ";") for end in ends])


def statements_joined(source: str) -> str:
    """Statements on one line wherever they may be on one."""
    return cst.parse_module(source).visit(_Joined()).code


def blocks_on_one_line(source: str) -> str:
    """`if x: a; b` for each block without blocks in it."""
    return cst.parse_module(source).visit(_OneLineBlocks()).code


# expressions -----------------------------------------------------------------------------------


def parentheses(source: str) -> str:
    """Around each expression that may have some."""
    return cst.parse_module(source).visit(_Parenthesized(1)).code


def five_parentheses(source: str) -> str:
    """Around each argument."""
    return cst.parse_module(source).visit(_Parenthesized(5, only=(cst.Arg,))).code


def parentheses_over_lines(source: str) -> str:
    """Around the whole of what a statement computes, and a new line for each token in it."""
    text = _wrapped(source)
    return _with_gaps(text, lambda gap: "\n" if gap.may_break and not gap.at(".") else None)


def parentheses_around_callees(source: str) -> str:
    return cst.parse_module(source).visit(_Parenthesized(1, only=(cst.Call,), callees=True)).code


def line_breaks_everywhere(source: str) -> str:
    """Between all tokens of what a statement computes."""
    return _with_gaps(_wrapped(source), lambda gap: "\n" if gap.nested else None)


def _wrapped(source: str) -> str:
    around = (cst.Assign, cst.AugAssign, cst.Expr, cst.Return, cst.For, cst.If, cst.While)
    return cst.parse_module(source).visit(_Parenthesized(1, only=around)).code


def strings_in_pieces(source: str) -> str:
    return cst.parse_module(source).visit(_StringsInPieces()).code


ALL: Final[dict[str, Formatting]] = {
    each.__name__.replace("_", " "): each
    for each in (
        carriage_returns_and_newlines, lone_carriage_returns, no_newline_at_the_end,
        byte_order_mark, coding_line, tabs, one_blank_of_indentation,
        form_feeds_before_indented_lines, form_feeds_between_statements,
        form_feeds_between_tokens, blanks_between_tokens, blanks_around_dots,
        line_breaks_after_dots, line_breaks_before_dots, line_breaks_in_brackets,
        arguments_on_lines_of_their_own, backslashes, backslashes_in_brackets,
        commas_before_closing_brackets, comments_at_the_end_of_lines, comments_between_lines,
        comments_behind_opening_brackets, comments_before_closing_brackets,
        comments_behind_commas, comments_before_commas, comments_at_dots,
        comments_in_parentheses, semicolons_at_the_end, statements_joined, blocks_on_one_line,
        parentheses, five_parentheses, parentheses_over_lines, strings_in_pieces,
        parentheses_around_callees, line_breaks_everywhere,
    )
}  # fmt: skip
SAME_LINES: Final = (
    "carriage returns and newlines", "lone carriage returns", "byte order mark", "coding line"
)  # fmt: skip
"""Those that come to the same before and after a fix."""
UNSEEN: Final = frozenset({"parentheses around callees", "line breaks everywhere"})
"""Layouts that nobody writes: the searches that decide whether to parse a file miss `(f)(x)`."""


# tokens ----------------------------------------------------------------------------------------

_LAYOUT: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})
_FSTRINGS: Final = {
    getattr(tokenize, f"{kind}_{end}"): step
    for kind in ("FSTRING", "TSTRING")
    for end, step in (("START", 1), ("END", -1))
    if hasattr(tokenize, f"{kind}_{end}")
}
_WORD = re.compile(r"[\w\"']")


@dataclass(frozen=True, slots=True)
class _Gap:
    """What is between two tokens of a statement.

    Args:
        text: blanks, and line breaks and comments in brackets.
        nested: it is inside brackets.
    """

    start: int
    end: int
    text: str
    before: str
    after: str
    nested: bool

    @property
    def may_break(self) -> bool:
        """Whether a line may end here in a program that somebody would write: not between a
        function and its parenthesis or a name and its `=`, nor where there are no arguments."""
        named = self.before[-1].isalnum() or self.before[-1] in "_)]"
        empty = self.before + self.after == "()"
        return self.nested and not empty and not (self.after in "([=" and named)

    def at(self, sign: str) -> bool:
        return sign in (self.before, self.after)


def _gaps(source: str) -> Iterator[_Gap]:
    """The gaps outside of formatted strings."""
    depth = formatted = 0
    last: tuple[int, str] | None = None
    for kind, string, start, end in _tokens(source):
        if kind in _LAYOUT:
            continue
        if kind in (tokenize.NEWLINE, tokenize.ENDMARKER):
            last = None
            continue
        if last is not None and not formatted:
            nested = depth > 0
            yield _Gap(last[0], start, source[last[0] : start], last[1], string, nested)
        formatted += _FSTRINGS.get(kind, 0)
        if kind == tokenize.OP and not formatted:
            depth += (string in "([{") - (string in ")]}")
        last = (end, string)


def _tokens(source: str) -> Iterator[tuple[int, str, int, int]]:
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for token in tokenize.generate_tokens(io.StringIO(source, newline="").readline):
        start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        yield token.type, token.string, start, end


def _with_gaps(source: str, between: Between) -> str:
    pieces: list[str] = []
    done = 0
    for gap in _gaps(source):
        text = between(gap)
        if text is not None and "\n" not in gap.text:
            pieces += (source[done : gap.start], text)
            done = gap.end
    return "".join([*pieces, source[done:]])


def _with_comments(source: str, wanted: Callable[[_Gap], bool]) -> str:
    numbers = count()
    added = [
        (gap.start, f"  # kept {next(numbers)}\n")
        for gap in _gaps(source)
        if wanted(gap) and "#" not in gap.text
    ]
    return _inserted(source, added)


def _inserted(source: str, added: Sequence[tuple[int, str]]) -> str:
    pieces: list[str] = []
    cuts = [0, *(offset for offset, _ in added), len(source)]
    texts = [*(text for _, text in added), ""]
    for (start, end), text in zip(pairwise(cuts), texts, strict=True):
        pieces += (source[start:end], text)
    return "".join(pieces)


def _logical_lines(source: str) -> Iterator[tuple[int, int]]:
    """Where each statement, or the head of a compound one, starts and ends; not those that end
    with a comment."""
    start: int | None = None
    end = 0
    commented = False
    for kind, _, begin, stop in _tokens(source):
        if kind == tokenize.NEWLINE:
            if start is not None and not commented:
                yield start, end
            start, commented = None, False
        elif kind == tokenize.COMMENT:
            commented = start is not None
        elif kind not in _LAYOUT and kind != tokenize.ENDMARKER:
            start, end, commented = begin if start is None else start, stop, False


def _line_depths(source: str) -> dict[int, int]:
    """How deep each line in which a statement begins is indented."""
    depth = 0
    fresh = True
    found: dict[int, int] = {}
    for token in tokenize.generate_tokens(io.StringIO(source, newline="").readline):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            fresh = True
        elif token.type not in _LAYOUT and fresh and token.type != tokenize.ENDMARKER:
            found[token.start[0]] = depth
            fresh = False
    return found


def _indented(source: str, indentation: Callable[[int], str]) -> str:
    rows = source.split("\n")
    for line, depth in _line_depths(source).items():
        rows[line - 1] = indentation(depth) + rows[line - 1].lstrip(" ")
    return "\n".join(rows)


def _is_simple(source: str, start: int, end: int) -> bool:
    """Whether a logical line is a statement, not the head of a block or a decorator."""
    return source[end - 1] != ":" and source[start] != "@"


# nodes -----------------------------------------------------------------------------------------

_BARE: Final = {
    cst.Attribute: ("attr",),
    cst.Arg: ("keyword",),
    cst.Param: ("name", "annotation"),
    cst.ImportFrom: ("module",),
    cst.FunctionDef: ("name", "returns"),
    cst.ClassDef: ("name",),
    cst.NameItem: ("name",),
    cst.AsName: ("name",),
    cst.ImportAlias: ("name",),
    cst.NamedExpr: ("target",),
    cst.AnnAssign: ("target", "annotation"),
    cst.ConcatenatedString: ("left", "right"),
    cst.Call: ("func",),
    cst.Del: ("target",),
}
"""The parts of nodes that may not have parentheses, or not without another meaning."""


class _Parenthesized(cst.CSTTransformer):
    """Parentheses around expressions, or around those that are a direct part of such nodes."""

    def __init__(
        self, number: int, *, only: tuple[type[cst.CSTNode], ...] = (), callees: bool = False
    ) -> None:
        self._number = number
        self._only = only
        self._callees = callees
        self._bare: set[cst.CSTNode] = set()
        self._wanted: set[cst.CSTNode] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        for name in _BARE.get(type(node), ()):
            part = getattr(node, name)
            if part is not None and not (self._callees and name == "func"):
                self._bare.add(part)
        if isinstance(node, self._only):
            self._wanted |= set(node.children)
        skipped = (cst.FormattedString, cst.Annotation, cst.MatchCase, cst.ImportAlias)
        return node not in self._bare and not isinstance(node, skipped)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:
        skipped = (cst.StarredElement, cst.Yield, cst.From)
        if (
            not isinstance(original_node, cst.BaseExpression)
            or isinstance(original_node, skipped)
            or original_node in self._bare
            or (self._only and original_node not in self._wanted)
        ):
            return updated_node
        assert isinstance(updated_node, cst.BaseExpression)
        return updated_node.with_changes(
            lpar=[*[cst.LeftParen()] * self._number, *updated_node.lpar],
            rpar=[*updated_node.rpar, *[cst.RightParen()] * self._number],
        )


class _LastCommas(cst.CSTTransformer):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        args = list(updated_node.args)
        if not args or (len(args) == 1 and isinstance(args[0].value, cst.GeneratorExp)):
            return updated_node
        args[-1] = args[-1].with_changes(comma=cst.Comma())
        return updated_node.with_changes(args=args)


class _StringsInPieces(cst.CSTTransformer):
    """`("ab" "cd")` over two lines for each argument `"abcd"`."""

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        value = updated_node.value
        if not isinstance(value, cst.SimpleString) or value.prefix or len(value.quote) != 1:
            return updated_node
        text = value.raw_value
        if len(text) < 2 or "\\" in text:
            return updated_node
        half = len(text) // 2
        parts = [
            value.with_changes(value=f"{value.quote}{part}{value.quote}")
            for part in (text[:half], text[half:])
        ]
        between = cst.ParenthesizedWhitespace(indent=True)
        joined = cst.ConcatenatedString(
            *parts, whitespace_between=between, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
        )
        return updated_node.with_changes(value=joined)


class _Joined(cst.CSTTransformer):
    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return updated_node.with_changes(body=_joined(updated_node.body))

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return updated_node.with_changes(body=_joined(updated_node.body))


def _joined(body: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    lines: list[cst.BaseStatement] = []
    for line in body:
        last = lines[-1] if lines else None
        if _is_plain(line) and last is not None and _is_plain(last):
            lines[-1] = last.with_changes(body=[*_separated(last.body), *line.body])
        else:
            lines.append(line)
    return lines


def _separated(body: Sequence[cst.BaseSmallStatement]) -> list[cst.BaseSmallStatement]:
    semicolon = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
    return [each.with_changes(semicolon=semicolon) for each in body]


def _is_plain(line: cst.BaseStatement) -> bool:
    """Whether it is a line of simple statements without comments at it."""
    return (
        isinstance(line, cst.SimpleStatementLine)
        and line.trailing_whitespace.comment is None
        and all(each.comment is None for each in line.leading_lines)
    )


class _OneLineBlocks(cst.CSTTransformer):
    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        lines = updated_node.body
        if (
            updated_node.header.comment is not None
            or any(each.comment is not None for each in updated_node.footer)
            or not all(map(_is_plain, lines))
        ):
            return updated_node
        *most, last = [part for line in lines for part in line.body]
        return cst.SimpleStatementSuite(body=[*_separated(most), last])

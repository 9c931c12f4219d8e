"""From a file's text to its LibCST tree, or a clear error."""

from __future__ import annotations

import gc
import re
import warnings
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.files.lines import LineIndex, split_lines
from torchlint.files.reading import SourceError
from torchlint.finding import Position
from torchlint.source.nesting import too_much
from torchlint.source.positions import Positions
from torchlint.source.reparse import TREES
from torchlint.source.tree import within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.files.reading import Source

_PYTHON_2 = re.compile(
    r"""
      ^\s*(?:print\b\s*(?:>>|["'\w%]) | exec\b\s+["'\w] | raise\s+[\w.]+\s*,
           | except\b[^:#]+,\s*\w+\s*:)
    | `[^`]+` | <> | \b0\d+[lL]?\b | \b\d+[lL]\b | \b[uU][rR]["']
    """,
    re.VERBOSE,
)
_STRINGS = (cst.SimpleString, cst.FormattedString, cst.TemplatedString)
_PYTHON_2_SAYS = ("Missing parentheses in call to 'print", "Missing parentheses in call to 'exec")
_CAUGHT = frozenset({"e", "ex", "err", "exc", "inst", "msg", "why"})
_OLD_EXCEPT = re.compile(rf"except\b[^:#\n]{{0,200}},[ \t]*(?:{'|'.join(sorted(_CAUGHT))})[ \t]*:")
_PLACE = re.compile(r"error at (\d+):(\d+)")
_BEFORE_INDENTATION = re.compile(r"(?<![^\r\n])[ \t\f]*\f(?=[ \t]*[^ \t\f\r\n])")
"""What Python leaves out of account when it measures how far a line is indented."""


def parse(source: Source) -> cst.Module:
    """The tree of a file, at about 1 MB/s.

    `tree.code` equals `source.text`, except that LibCST loses form feeds, blanks and
    comments in a few places, or repeats form feeds; `Positions` corrects for that.

    Raises:
        SourceError: of kind `syntax`, with the place: not Python 3, or nested too deep.
    """
    excess = too_much(source.text)
    if excess is not None:
        place = LineIndex(source.text).position(excess.offset)
        raise SourceError(source.path, excess.message, place, kind="syntax")
    if source.text.startswith("\ufeff"):
        message = "There is a second byte order mark here; remove it."
        raise SourceError(source.path, message, Position(1, 1), kind="syntax")
    try:
        tree = _parse_without_gc(source)
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        raise _explain(source, error) from error
    except UnicodeError as error:
        message = "The text holds characters that no file can hold (lone surrogates); fix it."
        raise SourceError(source.path, message, Position(1, 1), kind="syntax") from error
    except Exception as error:  # one file that LibCST fails on must not end the whole check
        message = f"LibCST cannot parse this ({type(error).__name__}); exclude the file."
        raise SourceError(source.path, message, Position(1, 1), kind="syntax") from error
    _refuse_python_2(source, tree)
    if source.text.endswith("\r") and not tree.has_trailing_newline:
        # LibCST does not take a lone carriage return for the end of the last line.
        tree = tree.with_changes(has_trailing_newline=True)
    return tree


def _parse_without_gc(source: Source) -> cst.Module:
    """Twice as fast: a tree is many objects, and none of them is garbage yet."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        if "\f" in source.text and (feeds := _form_feeds(source.text)):
            return _parse_without(feeds, source.text)
        trees = TREES.get()
        if trees is not None:
            return trees.parse(source.path, source.text)
        return cst.parse_module(source.text)
    finally:
        if enabled:
            gc.enable()


def _form_feeds(text: str) -> list[tuple[int, int]]:
    """Where form feeds come before the indentation, and the blanks before them."""
    return [match.span() for match in _BEFORE_INDENTATION.finditer(text)]


def _parse_without(feeds: list[tuple[int, int]], text: str) -> cst.Module:
    """The tree of a text without its form feeds before lines of code, which LibCST takes for a part
    of the indentation, so that it refuses blocks that Python reads. Those in strings stay."""
    rest, starts = _cut(text, feeds)
    tree = cst.parse_module(rest)
    positions = Positions(tree, rest)
    inside: set[int] = set()
    for first, last in (
        positions.span(each) for each in within(tree) if isinstance(each, _STRINGS)
    ):
        inside.update(range(bisect_right(starts, first), bisect_left(starts, last)))
    if inside:
        outside = [each for index, each in enumerate(feeds) if index not in inside]
        tree = cst.parse_module(_cut(text, outside)[0])
    return tree


def _cut(text: str, cuts: list[tuple[int, int]]) -> tuple[str, list[int]]:
    """The text without some parts, and where each of them was in what is left."""
    pieces, places = [], []
    done = length = 0
    for start, end in cuts:
        pieces.append(text[done:start])
        length += start - done
        places.append(length)
        done = end
    return "".join([*pieces, text[done:]]), places


def _explain(source: Source, error: cst.ParserSyntaxError | cst.CSTValidationError) -> SourceError:
    """CPython's message and place, which are better; LibCST's own if CPython accepts the text."""
    python = _what_python_says(source.text)
    if python is None:
        # LibCST gives no place for a name with characters that no name can have.
        place = None if isinstance(error, cst.CSTValidationError) else _PLACE.search(error.message)
        row, column = map(int, place.groups()) if place else (1, 1)
        message = "LibCST cannot parse this; fix the syntax or exclude the file."
    else:
        row, column = python.lineno or 1, python.offset or 1
        message = f"This is not valid Python: {python.msg}; fix or exclude the file."
    lines = split_lines(source.text)
    row = min(max(row, 1), len(lines))
    line = lines[row - 1]
    if python and (_PYTHON_2.search(line) or python.msg.startswith(_PYTHON_2_SAYS)):
        message = _python_2(python.msg)
    place_in_line = min(max(column, 1), len(line) + 1)
    return SourceError(source.path, message, Position(row, place_in_line), kind="syntax")


def _what_python_says(text: str) -> SyntaxError | None:
    import ast

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, OverflowError):
            return None
    return None


def _python_2(reason: str) -> str:
    return f"This looks like Python 2 ({reason}), which torchlint does not read; exclude the file."


def _refuse_python_2(source: Source, tree: cst.Module) -> None:
    """LibCST reads `except E, e:` as two exception types, the newer PEP 758."""
    if "except" not in source.text or not _OLD_EXCEPT.search(source.text):
        return
    handler = next(filter(_is_old_except, _nodes(tree)), None)
    if handler is not None:
        start, _ = Positions(tree, source.text).span(handler)
        place = LineIndex(source.text).position(start)
        raise SourceError(source.path, _python_2("`except E, e:`"), place, kind="syntax")


def _is_old_except(node: cst.CSTNode) -> bool:
    if not (isinstance(node, cst.ExceptHandler) and isinstance(node.type, cst.Tuple)):
        return False
    last = node.type.elements[-1].value
    return not node.type.lpar and isinstance(last, cst.Name) and last.value in _CAUGHT


def _nodes(tree: cst.Module) -> Iterator[cst.CSTNode]:
    stack: list[cst.CSTNode] = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))

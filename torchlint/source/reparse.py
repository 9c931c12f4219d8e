"""The tree of a text after an edit, made from the last one: statements that the edit does not touch
keep their nodes, and only those around it are parsed.

While a user types, parsing the whole script after every key takes longest.
"""

from __future__ import annotations

from bisect import bisect_right
from contextvars import ContextVar
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.source.positions import StatementPart

if TYPE_CHECKING:
    from collections.abc import Callable

    Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement

TREES: ContextVar[Trees | None] = ContextVar("trees", default=None)
"""The kept trees, or None if none are kept; `parse` uses it."""
_FEWEST: Final = 3
"""Statements of a module below which nothing is saved."""
_MOST_TREES: Final = 4
"""Files that are edited at about the same time. The nodes of a file take 500 times its bytes."""


class Trees:
    """The last tree of each of the files that were parsed last."""

    def __init__(self) -> None:
        self._last: dict[str, _Parsed] = {}

    def parse(self, path: str, text: str) -> cst.Module:
        """What `cst.parse_module` gives, of nodes that an earlier tree of the file may share.

        Raises:
            cst.ParserSyntaxError: as `cst.parse_module` does; the last tree is kept.
        """
        last = self._last.get(path)
        parsed = None if last is None else last.edited(text)
        if parsed is None:
            parsed = _Parsed(text, cst.parse_module(text))
        self._last.pop(path, None)
        self._last[path] = parsed
        while len(self._last) > _MOST_TREES:
            del self._last[next(iter(self._last))]
        return parsed.tree

    def parts(self, path: str, tree: cst.Module) -> list[tuple[int, StatementPart]]:
        """The statements of such a tree, each with its start; none if they are not known."""
        last = self._last.get(path)
        return [] if last is None or last.tree is not tree else last.placed_parts()


class _Parsed:
    """A text and its tree.

    Args:
        parts: the statements of the module, comments above them being part of them; None if they
            have not been looked at yet, and empty if they do not make the text.
    """

    def __init__(
        self, text: str, tree: cst.Module, parts: list[StatementPart] | None = None
    ) -> None:
        self.tree = tree
        self._text = text
        self._parts = parts

    @cached_property
    def _starts(self) -> list[int]:
        """Where each statement starts, and where the last one ends."""
        lengths = (len(part.code) for part in self._parts or ())
        return list(accumulate(lengths, initial=_header_length(self.tree)))

    def _looked_at(self) -> list[StatementPart]:
        if self._parts is None:
            same = self.tree.code == self._text
            self._parts = (
                [StatementPart(each, self.tree) for each in self.tree.body] if same else []
            )
        return self._parts

    def placed_parts(self) -> list[tuple[int, StatementPart]]:
        """None before the first edit: to look at a file once, all at once is quicker."""
        return list(zip(self._starts, self._parts, strict=False)) if self._parts else []

    def edited(self, text: str) -> _Parsed | None:
        """The same after an edit; None if all of it has to be parsed."""
        tree, old = self.tree, self._text
        if text == old:
            return self
        parts = self._looked_at()
        if len(parts) < _FEWEST or "\r" in text or "\f" in text:
            return None
        head, tail = _same(old, text)
        # With one more on either side: a new line may belong to the statement above it, and a
        # comment to the one below.
        starts, end = self._starts, len(parts) - 1
        first = max(bisect_right(starts, head) - 2, 0)
        last = min(bisect_right(starts, len(old) - tail), end)
        start = starts[first] if first else 0
        stop = starts[last + 1] if last < end else len(old)
        part = text[start : stop + len(text) - len(old)]
        try:
            new = cst.parse_module(part)
        except cst.ParserSyntaxError:
            return None  # brackets and quotes may reach further than this part
        body = _joinable(new, tree, part, at_start=first == 0, at_end=last == end)
        if body is None:
            return None
        tree = tree.with_changes(body=[*tree.body[:first], *body, *tree.body[last + 1 :]])
        if first == 0:
            tree = tree.with_changes(header=new.header)
        if last == end:
            ending = {"footer": new.footer, "has_trailing_newline": new.has_trailing_newline}
            tree = tree.with_changes(**ending)
        if new.code != part:
            return None
        made = [StatementPart(each, tree) for each in body]
        return _Parsed(text, tree, [*parts[:first], *made, *parts[last + 1 :]])


def _header_length(tree: cst.Module) -> int:
    return sum(len(tree.code_for_node(line)) for line in tree.header)


def _joinable(
    new: cst.Module, tree: cst.Module, part: str, *, at_start: bool, at_end: bool
) -> list[Statement] | None:
    """The statements of a part as they are in the whole; None if they may be others there."""
    indented = "\n " in part or "\n\t" in part
    if not new.body or (indented and new.default_indent != tree.default_indent):
        return None
    if not at_end and (new.footer or not new.has_trailing_newline):
        return None
    body = list(new.body)
    if not at_start and new.header:
        # Of a whole file, the comments at the top are the module's.
        lines = [*new.header, *body[0].leading_lines]
        body[0] = body[0].with_changes(leading_lines=lines)
    return body


def _same(old: str, new: str) -> tuple[int, int]:
    """How many characters at the beginning and, apart from those, at the end are the same."""
    shorter = min(len(old), len(new))
    head = _most(shorter, lambda count: old[:count] == new[:count])
    rest = shorter - head
    tail = _most(rest, lambda count: count == 0 or old[-count:] == new[-count:])
    return head, tail


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest count for which something holds that holds for all smaller ones."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low

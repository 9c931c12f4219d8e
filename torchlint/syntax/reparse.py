"""The tree of a text after an edit, made of the last one: statements that the edit does not touch
are the same nodes, and only those around it are parsed.

While somebody types in a script, parsing all of it with every key is what takes longest.
"""

from __future__ import annotations

from bisect import bisect_right
from contextvars import ContextVar
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement

TREES: ContextVar[Trees | None] = ContextVar("trees", default=None)
"""Where trees are kept, if anybody keeps them; `parse` asks."""
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


class _Parsed:
    """A text and its tree.

    Args:
        ends: where each statement of the module ends, comments above it being part of it; None if
            that has not been looked at yet.
    """

    def __init__(self, text: str, tree: cst.Module, ends: Sequence[int] | None = None) -> None:
        self.tree = tree
        self._text = text
        self._ends = ends

    def edited(self, text: str) -> _Parsed | None:
        """The same after an edit; None if all of it has to be parsed."""
        tree, old = self.tree, self._text
        if text == old:
            return self
        if self._ends is None:
            self._ends = _ends(tree, old)
        ends = self._ends
        if len(ends) < 3 or "\r" in text or "\f" in text:
            return None
        head, tail = _same(old, text)
        # With one more on either side: a new line may belong to the statement above it, and a
        # comment to the one below.
        first = max(bisect_right(ends, head) - 1, 0)
        last = min(bisect_right(ends, len(old) - tail) + 1, len(ends) - 1)
        start = ends[first - 1] if first else 0
        stop = ends[last] if last < len(ends) - 1 else len(old)
        part = text[start : stop + len(text) - len(old)]
        try:
            new = cst.parse_module(part)
        except cst.ParserSyntaxError:
            return None  # brackets and quotes may reach further than this part
        body = _joinable(new, tree, part, at_start=first == 0, at_end=last == len(ends) - 1)
        if body is None:
            return None
        lengths = [len(tree.code_for_node(statement)) for statement in body]
        if first == 0:
            lengths[0] += _header_length(new)
        if last < len(ends) - 1 and sum(lengths) != len(part):
            return None
        moved = len(text) - len(old)
        made = list(accumulate(lengths, initial=start))[1:]
        after = [end + moved for end in ends[last + 1 :]]
        return _Parsed(
            text,
            tree.with_changes(
                body=[*tree.body[:first], *body, *tree.body[last + 1 :]],
                header=new.header if first == 0 else tree.header,
                footer=new.footer if last == len(ends) - 1 else tree.footer,
                has_trailing_newline=(
                    new.has_trailing_newline if last == len(ends) - 1 else tree.has_trailing_newline
                ),
            ),
            [*ends[:first], *made, *after],
        )


def _ends(tree: cst.Module, text: str) -> list[int]:
    """Where each statement ends; nothing if the tree does not give back the text."""
    if tree.code != text:
        return []
    lengths = [len(tree.code_for_node(statement)) for statement in tree.body]
    return list(accumulate(lengths, initial=_header_length(tree)))[1:]


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
    """How many characters at the beginning and, beside those, at the end are the same."""
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

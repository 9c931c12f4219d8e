"""Where each node is in the text, from one pass of LibCST's own code generator."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from libcst._nodes.internal import CodegenState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import libcst as cst

_BLANK = " \t\f\\\r\n"
_COMMENT = re.compile(r"#[^\r\n]*")
_SPACED_EXCEPT = re.compile(r"except\b[^:\r\n]{0,200}[ \t]:")
_CHUNK = 4096
_MOST_PARTS = 16


class Positions:
    """The offsets of every node of a tree, whitespace and punctuation nodes included.

    Args:
        tree: a parsed file.
        text: what it was parsed from.

    Raises:
        ValueError: the tree is not that of the text.
    """

    def __init__(self, tree: cst.Module, text: str) -> None:
        self._tree = tree
        """Held, since its nodes are known by their identity."""
        recorder = _Recorder(tree.default_indent, tree.default_newline)
        tree._codegen(recorder)
        self._spans = recorder.spans
        self._starts = list(accumulate(map(len, recorder.tokens), initial=0))
        self._drift = _Drift("".join(recorder.tokens), text)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end in characters, as LibCST's syntactic positions have them.

        Whitespace, comments and parentheses around an expression are outside, decorators are
        outside of what they decorate, and a block ends with its last statement.

        Raises:
            KeyError: the node is not in the tree.
        """
        first, last = self._spans[id(node)]
        starts = self._starts
        start = starts[first] if first < len(starts) else starts[-1]
        end = starts[last] if last < len(starts) else starts[-1]
        start = self._drift.start(start)
        return start, max(start, self._drift.end(end))


class StatementPart:
    """A statement of a module alone: its text, and where its nodes are in it."""

    __slots__ = ("_spans", "_starts", "code", "statement")

    def __init__(self, statement: cst.CSTNode, tree: cst.Module) -> None:
        self.statement = statement
        recorder = _Recorder(tree.default_indent, tree.default_newline)
        statement._codegen(recorder)
        self._starts = list(accumulate(map(len, recorder.tokens), initial=0))
        self._spans = recorder.spans
        self.code = "".join(recorder.tokens)

    def span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        found = self._spans.get(id(node))
        if found is None:
            return None
        start, end = (self._starts[min(token, len(self._starts) - 1)] for token in found)
        return start, max(start, end)


class PositionsByNeed:
    """The same, looking only at the statements of the module that hold what is asked for: most
    files have few findings, and of a long file this takes a fraction of the time.

    Args:
        ancestors: the parents of a node, nearest first.
        parts: the statements that were looked at before, each with its start; all of them, if any.
    """

    def __init__(
        self,
        tree: cst.Module,
        text: str,
        ancestors: Callable[[cst.CSTNode], Iterable[cst.CSTNode]],
        parts: Iterable[tuple[int, StatementPart]] = (),
    ) -> None:
        self._tree = tree
        self._text = text
        self._ancestors = ancestors
        self._parts = {id(part.statement): (start, part) for start, part in parts}
        self._last: tuple[int, StatementPart] | None = None
        self._left = len(text) // 2
        """Characters of statements after which all are looked at: then that is quicker."""
        self._whole: Positions | None = None

    def knows(self, node: cst.CSTNode) -> bool:
        """Whether the statement with this node was looked at."""
        if self._whole is not None:
            return True
        # Asked of each expression whose text is wanted, and mostly before anything was looked at.
        return bool(self._parts) and id(self._statement(node)) in self._parts

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """As of `Positions`."""
        if self._whole is None:
            # Blanks and commas have no known parents, and are asked for after what is around them.
            recorded = None if self._last is None else self._last[1].span(node)
            if recorded is None:
                self._last = self._part(self._statement(node))
                recorded = None if self._last is None else self._last[1].span(node)
            if recorded is not None and self._last is not None:
                return recorded[0] + self._last[0], recorded[1] + self._last[0]
            self._whole = Positions(self._tree, self._text)
        return self._whole.span(node)

    @cached_property
    def _is_lossy(self) -> bool:
        """Whether a statement may not come back as it was, and then be found where another is."""
        text = self._text
        end = text.rstrip()
        last = end[max(end.rfind("\n"), end.rfind("\r")) + 1 :]
        hangs = last[:1] in (" ", "\t") and last.lstrip().startswith("#")
        return "\f" in text or hangs or _SPACED_EXCEPT.search(text) is not None

    def _statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        statement: cst.CSTNode | None = None
        for above in (node, *self._ancestors(node)):
            if above is self._tree:
                return statement
            statement = above
        return None

    def _part(self, statement: cst.CSTNode | None) -> tuple[int, StatementPart] | None:
        """A statement, and where it begins; None where only the whole file tells."""
        cached = self._parts.get(id(statement))
        if cached is not None or statement is None or self._left <= 0:
            return cached
        cut = statement is self._tree.body[-1] and not self._tree.has_trailing_newline
        if cut or len(self._parts) >= _MOST_PARTS or self._is_lossy:
            return None
        part = StatementPart(statement, self._tree)
        self._left -= len(part.code)
        start = self._text.find(part.code)
        # A text that is there twice, or not as LibCST gives it back, tells no place.
        if start == -1 or self._text.find(part.code, start + 1) != -1:
            return None
        self._parts[id(statement)] = cached = (start, part)
        return cached


class _Recorder(CodegenState):
    """Notes which tokens each node wrote, by its identity: LibCST's nodes are slow to hash. Offsets
    follow from the lengths of the tokens."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.spans: dict[int, tuple[int, int]] = {}
        self._open: list[int] = []

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._open.append(len(self.tokens))

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._open.pop()
        if id(node) not in self.spans:
            self.spans[id(node)] = (start, len(self.tokens))

    def record_syntactic_position(  # type: ignore[override]  # see _Syntactic
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)


class _Syntactic:
    """A context manager without the cost of a generator; it is entered for every expression."""

    __slots__ = ("_end_node", "_node", "_recorder", "_start", "_start_node")

    def __init__(
        self,
        recorder: _Recorder,
        node: cst.CSTNode,
        start_node: cst.CSTNode | None,
        end_node: cst.CSTNode | None,
    ) -> None:
        self._recorder = recorder
        self._node = node
        self._start_node = start_node
        self._end_node = end_node

    def __enter__(self) -> None:
        self._start = len(self._recorder.tokens)

    def __exit__(self, *error: object) -> None:
        spans = self._recorder.spans
        start = self._start if self._start_node is None else spans[id(self._start_node)][0]
        end = len(self._recorder.tokens) if self._end_node is None else spans[id(self._end_node)][1]
        spans[id(self._node)] = (start, end)


class _Drift:
    """What LibCST does not give back as it was: form feeds before statements are lost, or
    repeated before every line of a block; the space in `except E :`, and comments after a block.

    See https://github.com/Instagram/LibCST; seen in webbrowser.py of the standard library.
    """

    def __init__(self, code: str, text: str) -> None:
        self._places: list[int] = []
        """Offsets in `code` before which something of `text` is missing, or is too much."""
        self._missing = [0]
        """How much is missing in all before the first, the second, … of these places."""
        if code != text:
            self._align(code, text)

    def start(self, offset: int) -> int:
        """The offset in the text of what begins at `offset` of the code."""
        return offset + self._missing[bisect_right(self._places, offset)]

    def end(self, offset: int) -> int:
        """The offset in the text of what ends at `offset` of the code."""
        return offset + self._missing[bisect_right(self._places, offset - 1)]

    def _align(self, code: str, text: str) -> None:
        here = missing = 0
        while here < len(code):
            step = _CHUNK
            if code[here : here + step] == text[here + missing : here + missing + step]:
                here += step
                continue
            here = _first_difference(code, text, here, missing)
            here, there = _next_in_both(code, text, here, here + missing)
            missing = there - here
            self._places.append(here)
            self._missing.append(missing)
        if len(code) + missing < len(text):
            _next_in_both(code, text, len(code), len(code) + missing)


def _first_difference(code: str, text: str, here: int, missing: int) -> int:
    while here < len(code) and text[here + missing : here + missing + 1] == code[here]:
        here += 1
    return here


def _next_in_both(code: str, text: str, here: int, there: int) -> tuple[int, int]:
    """The offsets of the next character that is not blank, past comments that the code lacks.

    Raises:
        ValueError: it is not the same in both.
    """
    line = max(code.rfind("\n", 0, here), code.rfind("\r", 0, here)) + 1
    begun = _past_blanks(code, line)
    if begun < here and _comment(code, begun) != _comment(text, begun + there - here):
        # Two comments that begin alike.
        here, there = begun, begun + there - here
    here, there = _past_blanks(code, here), _past_blanks(text, there)
    while text[there : there + 1] == "#" and _comment(text, there) != _comment(code, here):
        there = _past_blanks(text, there + len(_comment(text, there)))
    if text[there : there + 1] != code[here : here + 1]:
        raise ValueError("the tree is not that of the text")
    return here, there


def _past_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANK:
        place += 1
    return place


def _comment(text: str, place: int) -> str:
    """The comment that begins here, or nothing."""
    found = _COMMENT.match(text, place)
    return found.group() if found else ""

"""The one walk: every node of a parsed file, its parent, and the nodes of each type in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_N = TypeVar("_N", bound=cst.CSTNode)

# Nodes below these contain only whitespace, comments and punctuation.
_PUNCTUATION = (
    "whitespace",
    "leading_lines",
    "lines_after_decorators",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "comma",
    "semicolon",
    "equal",
    "colon",
    "dot",
    "header",
    "footer",
    "trailing_whitespace",
    "newline",
    "comment",
    "indent",
    "posonly_ind",
    "first_colon",
    "second_colon",
    "asynchronous",
)
_SCALARS = frozenset({"star", "has_trailing_newline", "default_indent", "default_newline"})
_SOURCE_ORDER = {
    # Fields that libcst declares in another order than they are written.
    "decorators": -2,
    "posonly_params": -1,
    "params": 0,
    "keyword": -1,
    "star_arg": 1,
    "kwonly_params": 2,
    "star_kwarg": 3,
}


_NO_NODES = frozenset({type(None), str, bool, cst.MaybeSentinel})
_LEAVES = (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString)


@cache
def _child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [
        field.name
        for field in fields(kind)
        if not field.name.startswith(_PUNCTUATION)
        and not field.name.endswith(("_whitespace", "encoding"))
        and field.name not in _SCALARS
    ]
    if kind in _LEAVES:
        return ()
    if kind in (cst.IfExp, cst.ListComp):
        return ("body", "test", "orelse") if kind is cst.IfExp else ("elt", "for_in")
    return tuple(sorted(names, key=lambda name: _SOURCE_ORDER.get(name, 0)))


def _children(node: cst.CSTNode, names: tuple[str, ...]) -> list[cst.CSTNode]:
    children: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        kind = value.__class__
        if kind is list or kind is tuple:
            children.extend(value)
        elif kind not in _NO_NODES:
            children.append(value)
    return children


def within(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and everything below it, without whitespace, in no particular order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        names = _child_fields(current.__class__)
        if names:
            stack += _children(current, names)


def last_statement(block: cst.BaseSuite) -> cst.CSTNode | None:
    """What a block ends with: a compound statement, or the last part of its last line."""
    last = block.body[-1] if block.body else None
    return last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last


@cache
def _concrete(kind: type[cst.CSTNode]) -> tuple[type[cst.CSTNode], ...]:
    """The type and all its subclasses: `BaseStatement` means every statement."""
    found = [kind]
    for sub in kind.__subclasses__():
        found += _concrete(sub)
    return tuple(dict.fromkeys(found))


class Tree:
    """A parsed file with its nodes indexed.

    Whitespace, comments and punctuation are not walked: rules do not ask about
    them, and without them the walk takes a tenth of the time of the parse.
    """

    __slots__ = ("_all", "_by_type", "_last", "_nearest", "_order", "_parents", "root")

    def __init__(self, root: cst.Module) -> None:
        self.root = root
        # Keyed by identity: a node's own hash is a Python function, and there are many nodes.
        self._parents: dict[int, cst.CSTNode] = {}
        self._by_type: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self._all: list[cst.CSTNode] = []
        """In source order, a parent before its children."""
        self._order: dict[int, int] = {}
        self._last: dict[int, cst.CSTNode] = {}
        """The last child of each node that has one."""
        self._nearest: dict[tuple[type, ...], dict[int, cst.CSTNode | None]] = {}
        self._walk()

    def _walk(self) -> None:
        parents, by_type, every, last = self._parents, self._by_type, self._all, self._last
        stack: list[cst.CSTNode] = [self.root]
        child_fields: dict[type[cst.CSTNode], tuple[str, ...]] = {}
        while stack:
            node = stack.pop()
            kind = node.__class__
            bucket = by_type.get(kind)
            if bucket is None:
                bucket = by_type[kind] = []
                child_fields[kind] = _child_fields(kind)
            bucket.append(node)
            every.append(node)
            names = child_fields[kind]
            children = _children(node, names) if names else None
            if not children:
                continue
            for child in children:
                parents[id(child)] = node
            last[id(node)] = children[-1]
            children.reverse()
            stack += children
        self._order = dict(zip(map(id, every), range(len(every)), strict=True))

    def nodes(self, *types: type[_N]) -> list[_N]:
        """The nodes of exactly these types; in source order if one type is asked for."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])  # type: ignore[return-value]
        return [node for kind in types for node in self._by_type.get(kind, [])]  # type: ignore[misc]

    def order(self, node: cst.CSTNode) -> int:
        """The place of `node` in source order: a parent before its children."""
        return self._order[id(node)]

    def last(self, node: cst.CSTNode) -> int:
        """The place of the last node below `node`; of itself if there is none."""
        last, end = self._last, node
        while (child := last.get(id(end))) is not None:
            end = child
        return self._order[id(end)]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(id(node))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parents of `node`, nearest first, without the node itself."""
        parents = self._parents
        above = parents.get(id(node))
        while above is not None:
            yield above
            above = parents.get(id(above))

    def enclosing(self, node: cst.CSTNode, *types: type[_N]) -> _N | None:
        """The nearest ancestor of one of these types."""
        nearest = self._nearest.get(types)
        if nearest is None:
            nearest = self._nearest[types] = {}
        key = id(node)
        if key in nearest:
            return nearest[key]  # type: ignore[return-value]
        kinds = types if len(types) > 1 else _concrete(types[0])
        parents = self._parents
        passed = [key]
        ancestor = parents.get(key)
        while ancestor is not None and ancestor.__class__ not in kinds:
            key = id(ancestor)
            if key in nearest:
                ancestor = nearest[key]
                break
            passed.append(key)
            ancestor = parents.get(key)
        for key in passed:
            nearest[key] = ancestor
        return ancestor  # type: ignore[return-value]

    def within(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """`node` and everything below it, without whitespace, in source order.

        Raises:
            KeyError: the node is not in the tree.
        """
        return self._all[self._order[id(node)] : self.last(node) + 1]

    def among(self, nodes: Sequence[_N], around: cst.CSTNode) -> Sequence[_N]:
        """Those of some nodes that are below another.

        Args:
            nodes: in source order.
        """
        begin = bisect_left(nodes, self.order(around), key=self.order)
        return nodes[begin : bisect_right(nodes, self.last(around), key=self.order)]

    def __contains__(self, node: cst.CSTNode) -> bool:
        return id(node) in self._order

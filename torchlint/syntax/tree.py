"""The one walk: every node of a parsed file, its parent, and the nodes of each type in order."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Iterator

_N = TypeVar("_N", bound=cst.CSTNode)

# Nodes below these hold only whitespace, comments and punctuation.
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


_LEAVES = (cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString)


@cache
def _child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if not field.name.startswith(_PUNCTUATION)
        and not field.name.endswith(("_whitespace", "encoding"))
        and field.name not in _SCALARS
    ]
    if kind in _LEAVES:
        return ()
    if kind in (cst.IfExp, cst.ListComp):
        return ("body", "test", "orelse") if kind is cst.IfExp else ("elt", "for_in")
    return tuple(sorted(names, key=lambda name: _SOURCE_ORDER.get(name, 0)))


class Tree:
    """A parsed file with its nodes at hand.

    Whitespace, comments and punctuation are not walked: they hold nothing that a rule asks
    about, and skipping them makes the walk as cheap as a tenth of the parse.
    """

    __slots__ = ("_by_type", "_order", "_parents", "root")

    def __init__(self, root: cst.Module) -> None:
        self.root = root
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._by_type: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self._order: dict[cst.CSTNode, int] = {}
        self._walk()

    def _walk(self) -> None:
        parents, by_type, order = self._parents, self._by_type, self._order
        stack: list[cst.CSTNode] = [self.root]
        child_fields: dict[type[cst.CSTNode], tuple[str, ...]] = {}
        while stack:
            node = stack.pop()
            kind = type(node)
            bucket = by_type.get(kind)
            if bucket is None:
                bucket = by_type[kind] = []
                child_fields[kind] = _child_fields(kind)
            bucket.append(node)
            order[node] = len(order)
            children: list[cst.CSTNode] = []
            for name in child_fields[kind]:
                value = getattr(node, name)
                if isinstance(value, cst.CSTNode):
                    children.append(value)
                elif value.__class__ is list or value.__class__ is tuple:
                    children.extend([item for item in value if isinstance(item, cst.CSTNode)])
            for child in children:
                parents[child] = node
            children.reverse()
            stack.extend(children)

    def nodes(self, *types: type[_N]) -> list[_N]:
        """The nodes of exactly these types; in source order if one type is asked for."""
        if len(types) == 1:
            return self._by_type.get(types[0], [])  # type: ignore[return-value]
        return [node for kind in types for node in self._by_type.get(kind, [])]  # type: ignore[misc]

    def order(self, node: cst.CSTNode) -> int:
        """The place of `node` in source order: a parent before its children."""
        return self._order[node]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parents of `node`, nearest first, without the node itself."""
        parents = self._parents
        above = parents.get(node)
        while above is not None:
            yield above
            above = parents.get(above)

    def enclosing(self, node: cst.CSTNode, *types: type[_N]) -> _N | None:
        """The nearest ancestor of one of these types."""
        for above in self.ancestors(node):
            if isinstance(above, types):
                return above
        return None

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node is self.root or node in self._parents

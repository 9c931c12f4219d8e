"""What CPython's own parser shows of a file at a first look: what it calls, stores and mentions.

`ast.parse` takes a tenth of what LibCST takes. What an outline cannot rule out, the tree of LibCST
decides: an outline never says no where a name may stand for another thing than it says.
"""

from __future__ import annotations

import ast
import warnings
from typing import Final

from torchlint.files.reading import SourceError, decode
from torchlint.source.nesting import too_much

UNKNOWN: Final = object()
"""A value that only a closer look may tell."""
_ASKING: Final = frozenset(("isinstance", "issubclass"))
"""What a class is given to and does not come out of by another name."""
_ANNOTATIONS: Final = frozenset(("annotation", "returns", "type_comment"))


class Outline:
    """The identifiers of a file by what is done with them.

    Attributes:
        calls: calls by the last part of the called name: `DataLoader(…)`, `data.DataLoader(…)`.
        stored: names, attributes and the last part of subscripted ones that get a value.
        mentioned: names and attributes that stand anywhere but before the parentheses of a call,
            so that what they stand for may be called by another name.
        keywords: arguments that are passed by keyword to anything.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.calls: dict[str, list[ast.Call]] = {}
        self.stored: set[str] = set()
        self.mentioned: set[str] = set()
        self.keywords: dict[str, list[ast.expr]] = {}
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            kind = node.__class__
            if kind is ast.Constant:
                continue
            if kind is ast.Name or kind is ast.Attribute:
                name = node.id if kind is ast.Name else node.attr  # type: ignore[attr-defined]
                (self.mentioned if node.ctx.__class__ is ast.Load else self.stored).add(name)  # type: ignore[attr-defined]
                if kind is ast.Attribute:
                    todo.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Call:
                self._call(node, todo)  # type: ignore[arg-type]
            elif kind is ast.alias:
                if node.asname is not None:  # type: ignore[attr-defined]
                    self.mentioned.add(node.name.rpartition(".")[2])  # type: ignore[attr-defined]
            else:
                _add_children(node, todo)

    def _call(self, call: ast.Call, todo: list[ast.AST]) -> None:
        function = call.func
        kind = function.__class__
        if kind is ast.Name:
            self.calls.setdefault(function.id, []).append(call)  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            self.calls.setdefault(function.attr, []).append(call)  # type: ignore[attr-defined]
            todo.append(function.value)  # type: ignore[attr-defined]
        else:
            todo.append(function)
        if not (kind is ast.Name and function.id in _ASKING):  # type: ignore[attr-defined]
            todo += call.args
        for keyword in call.keywords:
            if keyword.arg is not None:
                self.keywords.setdefault(keyword.arg, []).append(keyword.value)
            todo.append(keyword.value)

    def calls_of(self, name: str) -> list[ast.Call] | None:
        """The calls of what torch calls so; None: it may be called by another name as well.

        Args:
            name: a dotted name, or the last part of one.
        """
        last = name.rpartition(".")[2]
        return None if last in self.mentioned else self.calls.get(last, [])


def outline_of(path: str, data: bytes) -> Outline | None:
    """The outline of a file; None if CPython cannot read it, or it is nested too deep."""
    try:
        text = decode(path, data).text
    except SourceError:
        return None
    if too_much(text) is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outline(ast.parse(text, path))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def literal(value: ast.expr) -> object:
    """The value of a literal; `UNKNOWN` of anything else."""
    if isinstance(value, ast.Constant):
        return value.value
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = literal(value.operand)
        return -inner if isinstance(inner, int | float) and inner is not UNKNOWN else UNKNOWN
    return UNKNOWN


def passed(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    """The argument that is passed by this name or at this position; None: there is none. Not for
    calls with stars."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position is not None and position < len(call.args) else None


def has_stars(call: ast.Call) -> bool:
    """Whether `*` or `**` may pass anything."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _add_children(node: ast.AST, todo: list[ast.AST]) -> None:
    for name in node._fields:
        value = None if name in _ANNOTATIONS else getattr(node, name, None)
        if value.__class__ is list:
            todo += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            todo.append(value)

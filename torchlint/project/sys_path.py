"""The folders that a file puts on `sys.path`, as far as its text says which."""

from __future__ import annotations

import ast
import os
import posixpath
import re
import warnings
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHANGE: Final = re.compile(
    rb"(?:^|;)[ \t]*((?:sys\.path\.(?:append|insert|extend)|site\.addsitedir)[ \t]*\(|"
    rb"sys\.path[ \t]*\+=|sys\.path\[0?:0\][ \t]*=)",
    re.MULTILINE,
)
LEVELS_UP: Final = 3
"""How far above a file the folder is sought from which its program is started."""
_MOST_CHANGES: Final = 16
_MOST_NAMES: Final = 16
"""Names that are looked up in one file."""
_LONGEST: Final = 400
"""Bytes of one statement."""
_MOST_LINES: Final = 6
_FILE: Final = "__file__"
_SAME: Final = frozenset(
    "Path PurePath abspath absolute as_posix expanduser fspath normpath realpath resolve "
    "str".split()
)
"""Functions and methods that return the path that they are given, however it is written."""
_HERE: Final = frozenset({"cwd", "getcwd"})


class Root(NamedTuple):
    """A folder on `sys.path`, with `/` between its parts.

    Args:
        anchored: it is relative to the folder of the file, or else to that of the process.
        first: it comes before the folder of the script.
    """

    folder: str
    anchored: bool
    first: bool

    def places(self, start: str) -> Iterator[str]:
        """Where it may be, seen from the folder of the file. A script is started in its folder or
        in one above it, which is less likely."""
        for _ in range(1 if self.anchored else LEVELS_UP):
            yield os.path.normpath(os.path.join(start, self.folder))
            start = os.path.dirname(start)


class _Path(NamedTuple):
    parts: str
    anchored: bool


def sys_path_roots(data: bytes) -> tuple[Root, ...]:
    """The folders in the order of the text, each once."""
    if b"sys.path" not in data and b"addsitedir" not in data:
        return ()
    reader = _Reader(data)
    roots: dict[Root, None] = {}
    for number, match in enumerate(_CHANGE.finditer(data)):
        if number >= _MOST_CHANGES:
            break
        statement = _statement(data[match.start(1) : match.start(1) + _LONGEST])
        if statement is not None:
            roots.update(dict.fromkeys(_added_by(statement, reader)))
    return tuple(roots)


def _statement(text: bytes) -> ast.stmt | None:
    """The first statement of a text, which may go over several lines."""
    lines = text.split(b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the escapes in somebody's strings
        for count in range(1, min(len(lines), _MOST_LINES) + 1):
            try:
                return ast.parse(b"\n".join(lines[:count]).strip()).body[0]
            except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
                continue
    return None


def _added_by(statement: ast.stmt, reader: _Reader) -> Iterator[Root]:
    """The folders that a statement adds."""
    first = isinstance(statement, ast.Assign)
    given: list[ast.expr] = []
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        given = statement.value.args[-1:]
        place = statement.value.args[0] if len(statement.value.args) == 2 else None
        first = isinstance(place, ast.Constant) and place.value == 0
    elif isinstance(statement, ast.Assign | ast.AugAssign):
        given = [statement.value]
    for each in given:
        for node in each.elts if isinstance(each, ast.List | ast.Tuple) else [each]:
            path = reader.path(node)
            if path is not None and not path.parts.startswith("/"):
                yield Root(posixpath.normpath(path.parts), path.anchored, first)


class _Reader:
    """Reads paths from the expressions of one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._names: dict[str, _Path | None] = {_FILE: _Path(_FILE, anchored=True)}

    def path(self, node: ast.expr | None) -> _Path | None:
        """The path that an expression means; None if the text does not say."""
        if isinstance(node, ast.Constant):
            return _Path(node.value, anchored=False) if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            joint = "/" if isinstance(node.op, ast.Div) else ""
            return self._joined([node.left, node.right], joint)
        if isinstance(node, ast.JoinedStr):
            values = (
                each.value if isinstance(each, ast.FormattedValue) else each for each in node.values
            )
            return self._joined(values, "")
        if isinstance(node, ast.Attribute):
            return _above(self.path(node.value)) if node.attr == "parent" else None
        if isinstance(node, ast.Subscript):
            return self._nth_parent(node)
        return self._called(node) if isinstance(node, ast.Call) else None

    def _named(self, name: str) -> _Path | None:
        """What the first line that binds a name gives it."""
        if name not in self._names and len(self._names) <= _MOST_NAMES:
            self._names[name] = None  # a name that is bound through itself
            line = rb"^[ \t]*" + name.encode() + rb"[ \t]*=[ \t]*([^=\s][^\n]{0,400})"
            given = re.search(line, self._data, re.MULTILINE)
            statement = None if given is None else _statement(given[1])
            if isinstance(statement, ast.Expr):
                self._names[name] = self.path(statement.value)
        return self._names.get(name)

    def _called(self, call: ast.Call) -> _Path | None:
        """`os.path.dirname(__file__)`, `Path(__file__).resolve()`."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
        given = call.args[0] if call.args else owner
        if name in _HERE:
            return _Path(".", anchored=False)
        if name == "join" and call.args:
            return self._joined(call.args, "/")
        if name == "joinpath" and owner is not None:
            return self._joined([owner, *call.args], "/")
        if name == "dirname":
            return _above(self.path(given))
        return self.path(given) if name in _SAME else None

    def _joined(self, nodes: Iterable[ast.expr], joint: str) -> _Path | None:
        paths = []
        for node in nodes:
            path = self.path(node)
            if path is None:
                return None
            paths.append(path)
        parts = [each.parts.rstrip("/") if joint else each.parts for each in paths]
        return _Path(joint.join(parts), paths[0].anchored)

    def _nth_parent(self, node: ast.Subscript) -> _Path | None:
        """`Path(__file__).parents[1]`."""
        if not isinstance(node.value, ast.Attribute) or node.value.attr != "parents":
            return None
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        path = self.path(node.value.value)
        if not isinstance(number, int) or not 0 <= number < _MOST_LINES:
            return None
        for _ in range(number + 1):
            path = _above(path)
        return path


def _above(path: _Path | None) -> _Path | None:
    if path is None:
        return None
    if path.parts.endswith(_FILE):
        return _Path(path.parts.removesuffix(_FILE).rstrip("/") or ".", path.anchored)
    return _Path(posixpath.normpath(posixpath.join(path.parts, "..")), path.anchored)

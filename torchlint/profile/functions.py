"""Which function a row of a file is in."""

from __future__ import annotations

import ast
import warnings
from typing import Final

from torchlint.files.reading import MOST_LINES, SourceError, read_bytes

MODULE: Final = "<module>"
"""Stands for the rows outside of any function and class."""

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Span = tuple[int, int, str]


class Functions:
    """Names functions by file and row. Each file is read once, when it is asked about."""

    def __init__(self) -> None:
        self._spans: dict[str, list[_Span] | None] = {}

    def around(self, path: str, row: int) -> str | None:
        """`Trainer.step` for a row of that method, `<module>` outside of all; None if the file
        cannot be read or parsed, or is too large."""
        if path not in self._spans:
            self._spans[path] = _spans(path)
        spans = self._spans[path]
        if spans is None:
            return None
        inner = max((each for each in spans if each[0] <= row <= each[1]), default=None)
        return MODULE if inner is None else inner[2]


def _spans(path: str) -> list[_Span] | None:
    """First row, last row and dotted name of each function and class."""
    try:
        data = read_bytes(path)
        if data.count(b"\n") > MOST_LINES:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the code says about itself was said at its run
            tree = ast.parse(data)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: list[_Span] = []
    open_: list[tuple[ast.AST, str]] = [(tree, "")]
    while open_:
        node, name = open_.pop()
        if isinstance(node, _SCOPES):
            name = f"{name}.{node.name}" if name else node.name
            found.append((node.lineno, node.end_lineno or node.lineno, name))
        open_ += ((child, name) for child in ast.iter_child_nodes(node))
    return found

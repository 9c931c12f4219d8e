"""Code in sentences: a condition, a loop or a call in one line, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.finding import Position
    from torchlint.notebooks.cells import Borders

_LONGEST: Final = 60


class CodeWords:
    """The words for the code of one file.

    Args:
        borders: those of the cells, if the file is a notebook.
        here: the rows that the sentences are about, so they do not say their number.
    """

    def __init__(
        self, module: Module, borders: Borders | None = None, here: range = range(0)
    ) -> None:
        self.module = module
        self._borders = borders
        self._here = here

    def position(self, node: cst.CSTNode) -> Position:
        """Where a node begins, in a notebook by cell."""
        start = self.module.span(node)[0]
        return start if self._borders is None else self._borders.located(start)

    def is_here(self, node: cst.CSTNode) -> bool:
        """Whether a node begins in the rows that the sentences are about."""
        return self.module.span(node)[0].row in self._here

    def line(self, node: cst.CSTNode) -> str:
        """`line 22`, or `cell 3, line 2` in a notebook."""
        return line_of(self.position(node))

    def quoted(self, node: cst.CSTNode) -> str:
        """The first line of a node, and where it is: ``if step % 100 == 0` in line 22`."""
        code = self.code(node)
        return code if self.is_here(node) else f"{code} in {self.line(node)}"

    def code(self, node: cst.CSTNode) -> str:
        """The first line of a node in backticks; a call without its arguments."""
        code = self.called(node) if isinstance(node, cst.Call) else self.header(node)
        return f"`{code}`"

    def header(self, node: cst.CSTNode) -> str:
        """The code of a node on one line; of a compound statement, what comes before the colon."""
        start, end = self.module.offsets(node)
        if isinstance(node, cst.FunctionDef):
            return f"def {node.name.value}"
        if isinstance(node, cst.ClassDef):
            return f"class {node.name.value}"
        if isinstance(node, cst.IfExp):
            return f"… if {self.header(node.test)} else …"
        last = _end_of_header(node)
        if last is not None:
            end = self.module.offsets(last)[1]
            for _ in getattr(last, "rpar", ()):
                end = self.module.text.index(")", end) + 1
        elif isinstance(node, cst.ExceptHandler):
            return "except"
        text = " ".join(self.module.text[start:end].split())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    def called(self, call: cst.Call | cst.Decorator) -> str:
        """A call without its arguments: `model(…)`."""
        if isinstance(call, cst.Decorator):
            return self.header(call)
        func = call.func
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Call):
            name = f"{self.called(func.value)}.{func.attr.value}"
        else:
            name = self.header(func)
        return f"{name}({'…' if call.args else ''})"


def line_of(position: Position) -> str:
    """`line 22`, or `cell 3, line 2` in a notebook."""
    cell = "" if position.cell is None else f"cell {position.cell}, "
    return f"{cell}line {position.row}"


def _end_of_header(node: cst.CSTNode) -> cst.CSTNode | None:
    """The last part of a compound statement before its colon."""
    if isinstance(node, cst.If | cst.While):
        return node.test
    if isinstance(node, cst.For):
        return node.iter
    if isinstance(node, cst.With):
        item = node.items[-1]
        return item if item.asname else item.item
    return node.type if isinstance(node, cst.ExceptHandler) else None

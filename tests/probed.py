"""A small program as a module, and the expression in it that a test asks about."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst

from torchlint.analysis.module import Module
from torchlint.files.reading import Source
from torchlint.source.parse import parse


def module_from(text: str, path: str = "train.py", torch: tuple[int, int] = (2, 13)) -> Module:
    """The module that a dedented text makes."""
    text = dedent(text)
    source = Source(path, text.encode(), text, "utf-8", bom=False)
    return Module(source, parse(source), torch)


class Probed:
    """A module that calls `probe(…)` where a question is asked."""

    def __init__(self, text: str, path: str = "train.py") -> None:
        self.module = module_from(text, path)
        self.calls = [call for call in self.module.nodes(cst.Call) if _says_probe(call)]
        assert self.calls, "the text asks nothing"

    @property
    def call(self) -> cst.Call:
        """The only probe."""
        (call,) = self.calls
        return call

    @property
    def asked(self) -> cst.BaseExpression:
        """What the only probe is about."""
        return self.call.args[0].value


def probed(code: str, imports: str = "") -> tuple[Module, cst.BaseExpression]:
    """The module, and what it passes to `probe`."""
    found = Probed(imports + dedent(code))
    return found.module, found.asked


def _says_probe(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Name) and call.func.value == "probe"

"""The source files that a run has shown, and which function a row of them is in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from torchlint.analysis.module import Module
from torchlint.config.settings import NEWEST_TORCH
from torchlint.files.reading import SourceError, decode, read_bytes
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable

MODULE: Final = "<module>"
"""Stands for the rows outside of any function and class."""


def parsed(path: str, wanted: Callable[[bytes], bool] = lambda _: True) -> Module | None:
    """The file, parsed; None if it cannot be, is too large, or its bytes are not `wanted`."""
    try:
        data = read_bytes(path)
        if not wanted(data):
            return None
        source = decode(path, data)
        return Module(source, with_deep_stack(lambda: parse(source)), NEWEST_TORCH)
    except SourceError:
        return None


class Functions:
    """Names functions by file and row. Each file is read once, when it is asked about."""

    def __init__(self) -> None:
        self._parsed = cache(parsed)

    def around(self, path: str, row: int) -> str:
        """`Trainer.step` for a row of that method, `<module>` outside of all; empty if the file
        cannot be parsed."""
        module = self._parsed(path)
        return "" if module is None else with_deep_stack(lambda: module.scope_at(row)) or MODULE

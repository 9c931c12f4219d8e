"""What the file that makes a rule says about it."""

from __future__ import annotations

import sys
from typing import NamedTuple


class Maker(NamedTuple):
    """The file as a name in kebab-case, its folder, its docstring, and its path."""

    name: str
    folder: str
    page: str
    path: str


def maker(depth: int) -> Maker:
    """The file of the code that called, as many calls above the caller as `depth` says."""
    home = sys._getframe(depth + 1).f_globals
    folder, _, file = str(home["__name__"]).rpartition(".")
    page, path = home.get("__doc__") or "", home.get("__file__") or ""
    return Maker(file.replace("_", "-"), folder.rpartition(".")[2], page, path)

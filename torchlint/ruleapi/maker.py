"""What the file that makes a rule says of it."""

from __future__ import annotations

import sys
from typing import NamedTuple


class Maker(NamedTuple):
    """The file as a name in kebab-case, its folder, and its docstring."""

    name: str
    folder: str
    page: str


def maker(depth: int) -> Maker:
    """The file of the code that called, as many calls above the caller as `depth` says."""
    home = sys._getframe(depth + 1).f_globals
    folder, _, file = str(home["__name__"]).rpartition(".")
    return Maker(file.replace("_", "-"), folder.rpartition(".")[2], home.get("__doc__") or "")

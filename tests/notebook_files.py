"""Notebooks as bytes, and the code of one."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any


def notebook(*cells: str, **rest: Any) -> bytes:
    """A notebook with these cells of code, dedented, laid out as Jupyter does it.

    Args:
        rest: further keys beside the cells.
    """
    codes = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": dedent(cell).splitlines(True),
        }
        for cell in cells
    ]
    content = {"cells": codes, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **rest}
    return json.dumps(content, indent=1).encode()


def code_of(data: bytes) -> str:
    """The text of all cells, one after the other."""
    return "".join("".join(cell["source"]) for cell in json.loads(data)["cells"])

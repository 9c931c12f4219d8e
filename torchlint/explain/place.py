"""A line as a user names it: `train.py:42`, or `lab.ipynb:3:12` in a notebook."""

from __future__ import annotations

import re
from typing import Final

from torchlint.config.settings import ConfigError, shortened
from torchlint.files.reading import NOTEBOOK, is_notebook, read_bytes
from torchlint.finding import Position
from torchlint.project.target import texts_in

_COLUMN: Final = re.compile(r"(:cell \d{1,9}:\d{1,9}):\d{1,9}$")
_MOST_CELLS: Final = 40
_LONGEST: Final = 60


def place_in(text: str) -> tuple[str, Position | None]:
    """The file, which need not exist, and the line in it; None for a notebook without a named cell:
    `which_cell` then says what to name.

    Raises:
        ConfigError: the text is not of that form.
    """
    # `lab.ipynb:cell 3:12:5` is how `check` prints it, with the column.
    found = re.fullmatch(r"(.+?)(?::(?:cell )?(\d{1,9}))?(?::(\d{1,9}))?", _COLUMN.sub(r"\1", text))
    path = "" if found is None else found[1]
    numbers = [] if found is None else [int(each) for each in found.groups()[1:] if each]
    if is_notebook(path) and len(numbers) < 2:
        return path, None
    if not numbers or min(numbers) < 1:
        shown = shortened(text)
        raise ConfigError(f"`{shown}` is not a place; write a file and a line, train.py:42.")
    if is_notebook(path):
        return path, Position(numbers[1], 1, numbers[0])
    return path, Position(numbers[0], 1)


def which_cell(text: str) -> list[str]:
    """What to name in a notebook: a sentence, and a line for each of its code cells.

    Args:
        text: the place without a cell; its file exists.

    Raises:
        SourceError: the notebook cannot be read.
    """
    path, _, row = text.partition(f"{NOTEBOOK}:")
    path = path.removesuffix(NOTEBOOK) + NOTEBOOK
    cells = texts_in(path, read_bytes(path))
    if not cells:
        return [f"{path} has no code cells."]
    heads = [next((line for line in cell.splitlines() if line.strip()), "") for cell in cells]
    lines = [
        f"  {number:>3}  {_lines(cell)}  {head.strip()[:_LONGEST]}"
        for number, (cell, head) in enumerate(zip(cells, heads, strict=True), 1)
    ]
    left = len(lines) - _MOST_CELLS
    return [
        f"In a notebook, name the cell too: {shortened(path)}:1:{row or 1}. Its code cells are:",
        *lines[:_MOST_CELLS],
        *([f"  and {left} more"] if left > 0 else []),
    ]


def _lines(cell: str) -> str:
    count = cell.count("\n") + 1
    return f"{count:>4} line{' ' if count == 1 else 's'}"

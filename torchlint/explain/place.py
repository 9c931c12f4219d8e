"""A line as a user names it: `train.py:42`, or `lab.ipynb:3:12` in a notebook."""

from __future__ import annotations

import re

from torchlint.config.settings import ConfigError, shortened
from torchlint.files.reading import NOTEBOOK
from torchlint.finding import Position


def place_in(text: str) -> tuple[str, Position]:
    """The file, which need not exist, and the line in it.

    Raises:
        ConfigError: the text is not of that form.
    """
    found = re.fullmatch(r"(.+?):(\d{1,9})(?::(\d{1,9}))?", text)
    if found is None or int(found[2]) < 1:
        shown = shortened(text)
        raise ConfigError(f"`{shown}` is not a place; write a file and a line, train.py:42.")
    path, first, second = found[1], int(found[2]), found[3]
    if not path.endswith(NOTEBOOK):
        return path, Position(first, 1)
    if second is None:
        raise ConfigError(f"In a notebook, name the cell too: {shortened(path)}:1:{first}.")
    return path, Position(int(second), 1, first)

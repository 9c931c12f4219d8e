"""What IPython accepts in a cell that is not Python: magics, shell commands, questions for help.

The forms are those of
https://ipython.readthedocs.io/en/stable/interactive/tutorial.html#magic-functions and
https://ipython.readthedocs.io/en/stable/interactive/reference.html.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_OF_PYTHON: Final = frozenset({"capture", "debug", "memit", "prun", "time", "timeit", "wandb"})
"""Cell magics that run the rest of the cell as Python in the kernel."""


def stand_ins(lines: Sequence[str]) -> dict[int, str]:
    """The Python that replaces the lines of a cell that are not Python, by their index.

    Args:
        lines: the cell, without line ends.

    Returns:
        Code with the same indentation, which binds the same name to an unknown value where the
        line binds one; the empty string for a line that continues the one above, or that is meant
        for another program.
    """
    lines_by_row: dict[int, str] = {}
    at = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    while at < len(lines) and (magic := _cell_magic().match(lines[at])):
        lines_by_row[at] = "pass"
        if magic[1] not in _OF_PYTHON:
            return lines_by_row | dict.fromkeys(range(at + 1, len(lines)), "")
        at += 1
    while at < len(lines):
        code = _stand_in(lines[at])
        if code is None:
            at = _statement_end(lines, at)
            continue
        lines_by_row[at] = code
        while lines[at].endswith("\\") and at + 1 < len(lines):
            at += 1
            lines_by_row[at] = ""
        at += 1
    return lines_by_row


def _stand_in(line: str) -> str | None:
    """Python for the first line of a statement, or None if it is Python already."""
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    if code.startswith(("%", "!", "?", "/", ",", ";")) or _question().fullmatch(code.rstrip()):
        return f"{indent}pass"
    assigned = _assigned().match(code)
    return None if assigned is None else f"{indent}{assigned[1].rstrip()} = get_ipython()"


def _statement_end(lines: Sequence[str], at: int) -> int:
    """The index after the last line of the statement, or of the header, that begins here."""
    depth = 0
    inside = ""
    while at < len(lines):
        line = lines[at]
        place = 0
        goes_on = False
        while place < len(line):
            token = (_tokens() if not inside else _until(inside)).match(line, place)
            if token is None:
                place += 1
                continue
            place = token.end()
            text = token[0]
            if inside:
                if token["close"]:
                    inside = ""
            elif token["open"]:
                inside = token["open"]
            elif text in "([{":
                depth += 1
            elif text in ")]}":
                depth = max(0, depth - 1)
            elif text == "\\":
                goes_on = place == len(line)
        if len(inside) == 1 and not line.endswith("\\"):
            inside = ""  # an unclosed string ends with its line
        at += 1
        if not inside and not depth and not goes_on:
            break
    return at


@cache
def _cell_magic() -> re.Pattern[str]:
    return re.compile(r"%%(\w*)")


@cache
def _question() -> re.Pattern[str]:
    return re.compile(r"%{0,2}[A-Za-z_*][\w.*\[\]]*\?{1,2}")


@cache
def _assigned() -> re.Pattern[str]:
    return re.compile(r"([A-Za-z_][\w.,\[\]'\" *]*)=\s*(?:!(?!=)|%\s*[A-Za-z_])")


@cache
def _tokens() -> re.Pattern[str]:
    """A comment, the start of a string, a bracket, a backslash, or other characters."""
    return re.compile(
        r"""\#.* | (?P<open>\"{3}|'{3}|"|') | [()\[\]{}] | \\ | [^\#"'()\[\]{}\\]+""", re.VERBOSE
    )


@cache
def _until(quote: str) -> re.Pattern[str]:
    """The content of a string, a piece at a time, and its end."""
    return re.compile(rf"\\.|(?P<close>{quote})|[^\\{quote[0]}]+|{quote[0]}")

"""Text that is safe to print: nothing from a checked file may steer a terminal or a log."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_NARROWEST = 30
"""Columns; a narrower terminal wraps lines itself."""


@cache
def _unsafe() -> re.Pattern[str]:
    # Controls, line separators, zero-width and direction marks, lone surrogates, tag characters,
    # and code points that are not characters; XML may not hold some of them.
    return re.compile(
        "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
        "\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
    )


def visible(text: str) -> str:
    """The text with every control or invisible character written out: `\\x1b`."""
    return text if text.isascii() and text.isprintable() else _unsafe().sub(_written_out, text)


def _written_out(hit: re.Match[str]) -> str:
    point = ord(hit[0])
    if 0xDC80 <= point <= 0xDCFF:
        # A byte of a file name that is not UTF-8, as os.fsdecode carries it.
        point -= 0xDC00
    named = {9: "\\t", 10: "\\n", 13: "\\r"}.get(point)
    if named is not None:
        return named
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def is_exact(text: str) -> bool:
    """Whether lines of text can be printed as they are."""
    bare = text.translate({9: None, 10: None, 13: None})
    return visible(bare) == bare


def visible_path(path: str) -> str:
    """A file name on one line, never at the start of what a CI log takes for a command."""
    shown = visible(path)
    return f"./{shown}" if shown.startswith(("::", "##")) else shown


def wants_colour(stream: TextIO, asked: bool | None = None) -> bool:
    """Colour on a terminal that can, unless the user says otherwise.

    Args:
        asked: what the user said, which overrides the environment: `NO_COLOR`, then
            `FORCE_COLOR` or `CLICOLOR_FORCE`, then `CLICOLOR=0`.
    """
    if asked is not None:
        return asked
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return moves(stream) and os.environ.get("CLICOLOR") != "0"


def moves(stream: TextIO) -> bool:
    """Whether this is a terminal that supports more than line ends."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal, or the number in `COLUMNS`; None for a file or a pipe, where lines
    are not wrapped."""
    if not stream.isatty():
        return None
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size().columns)


class Paint:
    """Puts text in a colour, or leaves it plain."""

    def __init__(self, *, on: bool = False) -> None:
        self.on = on

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def red(self, text: str) -> str:
        return self._in("1;31", text)

    def green(self, text: str) -> str:
        return self._in("32", text)

    def cyan(self, text: str) -> str:
        return self._in("36", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on else text


def plural(count: int, noun: str, several: str = "") -> str:
    """`1 file`, `2 files`; `several` is the plural where it takes more than an s."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"

"""Programs laid out as most people do it, for searches by pattern that do not parse them."""

from __future__ import annotations

import re
from functools import cache


@cache
def _spaced_dot() -> re.Pattern[bytes]:
    return re.compile(rb" \. ?(?<!\bfrom \.)(?<!\bfrom \. )(?=[A-Za-z_])(?!import\b)")


@cache
def _comment_in_brackets() -> re.Pattern[bytes]:
    return re.compile(rb"\([ \t]{0,8}#[^\n]{0,160}\n[ \t]{0,160}")


@cache
def _blanks() -> re.Pattern[bytes]:
    return re.compile(rb"[ \t]*")


def plain_lines(data: bytes) -> bytes:
    """The bytes of a program with `\\n` at the end of each line, which no backslash continues."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\f" in data:
        data = data.replace(b"\f", b" ")
    return _joined(data) if b"\\\n" in data else data


def plain_layout(data: bytes) -> bytes:
    """The same without blanks before opening parentheses, comments behind them, and blanks around
    dots."""
    data = plain_lines(data)
    if b"(#" in data or b"( #" in data or b"(  #" in data:
        data = _comment_in_brackets().sub(b"(", data)
    data = data.replace(b" (", b"(")
    if b" (" in data:
        for blanks in (b"    (", b"  (", b" ("):
            data = data.replace(blanks, b"(")
    return _spaced_dot().sub(b".", data) if b" ." in data else data


def _joined(data: bytes) -> bytes:
    pieces: list[bytes] = []
    start = at = 0
    while (end := data.find(b"\\\n", at)) != -1:
        at = end + 2
        # A backslash at the end of a comment continues nothing.
        if data.find(b"#", max(start, data.rfind(b"\n", start, end) + 1), end) != -1:
            continue
        pieces += (data[start:end].rstrip(b" \t"), b" ")
        blanks = _blanks().match(data, at)
        start = at = at if blanks is None else blanks.end()
    return b"".join((*pieces, data[start:]))

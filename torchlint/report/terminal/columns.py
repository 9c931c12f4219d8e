"""Text in the columns that a terminal gives it, where some characters take two or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def taken(text: str) -> int:
    """How many columns the text takes; it must be free of controls."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """The text with blanks behind it, up to this width."""
    return text + " " * max(0, width - taken(text))


def clipped(text: str, width: int) -> str:
    """The beginning of the text, with `…` where something is missing."""
    if taken(text) <= width:
        return text
    return _head(text, width - 1) + "…"


def cut_left(text: str, width: int) -> str:
    """The end of the text, with `…` where something is missing: a path keeps its name."""
    if taken(text) <= width:
        return text
    end = len(text) - len(_head(text[::-1], width - 1))
    return "…" + text[end:]


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this width, broken at blanks where possible; at least one line."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if taken(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        while taken(word) > width:
            head = _head(word, width) or word[0]
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line] if line or not lines else lines


def joined(parts: Sequence[str], width: int) -> list[str]:
    """Parts with dots between them, on as many lines as they need; a line breaks between two parts
    if it can."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if taken(longer) <= width:
            lines[-1] = longer
        else:
            lines += wrapped(part, width)
    return [line for line in lines if line] or [""]


def _head(text: str, width: int) -> str:
    """The longest beginning that takes no more than this width."""
    total = 0
    for at, sign in enumerate(text):
        total += taken(sign)
        if total > width:
            return text[:at]
    return text

"""A unified diff as a person sees it on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchlint.report.terminal.safe_text import Paint, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def render(diff: bytes, paint: Paint) -> Iterator[str]:
    """The lines of the diff in colour, with nothing in them that a terminal obeys."""
    colours = {"file": paint.bold, "hunk": paint.cyan, "added": paint.green, "removed": paint.red}
    lines = diff.decode("utf-8", "surrogateescape").split("\n")[:-1]
    for kind, line in zip(kinds(lines), lines, strict=True):
        text = visible(line.removesuffix("\r").replace("\t", "    "))
        colour = colours.get(kind)
        yield text if colour is None else colour(text)


def kinds(lines: Iterable[str]) -> Iterator[str]:
    """What each line of a unified diff is: `file`, `hunk`, `added`, `removed`, `note` or `same`.

    Inside a hunk, whose head says how many lines it has, a line that looks like the name of a file
    is a changed one.
    """
    left = [0, 0]
    for line in lines:
        kind = _kind(line, inside=max(left) > 0)
        if kind == "hunk":
            left = [int(count or 1) for count in _HUNK.findall(line)[0]]
        left[0] -= kind in ("removed", "same")
        left[1] -= kind in ("added", "same")
        yield kind


def _kind(line: str, *, inside: bool) -> str:
    if not inside and _HUNK.match(line):
        return "hunk"
    if not inside and line.startswith(("--- ", "+++ ", "diff ")):
        return "file"
    return {"+": "added", "-": "removed", "\\": "note"}.get(line[:1], "same")

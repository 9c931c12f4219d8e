"""A unified diff as a person sees it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import Paint, visible

if TYPE_CHECKING:
    from collections.abc import Iterator


def render(diff: bytes, paint: Paint) -> Iterator[str]:
    """The lines of the diff in colour, with nothing in them that a terminal obeys."""
    for line in diff.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        text = visible(line.removesuffix("\r").replace("\t", "    "))
        if line.startswith(("---", "+++", "diff ")):
            yield paint.bold(text)
        elif line.startswith("@@"):
            yield paint.cyan(text)
        elif line.startswith("+"):
            yield paint.green(text)
        elif line.startswith("-"):
            yield paint.red(text)
        else:
            yield text

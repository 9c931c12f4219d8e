"""How findings look: colours, the width of the terminal, and whether fixes are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.report.terminal.safe_text import Paint, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

INDENT: Final = "    "


class Look:
    """How findings are to look.

    Args:
        width: the number of columns to keep within, None where a line is a line.
        fixes: whether each finding has its fix under it, as a small diff.
    """

    def __init__(self, paint: Paint, width: int | None = None, fixes: bool = False) -> None:
        self.paint = paint
        self.width = width
        self.fixes = fixes

    def wrapped(self, lead: str, text: str) -> Iterator[str]:
        """Indented lines of the text, which begins with `lead`."""
        text = lead + visible(text)
        if self.width is None or len(text) <= (self.width - len(INDENT)) // 2:
            # Nothing takes more than two columns.
            yield INDENT + text
            return
        from torchlint.report.terminal.columns import wrapped

        first, *rest = wrapped(text, self.width - 2 * len(INDENT))
        yield INDENT + first
        yield from (f"{INDENT}  {line}" if lead else INDENT + line for line in rest)

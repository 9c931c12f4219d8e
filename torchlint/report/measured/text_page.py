"""A page of text about a measurement: sentences, labels with facts, tables, in forty lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed
from torchlint.report.measured.measured_words import outside
from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken, wrapped
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.report.terminal.safe_text import Paint
    from torchlint.runtime.sandbox.side_effects import SideEffect

LINES: Final = 40
_NARROWEST, _WIDEST = 72, 140
_SENTENCES: Final = (3, 2, 1)
"""Lines that each may take: the first number with which the page fits."""
_QUOTED: Final = 8
"""Last lines of a script that failed."""
_GAP: Final = "  "


@dataclass(slots=True)
class Passage:
    """Lines of a page; items are left out where it would be too long.

    Args:
        above: comes above the items; each item is a line.
        below: what comes below them, by how many are left out.
        ranks: of the items; the highest is left out first, and of those the last.
        least: so many stay.
    """

    above: list[str]
    items: list[list[str]] = field(default_factory=list)
    below: Callable[[int], list[str]] = lambda _: []
    ranks: list[int] = field(default_factory=list)
    least: int = 0
    left_out: int = 0

    @property
    def lines(self) -> list[str]:
        return [*self.above, *chain.from_iterable(self.items), *self.below(self.left_out)]

    @property
    def spare(self) -> int:
        """Lines of the items, if one may be left out."""
        return sum(map(len, self.items)) if len(self.items) > self.least else 0

    def keep(self, most: int) -> None:
        """At most so many of the items, those with the lowest ranks."""
        ranks = self.ranks or [0] * len(self.items)
        kept = sorted(sorted(range(len(ranks)), key=ranks.__getitem__)[:most])
        self.left_out += len(ranks) - len(kept)
        self.items, self.ranks = [self.items[at] for at in kept], [ranks[at] for at in kept]


def fitted(
    draw: Callable[[int | None], list[Passage]], *, details: bool, most_lines: int = LINES
) -> list[str]:
    """The lines of a page: at most forty, or so many, unless it is to have all details.

    Args:
        draw: the page with so many lines for each sentence; None: with all.
    """
    lines: list[str] = []
    for most in (None,) if details else _SENTENCES:
        passages = draw(most)
        for each in () if details else passages:
            each.keep(most_lines)
        while True:
            lines = [line for each in passages for line in each.lines]
            if details or len(lines) <= most_lines:
                return lines
            longest = max(passages, key=attrgetter("spare"))
            if not longest.spare:
                break
            longest.keep(len(longest.items) - 1)
    return lines


class TextPage:
    """What a page consists of. No line is wider than it, except a command that is to be copied.

    Args:
        width: 72 columns at least, 140 at most.
        label: columns of a label.
        most: lines of a sentence; None: all of them.
    """

    def __init__(self, paint: Paint, width: int, *, label: int, most: int | None) -> None:
        self.paint = paint
        self.width = max(_NARROWEST, min(width, _WIDEST))
        self._label = label
        self._most = most

    def sentence(self, text: str, *, indent: str = "", hanging: str = "") -> list[str]:
        """A text that continues in further lines, each with `hanging` in front of it."""
        width = self.width - max(len(indent), len(hanging))
        first, *others = self._cut(wrapped(visible(text), width), width)
        return [indent + first, *(hanging + line for line in others)]

    def indented(self, text: str) -> list[str]:
        """A text whose blanks at its start are put in front of each of its lines."""
        indent = " " * (len(text) - len(text.lstrip()))
        return self.sentence(text, indent=indent, hanging=indent)

    def bold(self, text: str) -> list[str]:
        return [self.paint.bold(line) for line in self.sentence(text)]

    def quoted(self, lines: Iterable[str]) -> list[str]:
        """The last of the script's own words: their indentation stays, and their ends."""
        quoted_lines: list[str] = []
        for line in map(visible, lines):
            indent = " " * min(2 + len(line) - len(line.lstrip()), self.width // 2)
            width = self.width - len(indent)
            parts = wrapped(line, width)
            if len(parts) > _SENTENCES[0]:
                parts = [clipped(f"{parts[0]} …", width), *parts[1 - _SENTENCES[0] :]]
            quoted_lines += [indent + part for part in parts]
        return quoted_lines[-_QUOTED:]

    def labelled(self, label: str, *facts: str) -> list[str]:
        """Facts behind a label; nothing if there are none."""
        width = self.width - self._label
        first, *others = self._cut(joined([visible(fact) for fact in facts], width), width)
        if not first:
            return []
        return [self._head(label) + first, *(" " * self._label + line for line in others)]

    def command(self, label: str, command: str) -> list[str]:
        """On one line however long it is: with a line break in it, it could not be copied."""
        return [self._head(label) + visible(command)] if command else []

    def outside(self, effects: Iterable[SideEffect], sandbox: str, *, details: bool) -> list[str]:
        """What was done outside the processes; see `measured_words.outside`."""
        return [
            line
            for said, names in outside(effects, sandbox, details=details)
            for line in self.labelled("outside", f"{said} ({listed(names, 20 if details else 3)})")
        ]

    def room(self, rows: Sequence[Sequence[str]], place: int) -> int:
        """Columns that a table has for its places, which are cut if that is less than they take."""
        others = [column for at, column in enumerate(zip(*rows, strict=True)) if at != place]
        widths = [max(map(taken, column)) for column in others]
        return self.width - sum(widths) - len(widths) * len(_GAP)

    def table(self, rows: Sequence[Sequence[str]], place: int, *, least: int = 8) -> list[str]:
        """A line for each row; a place is cut on its left, to so many columns at least, and a line
        on its right."""
        widths = [max(map(taken, column)) for column in zip(*rows, strict=True)]
        widths[place] = max(8, min(widths[place], max(least, self.room(rows, place))))
        return [
            clipped(
                _GAP.join(
                    padded(cut_left(cell, width), width)
                    for cell, width in zip(row, widths, strict=True)
                ).rstrip(),
                self.width,
            )
            for row in rows
        ]

    def _head(self, label: str) -> str:
        shown = clipped(visible(label), self._label - 1)
        return self.paint.dim(padded(shown, self._label))

    def _cut(self, lines: list[str], width: int) -> list[str]:
        if self._most is None or len(lines) <= self._most:
            return lines
        last = self._most - 1
        return [*lines[:last], clipped(f"{lines[last]} …", width)]

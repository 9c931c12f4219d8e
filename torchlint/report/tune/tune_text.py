"""A search for people at a terminal: the answer first, in at most thirty lines."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration, listed, percent
from torchlint.report.measured.measured_words import known_device, processors, told
from torchlint.report.measured.text_page import Passage, TextPage, fitted
from torchlint.report.terminal.columns import clipped, joined, padded, taken
from torchlint.report.terminal.safe_text import visible, visible_path
from torchlint.report.tune import tune_words as words

if TYPE_CHECKING:
    from torchlint.report.terminal.safe_text import Paint
    from torchlint.tune.tune_result import TriedChange, TuneResult

LINES: Final = 30
_NAMED: Final = 6
"""Changes of one reason."""


def render(result: TuneResult, paint: Paint, width: int, *, details: bool = False) -> list[str]:
    """The lines of the report, at most thirty of them.

    Args:
        width: none is wider than so many columns (72 at least, 140 at most), except a command to
            be copied.
        details: everything that was tried, and the patch, however long it gets.
    """

    def draw(most: int | None) -> list[Passage]:
        page = _TuneText(paint, width, label=12, most=most)
        return [
            Passage(page.head(result)),
            page.kept(result),
            page.in_vain(result),
            Passage(page.closing(result, details=details)),
        ]

    return fitted(draw, details=details, most_lines=LINES)


class _TuneText(TextPage):
    def head(self, result: TuneResult) -> list[str]:
        """The answer, and what was run to get it."""
        spent = f" ({duration(result.seconds)})" if result.seconds >= 1 else ""
        title = f"torchlint tune {visible(shlex.join(result.argv))}"
        title = self.paint.dim(clipped(title, self.width - len(spent)) + spent)
        facts = words.answer(result)
        lines = joined(facts, self.width) if facts else []
        if result.is_faster:
            lines = [self.paint.bold(self.paint.green(line)) for line in lines]
        first, *rest = result.summary.splitlines() or [""]
        said = self.bold(first) if first else []
        order = [*lines, title, *said] if result.is_faster else [*said, *lines, title]
        return [*order, *self.quoted(rest), ""]

    def kept(self, result: TuneResult) -> Passage:
        """What is kept, in the order of its worth."""
        rows = [
            [
                words.worth(result, each),
                f"{visible_path(each.path)}:{each.row}",
                visible(each.message),
            ]
            for each in result.kept
        ]
        if not rows:
            return Passage([])
        items = [[line] for line in self.table(rows, 1, least=self.width // 3)]
        title = "kept, and how many times slower the step is without each:"
        if not result.is_faster:
            title = "looked faster in two pairs, and is not certain to be:"
        elif len(rows) == 1:
            title = "kept:"
        return Passage([self.paint.dim(title)], items, lambda _: [""], least=1)

    def in_vain(self, result: TuneResult) -> Passage:
        """What was tried and did not help."""
        rows = [
            [visible(each.name), visible(words.why_not(each))]
            for each in words.tried_in_vain(result)
        ]
        if not rows:
            return Passage([])
        longest = max(taken(name) for name, _ in rows)
        items = [
            [clipped(f"{padded(name, longest)}  {reason}", self.width)] for name, reason in rows
        ]
        return Passage(
            [self.paint.dim("tried, and not kept:")],
            items,
            lambda more: [*([f"{more} more, --details shows them"] if more else []), ""],
            least=1,
        )

    def closing(self, result: TuneResult, *, details: bool) -> list[str]:
        """What was not tried and why, what is left to do by hand, the machine."""
        most = 100 if details else _NAMED
        lines = [
            line
            for reason, changes in words.not_tried(result).items()
            for line in self.labelled("not tried", f"{listed(_names(changes), most)}: {reason}")
        ]
        before, after = map(words.shares, result.parts)
        step = f"{before} before; {after} after" if result.kept and after else before
        lines += self.labelled("step", step)
        if result.memory_mb is not None and result.kept:
            lines += self.labelled(
                "memory", "{:.0f} MB before, {:.0f} MB after".format(*result.memory_mb)
            )
        if result.first_s is not None and result.kept:
            lines += self.labelled(
                "first step",
                "done {:.1f} s after the start before, {:.1f} s after".format(*result.first_s),
            )
        for each in result.by_hand[: 20 if details else 3]:
            lines += self.labelled("by hand", each)
        lines += self.labelled("note", *result.notes)
        lines += self.outside(result.side_effects, result.environment.sandbox, details=details)
        noise = [f"noise {percent(result.noise.floor)}"] if result.noise is not None else []
        here = result.environment
        lines += self.labelled("machine", *told(known_device(here)), processors(here), *noise)
        lines += self.labelled("written", *result.written)
        lines += self.command("verify", words.confirming(result))
        lines += self.command("apply", words.following(result))
        if details and result.diff:
            lines += [
                "",
                *(clipped(visible(f"| {each}"), self.width) for each in result.diff.splitlines()),
            ]
        return lines


def _names(changes: list[TriedChange]) -> list[str]:
    """Each kind once."""
    return list(dict.fromkeys(each.name for each in changes))

"""A verification for people at a terminal: the answer in the first line, the rest in at most
forty."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import (
    before_and_after,
    duration,
    ratio_with_interval,
    times,
)
from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken, wrapped
from torchlint.report.terminal.safe_text import plural, visible
from torchlint.report.verify import verification_words as words
from torchlint.report.verify.reasons import not_measured
from torchlint.report.verify.reasons import reasons as reasons_of
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.report.terminal.safe_text import Paint
    from torchlint.runtime.sandbox.side_effects import SideEffect
    from torchlint.verify.result import FixResult, Result

    Items = list[list[str]]

LINES: Final = 40
_LABEL: Final = 9
_LISTED: Final = 20
"""Effects that --details names."""
_NARROWEST: Final = 72
_WIDEST: Final = 140
_GAP: Final = "  "
_REASONS: Final = 8
_TRACE: Final = 8
"""Last lines of a script that failed."""
_LONG: Final = 3
"""Lines that one of them may take."""
_PLACE: Final = 24
"""A longer place is cut on its left rather than moving words to a second line."""
_RANK: Final = {
    Verdict.SLOWER: 0,
    Verdict.CONFIRMED: 1,
    Verdict.UNRESOLVED: 2,
    Verdict.NEUTRAL: 3,
    Verdict.NOT_MEASURABLE: 4,
    Verdict.NOT_EXERCISED: 5,
}


def render(result: Result, paint: Paint, width: int, *, details: bool = False) -> list[str]:
    """The lines of the report: the answer, the fixes, the numbers, the machine.

    Args:
        width: none is wider than so many columns (72 at least, 140 at most), except a command to
            be copied.
        details: the plan, the noise and all that is left out else, however long it gets.
    """
    page = _Page(paint, max(_NARROWEST, min(width, _WIDEST)))
    head = page.head(result)
    tail = page.details(result) if details else page.below(result)
    tail += page.closing(result, details=details)
    reasons = page.reasons(result)
    room = sys.maxsize if details else LINES - len(head) - len(tail) - 2
    table, fixes = page.table(result.fixes, room - min(sum(map(len, reasons)), _REASONS))
    rest, notes = _fitting(reasons, room - len(table))
    rest += page.left_out(fixes, notes)
    return [*head, *table, *rest, *([""] if rest else []), *tail]


class _Page:
    def __init__(self, paint: Paint, width: int) -> None:
        self._paint = paint
        self._width = width

    def head(self, result: Result) -> list[str]:
        """The answer, what was run to get it, and what came out besides."""
        said = words.conclusion(result)
        answer = self._answer(result)
        has_ratio = result.total is not None and result.total.estimate is not None
        # Without a ratio, the reason is the answer.
        lines = answer if has_ratio or not said else self._bold(said.pop(0))
        spent = f" ({duration(result.seconds)})" if result.seconds >= 1 else ""
        title = f"torchlint verify {visible(words.command(result))}"
        lines.append(self._paint.dim(clipped(title, self._width - len(spent)) + spent))
        if lines is not answer:
            lines += answer
        elif said:
            lines += self._bold(said.pop(0))
        quoted = [part for line in said[-_TRACE:] for part in self._quoted(visible(line))]
        lines += quoted[-_TRACE:]
        return [*lines, ""]

    def _quoted(self, line: str) -> list[str]:
        """A line of the script's own words: its indentation stays, and its end is not cut."""
        if taken(line) <= self._width - 2:
            return [f"  {line}"]
        blanks = " " * min(2 + len(line) - len(line.lstrip()), self._width // 2)
        width = self._width - len(blanks)
        parts = wrapped(line, width)
        if len(parts) > _LONG:
            parts = [clipped(f"{parts[0]} …", width), *parts[1 - _LONG :]]
        return [blanks + part for part in parts]

    def _bold(self, sentence: str) -> list[str]:
        return [self._paint.bold(line) for line in wrapped(visible(sentence), self._width)[:4]]

    def _answer(self, result: Result) -> list[str]:
        """The verdict on the whole change with its figures; empty if nothing was compared."""
        total = result.total
        if total is None:
            return []
        verdict, numbers = total.verdict.value, words.numbers(total.numerics)
        facts = [verdict]
        if total.estimate is not None:
            facts = [f"{verdict} {times(total.estimate)}"]
            facts.append(f"{before_and_after(total.estimate.ms)} a step")
        agreement = words.agreement(total.numerics)
        facts.insert(0 if agreement is Agreement.DIFFERS else len(facts), numbers)
        painted = {
            verdict: _paint_verdict(self._paint, total.verdict)(verdict),
            numbers: _paint_agreement(self._paint, agreement)(numbers),
        }
        lines = joined(facts, self._width)
        for word, paint in painted.items():
            lines = [line.replace(word, paint, 1) for line in lines]
        return lines

    def _facts(self, label: str, facts: Sequence[str], *, most: int) -> list[str]:
        """Facts behind a label, wrapped; what does not fit into `most` lines is cut."""
        if not facts:
            return []
        found = joined([visible(fact) for fact in facts], self._width - _LABEL)
        if len(found) > most:
            found = [*found[: most - 1], clipped(f"{found[most - 1]} …", self._width - _LABEL)]
        heads = [self._paint.dim(label.ljust(_LABEL)), *[" " * _LABEL] * (len(found) - 1)]
        return [head + line for head, line in zip(heads, found, strict=True)]

    # the table -----------------------------------------------------------------------------

    def table(self, fixes: Sequence[FixResult], room: int) -> tuple[list[str], int]:
        """The fixes in one line each where they fit, else in two, and a blank line; then how
        many are left out."""
        if not fixes:
            return [], 0
        table = _Table(fixes, self._paint, self._width)
        rows = [table.row(fix) for fix in fixes]
        left = max(room - 2, table.height)
        shown = []
        for at in sorted(range(len(rows)), key=lambda at: _RANK[fixes[at].alone.verdict]):
            if len(rows[at]) <= left:
                shown.append(at)
                left -= len(rows[at])
        lines = [line for at in sorted(shown) for line in rows[at]]
        return [self._paint.dim(table.header), *lines, ""], len(rows) - len(shown)

    # below the table -----------------------------------------------------------------------

    def reasons(self, result: Result) -> Items:
        """Why a word is there, and the notes; each in its own lines."""
        found: Items = []
        names = words.names(result)
        for word, ids, why in reasons_of(result):
            listed = ", ".join(names.get(each, each) for each in ids[:6])
            who = f"{listed}, …" if len(ids) > 6 else listed
            found.append(self._sentence(f"{word} ({who}): {why}"))
        numerics = result.total.numerics if result.total else None
        more = [words.apart(result.aa)]
        if numerics is not None and result.unreached:
            more.append(words.coverage(numerics.steps, result.unreached))
        return found + [self._sentence(note) for note in (*more, *result.notes) if note]

    def _sentence(self, text: str) -> list[str]:
        lines = wrapped(visible(text), self._width - 2)
        if len(lines) > 3:
            lines = [*lines[:2], clipped(f"{lines[2]} …", self._width - 2)]
        return [lines[0], *(f"  {line}" for line in lines[1:])]

    def left_out(self, fixes: int, notes: int) -> list[str]:
        """How much is not shown, and where it is."""
        counted = [plural(fixes, "more fix", "more fixes")] if fixes else []
        counted += [plural(notes, "more note")] if notes else []
        more = " and ".join(counted)
        return [f"{more} not shown; verify --details has them."] if more else []

    def below(self, result: Result) -> list[str]:
        """What the figures hold for, in one line, and what reached the real world."""
        lines = [] if result.total else self._facts("step", words.step(result), most=1)
        lines += self._facts("machine", words.machine_in_short(result), most=2)
        return lines + self._effects(words.beyond(result.side_effects))

    def details(self, result: Result) -> list[str]:
        """The same with all that the short report leaves out."""
        on_cpu = words.on_cpu(result) and (result.aa or result.total)
        missing = ", ".join(not_measured(result))
        contained = words.contained(result.side_effects, result.environment.sandbox)
        valid = [words.SESSION_ONLY] if result.total or result.aa else []
        return [
            *self._facts("machine", words.machine(result.environment), most=9),
            *self._facts("", [words.CPU_BANNER] if on_cpu else [], most=1),
            *self._facts("plan", words.plan(result.plan) if result.plan else [], most=9),
            *self._facts("step", words.step(result), most=1),
            *self._facts("noise", words.noise(result.aa) if result.aa else [], most=9),
            *self._facts("besides", words.witnesses(result.total), most=1),
            *self._facts("missing", [f"not measured: {missing}"] if missing else [], most=9),
            *self._effects(words.beyond(result.side_effects)),
            *self._effects(contained, most=_LISTED),
            *self._facts("valid", valid, most=2),
        ]

    def closing(self, result: Result, *, details: bool) -> list[str]:
        """What to do, and where more is."""
        more = "verify --details prints the plan and the noise, --html FILE draws them."
        shown = [self._paint.dim(more)] if result.total is not None and not details else []
        return [*self._apply(result), *shown]

    def _apply(self, result: Result) -> list[str]:
        command = words.apply_command(result)
        if command is None:
            return []
        first = words.before_apply(result)
        said = self._facts("apply", [first], most=2) if first else []
        label = "" if first else "apply"
        # However long: a command with a line break in it cannot be copied.
        return [*said, self._paint.dim(label.ljust(_LABEL)) + visible(command)]

    def _effects(
        self, parts: Sequence[tuple[str, Sequence[SideEffect]]], *, most: int = 3
    ) -> list[str]:
        """What was done outside, counted, and by name up to so many."""
        lines: list[str] = []
        for how, found in parts:
            names = ", ".join(effect.what for effect in found[:most])
            more = f" and {len(found) - most} more" if len(found) > most else ""
            said = f"{how}: {words.effects(found)} ({names}{more})"
            lines += self._facts("outside", [said], most=2 if most <= 3 else most)
        return lines


class _Table:
    """Columns as wide as their cells; words that do not fit go to a second line."""

    def __init__(self, fixes: Sequence[FixResult], paint: Paint, width: int) -> None:
        self._paint = paint
        self._width = width
        titles = ["fix", "place", "alone", "after the others", "numbers", "verdict"]
        self.height = 2
        for self._named in (True, False):
            cells = [_cells(fix, named=self._named) for fix in fixes]
            self._widths = [max(map(taken, column)) for column in zip(titles, *cells, strict=True)]
            spare = width - sum(self._widths) - 5 * len(_GAP)
            if self._widths[1] + spare >= min(self._widths[1], _PLACE):
                self.height = 1
                break
        if self.height == 2:
            spare = width - sum(self._widths[:4]) - 3 * len(_GAP)
        self._widths[1] = max(8, self._widths[1] + min(0, spare))
        shown = titles if self.height == 1 else titles[:4]
        self.header = clipped(self._line(shown), width)

    def row(self, fix: FixResult) -> list[str]:
        *cells, numbers, verdict = _cells(fix, named=self._named)
        numbers_paint = _paint_agreement(self._paint, words.agreement(fix.alone.numerics))
        verdict_paint = _paint_verdict(self._paint, fix.alone.verdict)
        if self.height == 2:
            said = [(verdict, verdict_paint), (numbers, numbers_paint)]
            if fix.alone.estimate is None and fix.after is None:
                return [self._with(self._line(cells[:2], fill=True) + _GAP, said)]
            indent = " " * (self._widths[0] + len(_GAP))
            said.append((visible(fix.name), self._paint.dim))
            return [self._line(cells), self._with(indent, said)]
        line = self._line(cells)
        left = padded(line, sum(self._widths[:4]) + 3 * len(_GAP))
        blanks = " " * (self._widths[4] - taken(numbers))
        return [f"{left}{_GAP}{numbers_paint(numbers)}{blanks}{_GAP}{verdict_paint(verdict)}"]

    def _with(self, start: str, said: Sequence[tuple[str, Callable[[str], str]]]) -> str:
        """The words that fit behind the start of a line, and always the first."""
        line, room = start, self._width - taken(start)
        for at, (word, paint) in enumerate(said):
            between = " · " if at else ""
            room -= len(between) + taken(word)
            if at and room < 0:
                break
            line += between + paint(word)
        return line

    def _line(self, cells: Sequence[str], *, fill: bool = False) -> str:
        fitted = [
            padded(cut_left(cell, width) if at == 1 else cell, width)
            for at, (cell, width) in enumerate(zip(cells, self._widths, strict=False))
        ]
        return _GAP.join(fitted) if fill else _GAP.join(fitted).rstrip()


def _cells(fix: FixResult, *, named: bool) -> list[str]:
    after = fix.after.estimate if fix.after else None
    return [
        visible(f"{fix.code} {fix.name}" if named else fix.code),
        visible(words.place(fix)),
        ratio_with_interval(fix.alone.estimate),
        ratio_with_interval(after),
        words.agreement(fix.alone.numerics).value,
        fix.alone.verdict.value,
    ]


def _paint_verdict(paint: Paint, verdict: Verdict) -> Callable[[str], str]:
    if verdict is Verdict.CONFIRMED:
        return paint.green
    if verdict is Verdict.SLOWER:
        return paint.red
    return paint.cyan if verdict is Verdict.UNRESOLVED else paint.dim


def _paint_agreement(paint: Paint, agreement: Agreement) -> Callable[[str], str]:
    if agreement is Agreement.DIFFERS:
        return paint.red
    return paint.dim if agreement is Agreement.UNKNOWN else str


def _fitting(items: Items, room: int) -> tuple[list[str], int]:
    """The lines of the first items that fit, and how many are left out."""
    lines: list[str] = []
    for shown, item in enumerate(items):
        if len(lines) + len(item) > room:
            return lines, len(items) - shown
        lines += item
    return lines, 0

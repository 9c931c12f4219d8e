"""A verification for people at a terminal, in at most forty lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken, wrapped
from torchlint.report.terminal.safe_text import plural, visible
from torchlint.report.verify import words
from torchlint.report.verify.figures import (
    before_and_after,
    duration,
    ratio_with_interval,
    times,
)
from torchlint.report.verify.reasons import not_measured
from torchlint.report.verify.reasons import reasons as reasons_of
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.report.terminal.safe_text import Paint
    from torchlint.verify.result import Comparison, FixResult, Result

    Items = list[list[str]]

LINES: Final = 40
_LABEL: Final = 9
_NARROWEST: Final = 72
_WIDEST: Final = 140
_GAP: Final = "  "
_REASONS: Final = 8
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


def render(result: Result, paint: Paint, width: int) -> list[str]:
    """The lines of the report; none is wider than `width` columns (72 at least, 140 at most)."""
    page = _Page(paint, max(_NARROWEST, min(width, _WIDEST)))
    head = page.head(result)
    tail = page.tail(result)
    reasons = page.reasons(result)
    room = LINES - len(head) - len(tail) - 2
    table, fixes = page.table(result.fixes, room - min(sum(map(len, reasons)), _REASONS))
    rest, notes = _fitting(reasons, room - len(table))
    rest += page.left_out(fixes, notes)
    return [*head, *table, *rest, *([""] if rest else []), *tail]


class _Page:
    def __init__(self, paint: Paint, width: int) -> None:
        self._paint = paint
        self._width = width

    def head(self, result: Result) -> list[str]:
        """What ran, where, by which plan, on how quiet a machine, and what all of it is worth."""
        spent = f" ({duration(result.seconds)})" if result.seconds >= 1 else ""
        title = f"torchlint verify {visible(words.command(result))}"
        lines = [self._paint.bold(clipped(title, self._width - len(spent))) + spent]
        lines += self._facts("machine", words.machine(result.environment), most=3)
        if words.on_cpu(result) and (result.aa or result.total):
            lines.append(" " * _LABEL + self._paint.bold(words.CPU_BANNER))
        if result.plan is not None:
            lines += self._facts("plan", words.plan(result.plan), most=3)
        else:
            lines += self._facts("step", words.step(result.lanes), most=1)
        if result.aa is not None:
            lines += self._facts("noise", words.noise(result.aa), most=3)
        if result.total is not None:
            lines += self._total(result, result.total)
        return [*lines, ""]

    def _total(self, result: Result, total: Comparison) -> list[str]:
        measured = total.estimate
        facts = [words.changed_program(result)]
        said = [
            _paint_verdict(self._paint, total.verdict)(total.verdict.value),
            self._numbers(words.agreement(total.numerics)),
        ]
        if measured is not None:
            facts[0] += f" {times(measured)}"
            facts.append(f"{before_and_after(measured.ms)} a step")
            said.append(plural(measured.pairs, "pair"))
        lines = self._facts("total", facts, most=2)
        lines.append(" " * _LABEL + " · ".join(said))
        witnesses = words.witnesses(measured)
        return lines + (self._facts("", witnesses, most=1) if witnesses else [])

    def _numbers(self, agreement: Agreement) -> str:
        return _paint_agreement(self._paint, agreement)(agreement.value)

    def _facts(self, label: str, facts: Sequence[str], *, most: int) -> list[str]:
        """Facts behind a label, wrapped; what does not fit into `most` lines is cut."""
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
        found += [self._sentence(note) for note in result.notes]
        return found

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
        return [f"{more} not shown; --json FILE has them."] if more else []

    def tail(self, result: Result) -> list[str]:
        """What was written, what is missing, how far it holds, what to do."""
        lines: list[str] = []
        missing = not_measured(result)
        if missing:
            lines += self._facts("missing", [f"not measured: {', '.join(missing)}"], most=2)
        lines += self._effects(result)
        if result.total is not None or result.aa is not None:
            lines += self._facts("valid", [words.SESSION_ONLY], most=2)
        first, *more = words.conclusion(result)
        lines += [self._paint.bold(line) for line in wrapped(visible(first), self._width)[:4]]
        lines += [f"  {clipped(visible(line), self._width - 2)}" for line in more[-5:]]
        apply = words.apply_command(result)
        if apply is not None:
            lines += self._facts("apply", [apply], most=2)
        return lines

    def _effects(self, result: Result) -> list[str]:
        lines: list[str] = []
        held = [effect for effect in result.side_effects if not effect.kept]
        through = [effect for effect in result.side_effects if effect.kept]
        for how, found in (
            (f"held back ({result.environment.sandbox})", held),
            ("LET THROUGH", through),
        ):
            if found:
                names = ", ".join(effect.what for effect in found[:3])
                more = ", …" if len(found) > 3 else ""
                fact = f"{how}: {words.effects(found)} ({names}{more})"
                lines += self._facts("" if lines else "outside", [fact], most=2)
        return lines


class _Table:
    """Columns as wide as their cells; words that do not fit go to a second line."""

    def __init__(self, fixes: Sequence[FixResult], paint: Paint, width: int) -> None:
        self._paint = paint
        self._width = width
        titles = ["fix", "place", "alone", "after the others", "numerics", "verdict"]
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

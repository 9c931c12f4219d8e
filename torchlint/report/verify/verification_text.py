"""A verification for people at a terminal: the answer in the first line, the rest in at most
forty."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import (
    before_and_after,
    duration,
    listed,
    ratio_with_interval,
    times,
)
from torchlint.report.measured.text_page import Passage, TextPage, fitted
from torchlint.report.terminal.columns import clipped, joined, padded, taken
from torchlint.report.terminal.safe_text import plural, visible
from torchlint.report.verify import verification_words as words
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.report.terminal.safe_text import Paint
    from torchlint.verify.result import FixMeasurement, Result

_TITLES: Final = ("fix", "place", "alone", "after the others", "numbers", "verdict")
_PLACE: Final = 24
"""A longer place is cut on its left rather than moving words to a second line."""
_CODE: Final = 12
_COLOURS: Final[Mapping[Verdict | Agreement, str]] = {
    **dict.fromkeys(Verdict, "dim"),
    Verdict.CONFIRMED: "green",
    Verdict.SLOWER: "red",
    Verdict.UNRESOLVED: "cyan",
    Agreement.DIFFERS: "red",
    Agreement.UNKNOWN: "dim",
}
_RANKS: Final = {
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

    def draw(most: int | None) -> list[Passage]:
        page = _VerificationText(paint, width, label=9, most=most)
        below = page.details(result) if details else page.below(result)
        return [
            Passage(page.head(result)),
            page.fixes(result.fixes),
            page.notes(result),
            Passage(below + page.closing(result, details=details)),
        ]

    return fitted(draw, details=details)


class _VerificationText(TextPage):
    def head(self, result: Result) -> list[str]:
        """The answer, what was run to get it, and what else came out."""
        said = words.conclusion(result)
        answer = self._answer(result)
        spent = f" ({duration(result.seconds)})" if result.seconds >= 1 else ""
        title = f"torchlint verify {visible(shlex.join(result.argv))}"
        title = self.paint.dim(clipped(title, self.width - len(spent)) + spent)
        first = self.bold(said[0]) if said else []
        if said and (result.total is None or result.total.estimate is None):
            lines = [*first, title, *answer]  # without a ratio, the reason is the answer
        else:
            lines = [*answer, title, *first]
        return [*lines, *self.quoted(said[1:]), ""]

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
        lines = joined(facts, self.width)
        for word, meaning in ((verdict, total.verdict), (numbers, agreement)):
            lines = [line.replace(word, self._painted(word, meaning), 1) for line in lines]
        return lines

    def fixes(self, fixes: Sequence[FixMeasurement]) -> Passage:
        """In one line each where they fit, else in two, and a blank line."""
        if not fixes:
            return Passage([])
        for named in (True, False):
            rows = [_TITLES, *(_cells(fix, named=named) for fix in fixes)]
            is_wide = self.room(rows, 1) >= min(_PLACE, max(taken(row[1]) for row in rows))
            if is_wide:
                break
        header, *lines = self.table(rows if is_wide else [row[:4] for row in rows], 1)
        draw = self._in_one if is_wide else self._in_two
        return Passage(
            [self.paint.dim(header)],
            [draw(line, fix, header) for line, fix in zip(lines, fixes, strict=True)],
            lambda more: [*_left_out(more, "more fix", "more fixes"), ""],
            ranks=[_RANKS[fix.alone.verdict] for fix in fixes],
            least=1,
        )

    def _in_one(self, line: str, fix: FixMeasurement, _header: str) -> list[str]:
        """A line that ends with the word on the numbers and the verdict, in their colours."""
        for meaning in (fix.alone.verdict, words.agreement(fix.alone.numerics)):
            before, _, after = line.rpartition(meaning.value)
            line = before + self._painted(meaning.value, meaning) + after
        return [line]

    def _in_two(self, line: str, fix: FixMeasurement, header: str) -> list[str]:
        """The words below the figures, or in their place where there are none."""
        meanings = (fix.alone.verdict, words.agreement(fix.alone.numerics))
        said = [*((each.value, self._painted(each.value, each)) for each in meanings)]
        said.append((visible(fix.name), self.paint.dim(visible(fix.name))))
        above, start = [line], " " * header.index("place")
        figures = header.index("alone")
        if fix.alone.estimate is None and fix.after is None:
            above, start, said = [], padded(line[:figures], figures), said[:2]
        while len(said) > 1 and taken(start + " · ".join(word for word, _ in said)) > self.width:
            said.pop()
        return [*above, start + " · ".join(painted for _, painted in said)]

    def _painted(self, word: str, meaning: Verdict | Agreement) -> str:
        colour = _COLOURS.get(meaning)
        return word if colour is None else str(getattr(self.paint, colour)(word))

    def notes(self, result: Result) -> Passage:
        """Why a word is there, and what else there is to know."""
        names = words.names(result)
        said = [
            f"{word} ({listed([names.get(each, each) for each in ids], 6)}): {why}"
            for word, ids, why in words.reasons(result)
        ]
        items = [self.sentence(note, hanging="  ") for note in (*said, *words.notes(result))]

        def below(more: int) -> list[str]:
            return [*_left_out(more, "more note"), *([""] if items else [])]

        return Passage([], items, below)

    def below(self, result: Result) -> list[str]:
        """What the figures hold for, in one line, and what reached the real world."""
        step = [] if result.total else self.labelled("step", *words.step(result))
        machine = self.labelled("machine", *words.machine_in_short(result))
        return [
            *step,
            *self._counts(result),
            *machine,
            *self.outside(result.side_effects, "", details=False),
        ]

    def _counts(self, result: Result) -> list[str]:
        """What the whole change does fewer or more of, and the bounds."""
        changed = result.total.counters if result.total else None
        known = words.counted(result.counters, changed) if changed else []
        if not changed and result.required:
            known = words.counted(result.counters)
        return [
            *self.labelled("counts", *_led("a step", known)),
            *self.labelled("require", *words.required(result)),
        ]

    def _counts_in_full(self, result: Result) -> list[str]:
        """What a step of the original does, what each change changes, and what is not known."""
        original, names = result.counters, words.names(result)
        changes = [(names[fix.id], fix.alone.counters) for fix in result.fixes]
        if len(result.fixes) != 1 and result.total is not None:
            changes.append(("total", result.total.counters))
        lines = self.labelled("counts", *_led("a step", words.counted(original)))
        for name, changed in changes:
            known = words.counted(original, changed) if changed else []
            lines += self.labelled("", *_led(name, known))
        lines += self.labelled("", *(f"not counted: {each}" for each in words.uncounted(original)))
        return [*lines, *self.labelled("require", *words.required(result))]

    def details(self, result: Result) -> list[str]:
        """The same with all that the short report leaves out."""
        measured = result.total or result.aa
        missing = ", ".join(words.not_measured(result))
        return [
            *self.labelled("machine", *words.machine(result.environment)),
            *self.labelled("", words.CPU_BANNER if words.on_cpu(result) and measured else ""),
            *self.labelled("plan", *(words.plan(result.plan) if result.plan else ())),
            *self.labelled("step", *words.step(result)),
            *self.labelled("noise", *(words.noise(result.aa) if result.aa else ())),
            *self.labelled("also", *words.witnesses(result.total)),
            *self._counts_in_full(result),
            *self.labelled("missing", f"not measured: {missing}" if missing else ""),
            *self.outside(result.side_effects, result.environment.sandbox, details=True),
            *self.labelled("valid", words.SESSION_ONLY if measured else ""),
        ]

    def closing(self, result: Result, *, details: bool) -> list[str]:
        """What to do, and where more is."""
        more = "verify --details prints the plan and the noise, --html FILE draws them."
        command, first = words.apply_command(result), words.before_apply(result)
        return [
            *self.labelled("apply", first if command else ""),
            *self.command("" if first else "apply", command),
            *([self.paint.dim(more)] if result.total is not None and not details else []),
        ]


def _led(name: str, facts: Sequence[str]) -> list[str]:
    """The facts, of which the first begins with what they are about."""
    return [f"{name}: {each}" if at == 0 else each for at, each in enumerate(facts)]


def _cells(fix: FixMeasurement, *, named: bool) -> Sequence[str]:
    after = fix.after.estimate if fix.after else None
    return (
        visible(f"{fix.code} {fix.name}") if named else clipped(visible(fix.code), _CODE),
        visible(words.place(fix)),
        ratio_with_interval(fix.alone.estimate),
        ratio_with_interval(after),
        words.agreement(fix.alone.numerics).value,
        fix.alone.verdict.value,
    )


def _left_out(count: int, noun: str, several: str = "") -> list[str]:
    what = plural(count, noun, several)
    return [f"{what} not shown; verify --details has them."] if count else []

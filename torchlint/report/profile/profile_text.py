"""A profile for people at a terminal: what a step waits for, then findings, worst first."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration, listed, milliseconds, percent
from torchlint.report.measured.text_page import Passage, TextPage, fitted
from torchlint.report.profile import profile_words as words
from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken
from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from torchlint.profile.profile_result import Profile, RunFinding
    from torchlint.report.terminal.safe_text import Paint

CHANGES: Final = 8
"""Lines on what has changed."""
_PLACE: Final = 24
_NAME: Final = 32
_LAYERS: Final = 5
_FINDINGS: Final = 3
"""They stay however much there is."""
_INDENT: Final = " " * 5


def render(result: Profile, paint: Paint, width: int, *, details: bool = False) -> list[str]:
    """The lines of the report, at most forty of them.

    Args:
        width: none is wider than so many columns (72 at least, 140 at most), except a command to
            be copied.
        details: all findings, layers and static findings, however long it gets.
    """

    def draw(most: int | None) -> list[Passage]:
        page = _ProfileText(paint, width, label=14, most=most)
        return [
            Passage([*page.head(result), *page.swept(result)]),
            page.findings(result, details=details),
            page.smaller(result) if details else Passage([]),
            page.census(result),
            page.layers(result, None if details else _LAYERS),
            Passage(page.closing(result, details=details)),
        ]

    return fitted(draw, details=details)


def held_against(result: Profile, paint: Paint, width: int) -> list[str]:
    """At most eight lines on what has changed since an earlier profile, then one for each broken
    entry of the budget and one that says the whole; none where nothing was compared."""
    page = TextPage(paint, width, label=0, most=None)
    lines = [line for said in words.changes(result) for line in page.indented(said)]
    lines = ["", *lines[: CHANGES - 1]] if lines else []
    budget = result.budget
    if budget is None:
        return lines
    file, broken = visible(budget.file), budget.broken
    lines += ["", *(f"{paint.red('budget:')} {visible(each.text)}" for each in broken)]
    if broken:
        return [*lines, f"{file} is broken in {plural(len(broken), 'place')}."]
    kept = plural(budget.allowed, "finding")
    return [*lines, f"{file} is kept: {kept} allowed, nothing new, nothing stale."]


class _ProfileText(TextPage):
    def head(self, result: Profile) -> list[str]:
        """What was run and how long a step takes; what went wrong; what a step waits for."""
        facts = [clipped(f"torchlint profile {visible(shlex.join(result.argv))}", self.width)]
        if result.timing is not None:
            facts += [words.steps(result.timing), words.step(result.timing), words.machine(result)]
        lines = [self.paint.bold(line) for line in joined(list(filter(None, facts)), self.width)]
        first, *rest = result.summary.splitlines() or [""]
        lines += self.bold(first) if first else []
        lines += self.quoted(rest)
        lines += self.sentence(f"limit: {result.limit}") if result.limit else []
        return lines + (self.sentence(rough) if (rough := words.rough(result)) else [])

    def swept(self, result: Profile) -> list[str]:
        """What a step takes with each value that was tried."""
        sweep = result.sweep
        if sweep is None:
            return []
        lines = self.sentence(f"{sweep.option or 'workers'}:")
        for each in sweep.tried:
            time = f"{milliseconds(1e3 * each.step_s)} a step (± {percent(each.noise)})"
            pace = f", {each.value / each.step_s:,.0f} samples a second" if sweep.option else ""
            chosen = sweep.is_certain and each.value == sweep.best
            line = f"{each.value:5}  {time}{pace}{'  ←' if chosen else ''}"
            lines.append(self.paint.bold(line) if chosen else line)
        if not sweep.is_certain:
            said = "The times are too noisy to choose; run it again when the machine is quiet."
        elif sweep.option:
            said = f"{sweep.option} {sweep.best} gives the most samples a second."
        else:
            said = f"{sweep.best} is enough: more workers save less than 5 % of a step."
        return [*lines, *self.sentence(said)]

    def findings(self, result: Profile, *, details: bool) -> Passage:
        """The numbered list, and what its lines give together."""
        if result.timing is None or result.sweep is not None:
            return Passage([])
        shown = result.findings

        def below(more: int) -> list[str]:
            facts = [*_left_out(more), *(words.below(result, details=details) if shown else [])]
            lines = [self.paint.dim(line) for line in joined(facts, self.width) if line]
            return lines + (self.sentence(left) if (left := words.unexplained(result)) else [])

        return Passage(
            [] if shown else self.sentence(words.nothing_found(result, details=details)),
            [finding(self, number, each) for number, each in enumerate(shown, 1)],
            below,
            least=_FINDINGS,
        )

    def smaller(self, result: Profile) -> Passage:
        """The findings below the cut, as much as a line each."""
        lines = [
            f"{_INDENT}{_place(each)}  {visible(f'{each.code} {each.fact}')}"
            f"{f' ({words.ceiling(each)})' if each.share else ''}"
            for each in result.below
        ]
        title = f"Smaller costs, each below {percent(result.cut)} of a step:"
        items = [[clipped(line, self.width)] for line in lines]
        return Passage(["", title] if items else [], items)

    def census(self, result: Profile) -> Passage:
        """Reads without a GPU: where they are, and what they would wait for."""
        lines = [
            f"{_INDENT}{_place(each)}  {visible(f'{each.code} {each.fact}{_rules(each)}')}"
            for each in result.census
        ]
        return Passage(
            ["", f"{words.ON_A_GPU}:"] if lines else [],
            [[clipped(line, self.width)] for line in lines],
            lambda more: [_INDENT + line for line in _left_out(more)],
        )

    def layers(self, result: Profile, most: int | None) -> Passage:
        """The modules that cost most, if one stands out."""
        items = []
        for row in result.layers[:most]:
            name = padded(cut_left(visible(row.name or row.kind), _NAME), _NAME)
            place = visible_path(words.place(row)) if row.path else ""
            facts = [f"{row.share:4.0%}", place, *words.layer(row), row.shape]
            said = visible(" · ".join(filter(None, facts)))
            items.append([clipped(f"{_INDENT}{name}  {said}", self.width)])
        title = "Where forward spends its time, without the modules inside:"
        return Passage(["", title] if items else [], items)

    def closing(self, result: Profile, *, details: bool) -> list[str]:
        """What it cost to look, what was not measured, what to do next."""
        sandbox = result.environment.sandbox if result.environment else ""
        outside = self.outside(result.side_effects, sandbox, details=details)
        if result.timing is None:
            return outside
        silent = [f"{each.code} {words.place(each)}" for each in words.not_reached(result)]
        labels = [
            ("ranks", words.ranks(result)),
            *((each.label, each.text) for each in result.facts),
            ("instruments", words.instruments(result)),
            ("not measured", "; ".join(result.not_measured)),
            ("not reached", words.reached_in(listed(silent, len(silent) if details else 3))),
        ]
        return [
            "",
            *(line for label, text in labels for line in self.labelled(label, text)),
            *outside,
            *self.labelled("note", " ".join(result.notes)),
            *self.command("next", words.following(result)),
            *self.labelled("took", duration(result.seconds)),
        ]


def finding(page: TextPage, number: int, each: RunFinding) -> list[str]:
    """The lines of one finding, with its number in the list."""
    ceiling = words.ceiling(each)
    head = f"{number:3}  {_place(each)}  {visible(f'{each.code} {each.name}')}"
    room = page.width - taken(ceiling)
    if ceiling:
        head = padded(clipped(head, room - 2), room) + page.paint.bold(ceiling)
    text = f"{each.fact}; {each.action}{_rules(each)}"
    body = page.sentence(text, indent=_INDENT, hanging=_INDENT)
    return [clipped(head, page.width) if not ceiling else head, *body]


def _place(each: RunFinding) -> str:
    return padded(cut_left(visible_path(words.place(each)), _PLACE), _PLACE)


def _rules(each: RunFinding) -> str:
    found = words.confirmed(each)
    return f" ({found})" if found else ""


def _left_out(count: int) -> list[str]:
    return [f"{count} more, --details shows them"] if count else []

"""A profile for people at a terminal: what a step waits for, then findings, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.experiment.figures import duration, milliseconds, percent
from torchlint.report.profile import profile_words as words
from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken, wrapped
from torchlint.report.terminal.safe_text import visible, visible_path

if TYPE_CHECKING:
    from torchlint.profile.result import Profile, RunFinding
    from torchlint.report.terminal.safe_text import Paint

LINES: Final = 40
_NARROWEST, _WIDEST = 72, 140
_LABEL: Final = 14
_PLACE: Final = 24
_TRACE: Final = 8
"""Last lines of a script that failed."""
_MORE: Final = "more, --details shows them"


class _Most(NamedTuple):
    """How many of each sort are shown, and how many lines a sentence has."""

    findings: int | None
    census: int | None
    layers: int | None
    lines: int | None


_ALL: Final = _Most(None, None, None, None)
_FITTING: Final = (
    _Most(12, 6, 5, 3),
    _Most(10, 4, 3, 2),
    _Most(8, 3, 3, 2),
    _Most(6, 2, 3, 2),
    _Most(4, 1, 1, 2),
    _Most(3, 1, 0, 1),
    _Most(2, 0, 0, 1),
)
"""The first that fits into forty lines is taken, so that what stands at the end is never lost."""


def render(result: Profile, paint: Paint, width: int, *, details: bool = False) -> list[str]:
    """The lines of the report, at most forty of them.

    Args:
        width: none is wider than so many columns (72 at least, 140 at most), except a command to
            be copied.
        details: all findings, layers and static findings, however long it gets.
    """
    width = max(_NARROWEST, min(width, _WIDEST))
    lines: list[str] = []
    for most in (_ALL,) if details else _FITTING:
        page = _Page(paint, width, most)
        lines = [*page.head(result), *page.swept(result)]
        lines += [*page.findings(result), *page.census(result)]
        lines += [*page.layers(result), *page.closing(result)]
        if len(lines) <= LINES:
            break
    return lines


class _Page:
    def __init__(self, paint: Paint, width: int, most: _Most) -> None:
        self._paint = paint
        self._width = width
        self._most = most

    def head(self, result: Profile) -> list[str]:
        """What was run and how long a step takes; what went wrong; what a step waits for."""
        facts = [clipped(f"torchlint profile {visible(words.command(result))}", self._width)]
        if result.timing is not None:
            facts += [words.steps(result.timing), words.step(result.timing), words.machine(result)]
        lines = [self._paint.bold(line) for line in joined(list(filter(None, facts)), self._width)]
        first, *rest = result.summary.splitlines() or [""]
        if first:
            lines += [self._paint.bold(line) for line in self._sentence(first, self._width)]
        lines += [f"  {clipped(visible(line), self._width - 2)}" for line in rest[-_TRACE:]]
        if result.limit:
            lines += self._sentence(f"limit: {result.limit}", self._width)
        if words.rough(result):
            lines += self._sentence(words.rough(result), self._width)
        return lines

    def swept(self, result: Profile) -> list[str]:
        """What a step takes with each value that was tried."""
        if result.sweep is None:
            return []
        sweep, lines = result.sweep, []
        for each in sweep.tried:
            time = f"{milliseconds(1e3 * each.step_s)} a step (± {percent(each.noise)})"
            pace = f", {each.value / each.step_s:,.0f} samples a second" if sweep.option else ""
            chosen = sweep.is_certain and each.value == sweep.best
            line = f"{each.value:5}  {time}{pace}{'  ←' if chosen else ''}"
            lines.append(self._paint.bold(line) if chosen else line)
        if not sweep.is_certain:
            said = "The times are too noisy to choose; run it again when the machine is quiet."
        elif sweep.option:
            said = f"{sweep.option} {sweep.best} gives the most samples a second."
        else:
            said = f"{sweep.best} is enough: more workers save less than 5 % of a step."
        return [
            f"{visible(sweep.option) or 'workers'}:",
            *lines,
            *self._sentence(said, self._width),
        ]

    def findings(self, result: Profile) -> list[str]:
        """The numbered list, and what its lines give together."""
        if result.timing is None or result.sweep is not None:
            return []
        lines = [] if result.findings else self._sentence(words.nothing_found(result), self._width)
        shown = result.findings[: self._most.findings]
        for number, each in enumerate(shown, 1):
            lines += self._finding(number, each)
        more = len(result.findings) - len(shown)
        tail = [f"{more} {_MORE}"] if more else []
        tail += words.below(result) if result.findings else []
        if tail:
            lines += [self._paint.dim(line) for line in joined(tail, self._width)]
        left = words.unexplained(result)
        return [*lines, *self._sentence(left, self._width)] if left else lines

    def _finding(self, number: int, each: RunFinding) -> list[str]:
        ceiling = words.ceiling(each)
        place = padded(cut_left(visible_path(words.place(each)), _PLACE), _PLACE)
        head = clipped(
            f"{number:3}  {place}  {visible(f'{each.code} {each.name}')}",
            self._width - taken(ceiling) - 2,
        )
        gap = " " * (self._width - taken(head) - taken(ceiling))
        lines = [head + gap + self._paint.bold(ceiling) if ceiling else head]
        body = self._sentence(f"{each.fact}; {each.action}{_rules(each)}", self._width - 5)
        return lines + [f"     {line}" for line in body]

    def census(self, result: Profile) -> list[str]:
        """Reads without a GPU: where they are, and what they would wait for."""
        if not result.census:
            return []
        shown = result.census[: self._most.census]
        lines = ["", f"{words.ON_A_GPU}:"]
        for each in shown:
            place = padded(cut_left(visible_path(words.place(each)), _PLACE), _PLACE)
            line = f"     {place}  {visible(f'{each.code} {each.fact}{_rules(each)}')}"
            lines.append(clipped(line, self._width))
        more = len(result.census) - len(shown)
        return [*lines, f"     {more} {_MORE}"] if more else lines

    def layers(self, result: Profile) -> list[str]:
        """The modules that cost most, if one stands out."""
        rows = result.layers[: self._most.layers]
        if not rows:
            return []
        lines = ["", "Where forward spends its time, without the modules inside:"]
        for row in rows:
            name = padded(cut_left(visible(row.name or row.kind), 32), 32)
            place = visible_path(words.place(row)) if row.path else ""
            facts = [f"{row.share:4.0%}", place, *words.layer(row), row.shape]
            said = visible(" · ".join(filter(None, facts)))
            lines.append(clipped(f"     {name}  {said}", self._width))
        return lines

    def closing(self, result: Profile) -> list[str]:
        """What it cost to look, what was not measured, what to do next."""
        if result.timing is None:
            return self._outside(result)
        lines = [""]
        if result.ranks:
            lines += self._labelled("ranks", words.ranks(result))
        for each in result.facts:
            lines += self._labelled(visible(each.label), each.text)
        if result.costs:
            lines += self._labelled("instruments", words.instruments(result))
        if result.not_measured:
            lines += self._labelled("not measured", "; ".join(result.not_measured))
        named = [f"{each.code} {words.place(each)}" for each in words.never_ran(result)]
        if named:
            lines += self._labelled("never ran", self._listed(named))
        lines += self._outside(result)
        if result.notes:
            lines += self._labelled("note", " ".join(result.notes))
        following = words.following(result)
        if following:  # on one line, so that it can be copied
            lines.append(self._paint.dim("next".ljust(_LABEL)) + visible(following))
        return lines + self._labelled("took", duration(result.seconds))

    def _outside(self, result: Profile) -> list[str]:
        """What was done outside the processes."""
        found = words.outside(result, details=self._most is _ALL)
        return [
            line
            for said, names in found
            for line in self._labelled("outside", f"{said} ({self._listed(names)})")
        ]

    def _listed(self, names: list[str]) -> str:
        shown = names[: None if self._most is _ALL else 3]
        more = len(names) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def _labelled(self, label: str, text: str) -> list[str]:
        found = self._sentence(text, self._width - _LABEL)
        heads = [self._paint.dim(label.ljust(_LABEL)), *[" " * _LABEL] * (len(found) - 1)]
        return [head + line for head, line in zip(heads, found, strict=True)]

    def _sentence(self, text: str, width: int) -> list[str]:
        """The text on as many lines as there is room for."""
        found = wrapped(visible(text), width)
        most = self._most.lines
        if most is None or len(found) <= most:
            return found
        return [*found[: most - 1], clipped(f"{found[most - 1]} …", width)]


def _rules(each: RunFinding) -> str:
    found = words.confirmed(each)
    return f" ({found})" if found else ""

"""Findings for people, the largest cost first: the place, the message, the source line, the fix."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from torchlint.finding import Effect, Tier
from torchlint.report.terminal.excerpt import excerpt
from torchlint.report.terminal.look import INDENT
from torchlint.report.terminal.safe_text import plural, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.finding import Finding, Related
    from torchlint.report.terminal.excerpt import Excerpts
    from torchlint.report.terminal.look import Look
    from torchlint.silence.tiers import Shown


def render(shown: Shown, excerpts: Excerpts, look: Look) -> Iterator[str]:
    """The lines of the report, without the closing sentence."""
    for first, others in fold(sorted(shown.findings, key=lambda each: each.by_effect)):
        yield from _finding(first, others, excerpts, look)
        yield ""
    yield from hidden_hints(shown)


def hidden_hints(shown: Shown) -> Iterator[str]:
    """One line for all hints that are not shown, and an empty line after it. Files in which only
    hints could be found were not parsed for them."""
    count = sum(hints for _, hints in shown.hidden_hints)
    if count:
        places = plural(len(shown.hidden_hints), "file")
        yield f"at least {plural(count, 'hint')} in {places} (--hints shows all)"
        yield ""


def fold(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Findings of one group of one rule in one file together, at the first one's place; hints of
    one rule in one file likewise, whatever their group."""
    folded: list[tuple[Finding, list[Finding]]] = []
    at: dict[tuple[str, str, str | None, Tier], int] = {}
    for finding in findings:
        hint = finding.tier is Tier.HINT
        if hint or finding.group is not None:
            group = None if hint else finding.group
            key = (finding.path, finding.code, group, finding.tier)
            if key in at:
                folded[at[key]][1].append(finding)
                continue
            at[key] = len(folded)
        folded.append((finding, []))
    return folded


def _finding(
    first: Finding, others: list[Finding], excerpts: Excerpts, look: Look
) -> Iterator[str]:
    paint = look.paint
    place = f"{visible_path(first.path)}:{first.start}:"
    effect = f" {paint.bold('large')}" if first.effect is Effect.LARGE else ""
    tier = "" if first.tier is Tier.DEFAULT else f" {paint.dim(first.tier.value)}"
    tag = fix_tag(first)
    yield (
        f"{paint.bold(place)} {paint.red(first.code)} {first.name}{effect}{tier}"
        f"{' ' + paint.green(tag) if tag else ''}"
    )
    yield from look.wrapped("", first.message)
    yield from _source(first, excerpts, look)
    for message, alike in groupby(first.related, key=lambda related: related.message):
        yield from look.wrapped(*_related(message, alike))
    if first.fix is None and first.withheld:
        yield from look.wrapped("no fix: ", first.withheld)
    if others:
        yield from look.wrapped("also at ", ", ".join(_also(other, first) for other in others))
        yield from _other_reasons(first, others, look)
    if look.fixes:
        from torchlint.report.terminal.fix_diffs import fix_diff

        yield from (INDENT + line for line in fix_diff([first, *others], excerpts, paint))


def _source(finding: Finding, excerpts: Excerpts, look: Look) -> Iterator[str]:
    paint = look.paint
    line = excerpts.line(finding.path, finding.start.row, finding.start.cell)
    if line is None:
        return
    row = str(finding.start.row)
    room = None if look.width is None else look.width - len(INDENT + row + " | ")
    text, carets = excerpt(line, finding.start, finding.end, room)
    yield f"{INDENT}{paint.cyan(row + ' |')} {text}"
    yield f"{INDENT}{paint.cyan(' ' * len(row) + ' |')} {paint.red(carets)}"


def _related(message: str, alike: Iterable[Related]) -> tuple[str, str]:
    places = (f"{visible_path(each.path)}:{each.position.line}" for each in alike)
    return f"see {', '.join(places)}: ", message


def _also(other: Finding, first: Finding) -> str:
    tag = fix_tag(other)
    suffix = "" if tag == fix_tag(first) else f" {tag or '[no fix]'}"
    return f"{other.start}{suffix}"


def _other_reasons(first: Finding, others: list[Finding], look: Look) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for other in others:
        if other.fix is None and other.withheld and other.withheld != first.withheld:
            places.setdefault(other.withheld, []).append(str(other.start))
    for reason, at in places.items():
        yield from look.wrapped(f"no fix at {', '.join(at)}: ", reason)


def fix_tag(finding: Finding) -> str:
    """`[safe fix]`, `[unsafe fix]`, `[suggested fix]`, or nothing."""
    return "" if finding.fix is None else f"[{finding.fix.applicability.words}]"

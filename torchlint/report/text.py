"""Findings for people: the place, the message, the source line with a caret, the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.lint.finding import Tier
from torchlint.report.excerpt import excerpt
from torchlint.report.terminal import Paint, plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.lint.finding import Finding, Related
    from torchlint.lint.tiers import Shown
    from torchlint.report.excerpt import Excerpts


def render(shown: Shown, excerpts: Excerpts, paint: Paint) -> Iterator[str]:
    """The lines of the report, without the closing sentence."""
    for first, others in fold(shown.findings):
        yield from _finding(first, others, excerpts, paint)
        yield ""
    for path, count in shown.hidden_hints:
        them = "it" if count == 1 else "them"
        yield f"{visible_path(path)}: {plural(count, 'hint')} (--hints shows {them})"
    if shown.hidden_hints:
        yield ""


def fold(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Findings of one group of one rule in one file together, at the first one's place."""
    folded: list[tuple[Finding, list[Finding]]] = []
    at: dict[tuple[str, str, str], int] = {}
    for finding in findings:
        if finding.group is not None:
            key = (finding.path, finding.code, finding.group)
            if key in at:
                folded[at[key]][1].append(finding)
                continue
            at[key] = len(folded)
        folded.append((finding, []))
    return folded


def _finding(
    first: Finding, others: list[Finding], excerpts: Excerpts, paint: Paint
) -> Iterator[str]:
    place = f"{visible_path(first.path)}:{first.start}:"
    tier = "" if first.tier is Tier.DEFAULT else f" {paint.dim(first.tier.value)}"
    tag = fix_tag(first)
    yield (
        f"{paint.bold(place)} {paint.red(first.code)} {first.name}{tier}"
        f"{' ' + paint.green(tag) if tag else ''}"
    )
    yield f"    {visible(first.message)}"
    yield from _source(first, excerpts, paint)
    for related in first.related:
        yield f"    {_related(related)}"
    if first.fix is None and first.withheld:
        yield f"    no fix: {visible(first.withheld)}"
    if others:
        yield f"    also at {', '.join(_also(other, first) for other in others)}"
        yield from _other_reasons(first, others)


def _source(finding: Finding, excerpts: Excerpts, paint: Paint) -> Iterator[str]:
    line = excerpts.line(finding.path, finding.start.row, finding.start.cell)
    if line is None:
        return
    text, carets = excerpt(line, finding.start, finding.end)
    row = str(finding.start.row)
    yield f"    {paint.cyan(row + ' |')} {text}"
    yield f"    {paint.cyan(' ' * len(row) + ' |')} {paint.red(carets)}"


def _related(related: Related) -> str:
    where = f"{visible_path(related.path)}:{related.position.line}"
    return f"see {where}: {visible(related.message)}"


def _also(other: Finding, first: Finding) -> str:
    tag = fix_tag(other)
    suffix = "" if tag == fix_tag(first) else f" {tag or '[no fix]'}"
    return f"{other.start}{suffix}"


def _other_reasons(first: Finding, others: list[Finding]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for other in others:
        if other.fix is None and other.withheld and other.withheld != first.withheld:
            places.setdefault(other.withheld, []).append(str(other.start))
    for reason, at in places.items():
        yield f"    no fix at {', '.join(at)}: {visible(reason)}"


def fix_tag(finding: Finding) -> str:
    """`[fix]`, `[unsafe fix]`, `[suggestion]`, or nothing."""
    if finding.fix is None:
        return ""
    return {"safe": "[fix]", "unsafe": "[unsafe fix]", "suggest": "[suggestion]"}[
        finding.fix.applicability.value
    ]

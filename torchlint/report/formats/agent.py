"""Findings for coding assistants: short lines, and each fix as edits that can be made as they are.

Under the name of its file, a finding is one line with the rows, the code and the reason. An edit is
words of one row and what they become, or a hunk of a unified diff without context, whichever is
shorter. Rows are those of the file as it was checked.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Final

from torchlint.files.diffs import changed_lines, common_ends
from torchlint.finding import Applicability, Position, Tier
from torchlint.report.formats.concise import diagnostic_line
from torchlint.report.terminal.hunks import hunks
from torchlint.report.terminal.safe_text import Paint, is_exact, plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.files.diffs import Change
    from torchlint.finding import Diagnostic, Finding, Fix, Related
    from torchlint.report.terminal.excerpt import Excerpts
    from torchlint.report.terminal.hunks import Hunk
    from torchlint.silence.tiers import Shown

_INEXACT: Final = "its lines cannot be shown exactly; `torchlint fix` has it"


def render(shown: Shown, diagnostics: Iterable[Diagnostic], excerpts: Excerpts) -> Iterator[str]:
    """The lines of the report, without the closing sentence."""
    for _, lines in blocks(shown.findings, excerpts):
        yield from lines
    yield from not_checked(diagnostics)


def blocks(findings: Iterable[Finding], excerpts: Excerpts) -> Iterator[tuple[int, list[str]]]:
    """What belongs together: a number of findings, and their lines. The first of a file names it.

    Args:
        findings: sorted by path.
    """
    for path, here in groupby(findings, key=lambda finding: finding.path):
        alike: dict[tuple[str, Tier, str], list[Finding]] = {}
        for finding in here:
            key = (finding.code, finding.tier, finding.message)
            alike.setdefault(key, []).append(finding)
        head = [f"{visible_path(path)}:"]
        for group in alike.values():
            yield len(group), [*head, *_group(group, excerpts)]
            head = []


def not_checked(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """A line for each."""
    return (diagnostic_line(each, Paint()) for each in diagnostics)


def closing(shown: Shown, sentence: str) -> str:
    """The last line: what happened, and how many hints are not shown."""
    hidden = sum(hints for _, hints in shown.hidden_hints)
    return f"{sentence} At least {plural(hidden, 'hint')} not shown." if hidden else sentence


def _group(group: Sequence[Finding], excerpts: Excerpts) -> Iterator[str]:
    first = group[0]
    tier = "" if first.tier is Tier.DEFAULT else f"{first.tier.value}: "
    yield f"{_rows(group)} {first.code} {tier}{visible(first.message)}{_see(group)}"
    edits: dict[str, dict[str, None]] = {}
    unfixed: dict[str, list[Finding]] = {}
    for finding in group:
        if finding.fix is not None:
            made = dict.fromkeys(_edits(finding, finding.fix, excerpts))
            edits.setdefault(_tag(finding.fix), {}).update(made)
        elif finding.withheld or len(group) > 1:
            unfixed.setdefault(visible(finding.withheld or ""), []).append(finding)
    for tag, each in edits.items():
        yield f"{tag}:"
        yield from "\n".join(each).split("\n")
    for reason, here in unfixed.items():
        at = "" if len(here) == len(group) else f" at {_rows(here)}"
        if at or reason:
            yield f"no fix{at}{': ' if reason else ''}{reason}"


def _rows(findings: Iterable[Finding]) -> str:
    return ", ".join(dict.fromkeys(finding.start.line for finding in findings))


def _see(group: Sequence[Finding]) -> str:
    """Where the other places are that explain the findings."""

    def place(related: Related) -> str:
        elsewhere = related.path != group[0].path
        return f"{visible_path(related.path)}:" * elsewhere + related.position.line

    found = dict.fromkeys(place(related) for each in group for related in each.related)
    return f" (see {', '.join(found)})" if found else ""


def _tag(fix: Fix) -> str:
    """`unsafe fix (random numbers drawn in the dataset will differ)`"""
    changed = "" if fix.applicability is Applicability.SAFE else fix.message.partition("; ")[2]
    return f"{fix.applicability.words}{f' ({visible(changed)})' if changed else ''}"


def _edits(finding: Finding, fix: Fix, excerpts: Excerpts) -> list[str]:
    """The edits of a fix, or a sentence instead."""
    if not fix.edits:
        return [visible(fix.message)]
    lines: list[str] = []
    grown = Counter[int | None]()
    for hunk in hunks(finding, excerpts):
        changed = changed_lines(hunk.before, hunk.after)
        lines += [_edit(hunk, change, grown[hunk.cell]) for change in changed]
        grown[hunk.cell] += len(hunk.after) - len(hunk.before)
    return lines if lines and all(map(is_exact, lines)) else [_INEXACT]


def _edit(hunk: Hunk, change: Change, grown: int) -> str:
    """One change in the shorter of both forms.

    Args:
        grown: how many lines the changes before this hunk have added.
    """
    first, end, start, stop = change
    old, new = hunk.before[first:end], hunk.after[start:stop]
    cell = "" if hunk.cell is None else f"cell {hunk.cell} "
    before = _range(hunk.first + first, len(old))
    after = _range(hunk.first + start + grown, len(new))
    lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    whole = "\n".join([f"{cell}@@ -{before} +{after} @@", *lines])
    if len(old) != len(new):
        return whole
    places = [Position(hunk.first + first + at, 1, hunk.cell).line for at in range(len(old))]
    words = [_words(*each) for each in zip(places, old, new, strict=True)]
    short = "\n".join(each for each in words if each is not None)
    return short if None not in words and len(short) < len(whole) else whole


def _range(first: int, count: int) -> str:
    # An empty range is named by the line before it.
    return str(first) if count == 1 else f"{first if count else first - 1},{count}"


def _words(place: str, old: str, new: str) -> str | None:
    """The words of a line that change, if they are found only once in it."""
    head, tail = common_ends(old, new)
    while head and not old[head - 1].isspace():
        head -= 1
    while tail and not old[len(old) - tail].isspace():
        tail -= 1
    words, becomes = old[head : len(old) - tail], new[head : len(new) - tail]
    plain = all(text == text.strip() and "`" not in text for text in (words, becomes))
    if not (words and plain) or old.find(words) != head or old.find(words, head + 1) >= 0:
        return None
    return f"{place}: `{words}` -> `{becomes}`"

"""Which fixes fit into a text together, and the text with their edits made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.finding import Edit, Finding

Span = tuple[int, int, str]
"""Start and end offset in characters, and the text to put there."""


def spans(edits: Iterable[Edit], lines: LineIndex) -> list[Span]:
    """The edits by offsets, in the order of the text.

    Raises:
        ValueError: a place that the text does not have, or edits that overlap.
    """
    changed_spans: list[Span] = []
    for edit in edits:
        span = (lines.offset(edit.start), lines.offset(edit.end), edit.content)
        if span[0] > span[1]:
            raise ValueError("an edit ends before it starts")
        if span in changed_spans:
            continue
        if any(_clash(span, other) for other in changed_spans):
            raise ValueError("edits overlap")
        changed_spans.append(span)
    # Stable, so that insertions at one place keep their order; they go before a replacement.
    return sorted(changed_spans, key=lambda span: span[:2])


def spliced(text: str, edits: Sequence[Span]) -> str:
    """The text with these edits, which are in order and do not overlap."""
    pieces: list[str] = []
    done = 0
    for start, end, content in edits:
        pieces += (text[done:start], content)
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def that_fit(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes can be made together, each whole, the first ones first.

    Edits that two fixes share are made once. A fix that overlaps one before it has to wait, and
    so does one with an edit that does not fit the text.
    """
    lines = LineIndex(text)
    chosen: list[Finding] = []
    taken: list[Span] = []
    for finding in findings:
        try:
            wanted = spans(finding.fix.edits if finding.fix else (), lines)
        except ValueError:
            continue
        new = [span for span in wanted if span not in taken]
        if any(_clash(span, other) for span in new for other in taken):
            continue
        taken += new
        chosen.append(finding)
    return chosen


def with_fixes(text: str, findings: Iterable[Finding]) -> str:
    """The text with the fixes of these findings, which fit.

    Raises:
        ValueError: they do not fit.
    """
    edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
    return spliced(text, spans(edits, LineIndex(text)))


def _clash(one: Span, other: Span) -> bool:
    if one[:2] == other[:2] and one[0] == one[1]:
        # Two insertions at one place: lines go below one another, but two arguments `, a=1`
        # could run into each other.
        return not (_is_lines(one[2]) and _is_lines(other[2]))
    return one[:2] == other[:2] or (one[0] < other[1] and other[0] < one[1])


def _is_lines(content: str) -> bool:
    return content.endswith(("\n", "\r"))

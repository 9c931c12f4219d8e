"""Findings for people, one line each, under the name of their file."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from torchlint.finding import Tier
from torchlint.report.formats.text import fix_tag, hidden_hints
from torchlint.report.terminal.safe_text import Paint, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.finding import Finding
    from torchlint.silence.tiers import Shown


def render(shown: Shown, paint: Paint) -> Iterator[str]:
    """The lines of the report, without the closing sentence."""
    for path, findings in groupby(shown.findings, key=lambda finding: finding.path):
        yield f"{paint.bold(visible_path(path))}:"
        yield from _file(list(findings), paint)
        yield ""
    yield from hidden_hints(shown)


def _file(findings: Sequence[Finding], paint: Paint) -> Iterator[str]:
    places = [str(finding.start) for finding in findings]
    widest = max(map(len, places))
    code = max(len(finding.code) for finding in findings)
    for finding, place in zip(findings, places, strict=True):
        tier = "" if finding.tier is Tier.DEFAULT else f"{paint.dim(finding.tier.value)}: "
        tag = fix_tag(finding)
        yield (
            f"  {' ' * (widest - len(place))}{place}  {paint.red(finding.code)}"
            f"{' ' * (code - len(finding.code))}  {tier}{visible(finding.message)}"
            f"{' ' + paint.green(tag) if tag else ''}"
        )

"""One finding per line, for editors and `grep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.finding import Tier
from torchlint.report.formats.text import fix_tag
from torchlint.report.terminal.safe_text import Paint, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Diagnostic, Finding


def render(findings: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """`path:row:column: CODE message [safe fix]` for each finding."""
    for finding in findings:
        place = f"{visible_path(finding.path)}:{finding.start}:"
        tier = "" if finding.tier is Tier.DEFAULT else f" {finding.tier.value}:"
        tag = fix_tag(finding)
        yield (
            f"{paint.bold(place)} {paint.red(finding.code)}{tier} {visible(finding.message)}"
            f"{' ' + paint.green(tag) if tag else ''}"
        )


def diagnostic_line(diagnostic: Diagnostic, paint: Paint) -> str:
    """`path:row:column: error: message`; without the place where there is none."""
    place = visible_path(diagnostic.path)
    if diagnostic.position is not None:
        place += f":{diagnostic.position}"
    return f"{paint.bold(place + ':')} {paint.red('error:')} {visible(diagnostic.message)}"

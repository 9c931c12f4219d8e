"""What `fix` did, and what it left alone and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.lint.finding import Applicability
from torchlint.report.terminal import Paint, plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.lint.finding import Finding


def withheld(findings: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """`path:row:column: CODE name: no fix: reason` for each finding that has a reason."""
    for finding in findings:
        place = f"{visible_path(finding.path)}:{finding.start}:"
        reason = visible(finding.withheld or "this rule has no fix")
        yield f"{paint.bold(place)} {paint.red(finding.code)} {finding.name}: no fix: {reason}"


def sentence(
    applied: Sequence[Finding],
    remaining: Iterable[Finding],
    *,
    changed: int,
    files: int,
    apply: bool,
) -> str:
    """`Would fix 3 problems in 2 files (1 more with `--unsafe`); 40 files checked. ...`"""
    unsafe = sum(
        finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE
        for finding in remaining
    )
    checked = f"{plural(files, 'file')} checked."
    if not applied:
        more = f" ({unsafe} fixable with `--unsafe`)" if unsafe else ""
        return f"Nothing to fix{more}; {checked}"
    more = f" ({unsafe} more with `--unsafe`)" if unsafe else ""
    verb = "Fixed" if apply else "Would fix"
    hint = "" if apply else " Write with `--apply`."
    places = plural(changed, "file")
    return f"{verb} {plural(len(applied), 'problem')} in {places}{more}; {checked}{hint}"

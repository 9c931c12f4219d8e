"""What `fix` did, and what it left alone and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchlint.finding import Applicability
from torchlint.report.terminal.safe_text import Paint, plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.finding import Finding
    from torchlint.fixes.fixer import FixedFile


def withheld(findings: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """`path:row:column: CODE name: no fix: reason` for each finding that has a reason."""
    for finding in findings:
        place = f"{visible_path(finding.path)}:{finding.start}:"
        reason = visible(finding.withheld or "this rule has no fix")
        yield f"{paint.bold(place)} {paint.red(finding.code)} {finding.name}: no fix: {reason}"


def made(files: Iterable[FixedFile], paint: Paint, *, apply: bool) -> Iterator[str]:
    """Each file with the number of fixes of each rule, and a blank line."""
    listed = [file for file in files if file.applied]
    if not listed:
        return
    yield "Fixed:" if apply else "Would fix:"
    for file in listed:
        yield f"- {paint.bold(visible_path(file.path))}:"
        counts = Counter((finding.code, finding.name) for finding in file.applied)
        for (code, name), count in sorted(counts.items()):
            yield f"    {count} x {paint.red(code)} ({name})"
    yield ""


def silenced(findings: int, changed: int, files: int) -> str:
    """`Silenced 3 problems by comments in 2 files; 40 files checked.`"""
    checked = f"{plural(files, 'file')} checked."
    if not changed:
        return f"Nothing to silence; {checked}"
    places = plural(changed, "file")
    return f"Silenced {plural(findings, 'problem')} by comments in {places}; {checked}"


def sentence(
    applied: Sequence[Finding],
    remaining: Iterable[Finding],
    *,
    changed: int,
    files: int,
    apply: bool,
    unsafe: bool,
    errors: int = 0,
    hint: str = "Write with `--apply`.",
) -> str:
    """`Would fix 3 problems in 2 files (1 more with `--unsafe`); 40 files checked. ...`

    Args:
        unsafe: unsafe fixes were asked for.
        hint: a sentence about fixes that are not written.
    """
    left = list(remaining)
    others = sum(
        finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE
        for finding in left
    )
    checked = f"{plural(files, 'file')} checked{', ' + plural(errors, 'error') if errors else ''}."
    if not applied:
        more = f" ({plural(len(left), 'problem')} without a fix)" if left else ""
        if others:
            more = f" ({others} not made)" if unsafe else f" ({others} fixable with `--unsafe`)"
        return f"{'Nothing fixed' if errors else 'Nothing to fix'}{more}; {checked}"
    more = ""
    if others:
        more = f" ({others} not made)" if unsafe else f" ({others} more with `--unsafe`)"
    verb = "Fixed" if apply else "Would fix"
    how = "" if apply else f" {hint}"
    places = plural(changed, "file")
    return f"{verb} {plural(len(applied), 'problem')} in {places}{more}; {checked}{how}"

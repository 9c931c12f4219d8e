"""What happened, in one sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from torchlint.finding import Applicability, Effect, Tier
from torchlint.report.terminal.safe_text import plural, visible_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.finding import Finding


def sentence(findings: Sequence[Finding], files: int, errors: int = 0) -> str:
    """`Found 5 problems in 2 files (3 fixable with `torchlint fix`); 40 files checked.`"""
    if files == 0 and not findings and not errors:
        return "No Python files to check; name a file or another folder."
    checked = f"{plural(files, 'file')} checked{', ' + plural(errors, 'error') if errors else ''}."
    hints = sum(finding.tier is Tier.HINT for finding in findings)
    problems = len(findings) - hints
    if not findings and errors:
        return f"{plural(errors, 'error')}; no problems found; {plural(files, 'file')} checked."
    if not findings:
        return f"No problems found; {checked}"
    counted = [plural(problems, "problem") if problems else "no problems"]
    counted += [plural(hints, "hint")] if hints else []
    places = plural(len({finding.path for finding in findings}), "file")
    return f"Found {' and '.join(counted)} in {places}{_fixable(findings)}; {checked}"


def costliest(findings: Sequence[Finding]) -> str | None:
    """Where to begin, if that is not seen at a glance: up to three places with a large effect."""
    large = [each for each in findings if each.effect is Effect.LARGE]
    if not large or len(findings) <= _MOST_NAMED:
        return None
    first = sorted(large, key=lambda each: each.by_effect)[:_MOST_NAMED]
    places = [f"{visible_path(each.path)}:{each.start.line} {each.code}" for each in first]
    return f"Expected to cost most: {', '.join(places)}."


STEPLESS: Final = (
    "No training step was seen here, so rules about steps had nothing to look at; `torchlint hot` "
    "shows what was seen."
)
_MOST_NAMED: Final = 3


def not_checked(files: Sequence[str], importer: str, folder: str) -> str:
    """A sentence about files that a named file imports."""
    named = [f"`{visible_path(file)}`" for file in files[:_MOST_NAMED]]
    if len(files) > _MOST_NAMED:
        named.append(f"{len(files) - _MOST_NAMED} more")
    *first, last = named
    listed = f"{', '.join(first)} and {last}" if first else last
    was, them = ("was", "it") if len(files) == 1 else ("were", "them")
    return (
        f"{listed}, which {visible_path(importer)} imports, {was} not checked; "
        f"`torchlint check {visible_path(folder)}` checks {them} too."
    )


def older(findings: int) -> str:
    """A sentence about the findings that `--since` hides."""
    are = "is" if findings == 1 else "are"
    return f"{plural(findings, 'finding')} {are} older than this branch and not shown."


def unknown_before(files: int, revision: str) -> str:
    """A sentence about files that `--since` cannot compare."""
    cannot = f"{plural(files, 'file')} cannot be checked as of {revision}"
    return f"{cannot}, so all findings there count as new."


def _fixable(findings: Sequence[Finding]) -> str:
    fixes = Counter(finding.fix.applicability for finding in findings if finding.fix is not None)
    safe, unsafe = fixes[Applicability.SAFE], fixes[Applicability.UNSAFE]
    if safe and unsafe:
        return f" ({safe} fixable with `torchlint fix`, {unsafe} more with `--unsafe`)"
    if safe:
        return f" ({safe} fixable with `torchlint fix`)"
    return f" ({unsafe} fixable with `torchlint fix --unsafe`)" if unsafe else ""

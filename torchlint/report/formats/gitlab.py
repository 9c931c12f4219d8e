"""Findings as a GitLab Code Quality report.

The fields are those of https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.finding import Tier
from torchlint.report.formats.json import rows
from torchlint.report.formats.locations import (
    from_root,
    identities,
    identity,
    line_of,
    well_formed,
    with_cell,
)
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.finding import Diagnostic, Finding, Position
    from torchlint.report.formats.json import Json

_SEVERITIES: Final = {Tier.DEFAULT: "major", Tier.PEDANTIC: "minor", Tier.HINT: "info"}


def render(
    findings: Sequence[Finding], diagnostics: Sequence[Diagnostic], root: str
) -> Iterator[str]:
    """The lines of a JSON list, in ASCII, with one finding or diagnostic each.

    Args:
        root: the folder that GitLab takes paths to be relative to.
    """
    entries = [
        _finding(finding, fingerprint, root)
        for finding, fingerprint in zip(findings, identities(findings, root), strict=True)
    ]
    entries += [_diagnostic(diagnostic, root) for diagnostic in diagnostics]
    yield "["
    yield from rows(entries)
    yield "]"


def _finding(finding: Finding, fingerprint: str, root: str) -> Json:
    return {
        "description": f"{with_cell(visible(finding.message), finding.start)} ({finding.code})",
        "check_name": finding.name,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.tier],
        "location": {
            "path": well_formed(from_root(finding.path, root)),
            **_lines(finding.start, finding.end),
        },
    }


def _diagnostic(diagnostic: Diagnostic, root: str) -> Json:
    path = from_root(diagnostic.path, root)
    position = diagnostic.position
    return {
        "description": with_cell(visible(diagnostic.message), position),
        "check_name": f"torchlint-{diagnostic.kind}",
        "fingerprint": identity(path, diagnostic.kind, repr(position), diagnostic.message),
        "severity": "critical",
        "location": {
            "path": well_formed(path),
            **({"lines": {"begin": 1}} if position is None else _lines(position, position)),
        },
    }


def _lines(start: Position, end: Position) -> Json:
    if start.cell is not None:
        return {"lines": {"begin": line_of(start)}}
    return {
        "lines": {"begin": start.row, "end": end.row},
        "positions": {
            "begin": {"line": start.row, "column": start.column},
            "end": {"line": end.row, "column": end.column},
        },
    }

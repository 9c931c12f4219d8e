"""What one file contributes to the check of its project."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.analysis.summary import Summary
from torchlint.finding import Diagnostic, Fact, Finding, Waiting


@dataclass(frozen=True, slots=True)
class MapResult:
    """The findings, facts and summary of one file. They depend only on the file's bytes and
    path, the rules and the settings."""

    path: str
    imports: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    facts: tuple[Fact, ...] = ()
    summary: Summary | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

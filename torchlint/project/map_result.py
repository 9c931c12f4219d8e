"""What one file contributes to the check of its project, and how deeply it is read for that."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from torchlint.analysis.summary import Summary
from torchlint.finding import Diagnostic, Finding
from torchlint.project.sys_path import Root
from torchlint.reported import Fact, Waiting


class Depth(str, Enum):
    """How deeply a file is analyzed."""

    IMPORTS = "imports"
    """Only its imports, found by pattern."""
    RULES = "rules"
    """Parsed if a rule wants it."""
    ON_DEMAND = "on demand"
    """Parsed and summarized, because hot code of another file may call into it."""


@dataclass(frozen=True, slots=True)
class MapResult:
    """The findings, facts and summary of one file. They depend only on the file's bytes and
    path, the rules and the settings."""

    path: str
    imports: tuple[str, ...] = ()
    roots: tuple[Root, ...] = ()
    """The folders that it puts on `sys.path`."""
    findings: tuple[Finding, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    facts: tuple[Fact, ...] = ()
    summary: Summary | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

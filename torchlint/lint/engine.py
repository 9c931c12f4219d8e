"""MAP each file to what it says, REDUCE that to findings: the whole of `check` as a library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchlint.lint.gate import mentions_torch
from torchlint.lint.soundness import what_is_wrong
from torchlint.project.source import SourceError, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.config import Selection
    from torchlint.lint.finding import Diagnostic, Finding
    from torchlint.lint.mapping import MapResult

Memo = dict[tuple[object, ...], "MapResult"]


@dataclass(frozen=True, slots=True)
class Target:
    """One file to check.

    Args:
        path: the name shown to the user and used in findings.
        selection: which rules are on.
        torch: the oldest torch that the file must run with, as (major, minor).
        data: the content, if it does not come from disk.
        named: the user named this very file, so that it is an error if it is not Python; a file
            found in a folder is parsed only if its words concern a rule.
    """

    path: str
    selection: Selection
    torch: tuple[int, int]
    data: bytes | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found: findings of every tier and diagnostics, sorted by place."""

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int


def check(
    targets: Sequence[Target],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    memo: Memo | None = None,
) -> Report:
    """Checks files as one project: helpers are hot if any of these files makes them so.

    A file that cannot be read or parsed, and a rule that crashes, become diagnostics; the other
    findings stay.

    Args:
        jobs: how many processes share the parsing.
        progress: called with the number of files done and of all.
        memo: keeps what each file said between calls, so that only changed files are parsed.
    """
    diagnostics: list[Diagnostic] = []
    loaded: list[Target] = []
    relevant: list[Target] = []
    for target in targets:
        data = target.data
        if data is None:
            try:
                data = read_bytes(target.path)
            except SourceError as error:
                diagnostics.append(error.diagnostic)
                continue
        wrong = what_is_wrong(target.path, data) if target.named else None
        if wrong is not None:
            diagnostics.append(wrong)
            continue
        loaded.append(target)
        if mentions_torch(data):
            relevant.append(replace(target, data=data))
    if progress is not None:
        progress(len(targets) - len(relevant), len(targets))
    findings: list[Finding] = []
    if relevant:
        from torchlint.lint.run import Run

        run = Run(targets=loaded, relevant=relevant, jobs=jobs, progress=progress, memo=memo)
        findings, more = run.findings()
        diagnostics += more
    findings.sort(key=lambda finding: finding.sort_key)
    diagnostics.sort(key=lambda diagnostic: diagnostic.sort_key)
    return Report(tuple(findings), tuple(diagnostics), len(targets))

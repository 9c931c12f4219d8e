"""The fixes to measure, and the sources of the program with any selection of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from torchlint.engine.check import check
from torchlint.files.diffs import unified
from torchlint.files.reading import SourceError
from torchlint.finding import Applicability
from torchlint.fixes.editable import Editable
from torchlint.fixes.fixer import FixedFile, made
from torchlint.fixes.splice import that_fit
from torchlint.silence.tiers import Wanted, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from torchlint.files.reading import Source
    from torchlint.finding import Diagnostic, Finding
    from torchlint.memory.store import Store
    from torchlint.project.target import Target
    from torchlint.ruleapi.rule_definition import Rule
    from torchlint.workers.pool import Pool

_CHANGED: Final = "The file has changed since it was checked; run it again."


@dataclass(frozen=True, slots=True)
class MeasuredFix:
    """Everything that one rule changes in one file; the unit that is measured.

    `id` is the rule's code and the file; `path` is the file as it is shown; `findings` say
    where, in the order of the file.
    """

    id: str
    code: str
    name: str
    path: str
    findings: tuple[Finding, ...]
    may_change: str
    needs_gpu: bool

    @property
    def applicability(self) -> Applicability:
        """The weakest promise among its places."""
        safe = all(
            finding.fix is not None and finding.fix.applicability is Applicability.SAFE
            for finding in self.findings
        )
        return Applicability.SAFE if safe else Applicability.UNSAFE

    @property
    def message(self) -> str:
        """What the first place's fix does."""
        fix = self.findings[0].fix
        return "" if fix is None else fix.message


@dataclass(frozen=True, slots=True)
class Fixes:
    """The fixes of a project: each can be made alone, and all of them together.

    `sources` are the files that they change, by the path that is shown; `left_out` says, a
    sentence each, which fixes cannot be measured and why; `unfixed` are the findings without a
    fix, or with one of a kind that was not asked for.
    """

    fixes: tuple[MeasuredFix, ...]
    sources: Mapping[str, Source] = field(compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    unfixed: tuple[Finding, ...] = field(default=(), compare=False)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fix.id for fix in self.fixes)

    def only(self, ids: Collection[str]) -> Fixes:
        """These fixes of the same project."""
        kept = tuple(fix for fix in self.fixes if fix.id in ids)
        return replace(self, fixes=kept)

    def changed(self, ids: Collection[str]) -> dict[str, tuple[bytes, bytes]]:
        """Shown path → bytes before and after, with these fixes made."""
        by_path: dict[str, list[Finding]] = {}
        for fix in self.fixes:
            if fix.id in ids:
                by_path.setdefault(fix.path, []).extend(fix.findings)
        return {
            path: (self.sources[path].data, made(self.sources[path], findings).data)
            for path, findings in by_path.items()
        }

    def fixed_files(self, ids: Collection[str]) -> tuple[FixedFile, ...]:
        """The files with these fixes made, in the form that `fixer.apply` writes."""
        return tuple(
            FixedFile(
                path,
                before,
                after,
                tuple(
                    finding
                    for fix in self.fixes
                    if fix.id in ids and fix.path == path
                    for finding in fix.findings
                ),
            )
            for path, (before, after) in sorted(self.changed(ids).items())
        )

    def served(self, ids: Collection[str]) -> dict[str, bytes]:
        """Real path → the bytes to serve in its place, with these fixes made."""
        return {os.path.realpath(path): after for path, (_, after) in self.changed(ids).items()}

    def diff(self, ids: Collection[str]) -> str:
        """The change of these fixes, as `git apply` takes it."""
        parts = [unified(path, *pair) for path, pair in sorted(self.changed(ids).items())]
        return b"".join(parts).decode("utf-8", "replace")


def find_fixes(
    targets: Sequence[Target],
    rules: Mapping[str, Rule],
    *,
    unsafe: bool,
    wanted: Wanted,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> Fixes:
    """Check the project and gather its fixes, rule by rule and file by file.

    Args:
        rules: code → rule; says what a fix may change.
        unsafe: also fixes that may change results or memory.
        wanted: which tiers of findings.
    """
    report = check(targets, pool=pool, progress=progress, store=store)
    allowed = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
    fixes = [
        finding
        for finding in choose(report.findings, targets, wanted).findings
        # A comment that does nothing costs nothing.
        if not rules[finding.code].about_comments
    ]
    findings = [
        finding
        for finding in fixes
        if finding.fix and finding.fix.edits and finding.fix.applicability in allowed
    ]
    collector = _Collector(targets, report.digests, rules)
    for path in sorted({finding.path for finding in findings}):
        collector.add(path, [finding for finding in findings if finding.path == path])
    return Fixes(
        tuple(collector.fixes),
        collector.sources,
        tuple(collector.left_out),
        report.diagnostics,
        tuple(finding for finding in fixes if finding not in findings),
    )


class _Collector:
    def __init__(
        self, targets: Iterable[Target], digests: Mapping[str, bytes], rules: Mapping[str, Rule]
    ) -> None:
        self.fixes: list[MeasuredFix] = []
        self.sources: dict[str, Source] = {}
        self.left_out: list[str] = []
        self._targets = {target.path: target for target in targets}
        self._digests = digests
        self._rules = rules

    def add(self, path: str, findings: Sequence[Finding]) -> None:
        try:
            file = Editable(self._targets[path], self._digests[path], changed=_CHANGED)
        except SourceError as error:
            self.left_out.append(f"{path}: {error.message}")
            return
        source = self.sources[path] = file.source
        fitting = that_fit(source.text, findings)
        for finding in findings:
            if finding not in fitting:
                other = self._overlapped(source, finding, fitting)
                self._leave_out(finding, f"overlaps {other}; apply that one first")
        for code in dict.fromkeys(finding.code for finding in fitting):
            sound = self._sound(source, [each for each in fitting if each.code == code])
            if sound:
                self.fixes.append(self._fix(code, path, sound))

    def _overlapped(self, source: Source, finding: Finding, fitting: Iterable[Finding]) -> str:
        """The fix for which one has to wait."""
        for each in fitting:
            if len(that_fit(source.text, [each, finding])) < 2:
                return f"that of {each.code} at {each.path}:{each.start.row}"
        return "another fix"

    def _sound(self, source: Source, findings: Iterable[Finding]) -> list[Finding]:
        sound: list[Finding] = []
        for finding in findings:
            try:
                made(source, [finding])
            except SourceError:
                self._leave_out(finding, "does not parse; report the rule")
            else:
                sound.append(finding)
        return sound

    def _fix(self, code: str, path: str, findings: Sequence[Finding]) -> MeasuredFix:
        rule = self._rules[code]
        return MeasuredFix(
            id=f"{code}:{path}",
            code=code,
            name=rule.name,
            path=path,
            findings=tuple(findings),
            may_change=rule.may_change,
            needs_gpu=rule.needs_gpu,
        )

    def _leave_out(self, finding: Finding, why: str) -> None:
        place = f"{finding.path}:{finding.start.row}"
        self.left_out.append(f"The fix of {finding.code} at {place} {why}.")

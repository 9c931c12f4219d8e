"""Makes fixes until nothing is left to fix, and writes the result."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from torchlint.engine.check import check
from torchlint.files.diffs import rows_before, unified
from torchlint.files.lines import LineIndex
from torchlint.files.reading import SourceError, decode, encode, read_bytes
from torchlint.files.writing import remove_abandoned_drafts, write_atomically
from torchlint.finding import Applicability, Diagnostic, Finding
from torchlint.fixes.editable import Editable
from torchlint.fixes.splice import spans, that_fit, with_fixes
from torchlint.memory.store import Store
from torchlint.ruleapi.rule_definition import without_fix
from torchlint.silence.tiers import Wanted, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from torchlint.engine.check import Report
    from torchlint.files.reading import Source
    from torchlint.project.target import Target
    from torchlint.workers.pool import Pool

MOST_ROUNDS: Final = 20
_CHANGED: Final = "The file has changed since it was read and was not fixed; run it again."


@dataclass(frozen=True, slots=True)
class FixedFile:
    """A file that fixes changed: its bytes before and after, and the fixed findings.

    `real` is its path, links resolved, when it was named.
    """

    path: str
    before: bytes
    after: bytes
    applied: tuple[Finding, ...]
    real: str | None = None


@dataclass(frozen=True, slots=True)
class FixReport:
    """The outcome of fixing; nothing is written yet.

    `remaining` are the wanted findings of the fixed files.
    """

    files: tuple[FixedFile, ...]
    remaining: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def withheld(self) -> tuple[Finding, ...]:
        """The remaining findings that say why they have no fix."""
        return tuple(finding for finding in self.remaining if finding.withheld)


def fix_targets(
    targets: Sequence[Target],
    *,
    unsafe: bool,
    pool: Pool | None = None,
    wanted: Wanted | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FixReport:
    """Check and fix, round after round, until no fix is left that may be made.

    A fix is made whole or not at all; one that overlaps another waits for the next round; one
    whose result does not parse is dropped for good, with a diagnostic that names its rule. Every
    edit comes from a parse of this run: nothing is taken from the cache.

    Args:
        unsafe: also make fixes that may change results or memory.
        pool: the processes that share the parsing; by default this one alone.
        wanted: which tiers to fix and report; by default what `check` shows.
        progress: called in each round with the number of files done and of all.
    """
    run = _Run(targets, unsafe=unsafe, pool=pool, wanted=wanted or Wanted(), progress=progress)
    return run.report()


def unified_diff(file: FixedFile) -> bytes:
    """The change of one file in the form that `git apply` takes."""
    return unified(file.path, file.before, file.after)


def before(findings: Iterable[Finding], files: Sequence[FixedFile]) -> Iterator[Finding]:
    """Findings of fixed files at their rows in the files as they are, for as long as nothing is
    written. Rows of a notebook stay: they count in its cells."""
    fixed = {file.path: file for file in files}
    for path, group in groupby(findings, lambda finding: finding.path):
        here, file = list(group), fixed.get(path)
        rows = [finding.start.row for finding in here]
        if file is not None and here[0].start.cell is None:
            rows = rows_before(rows, file.before, file.after)
        for finding, row in zip(here, rows, strict=True):
            yield finding._replace(start=finding.start._replace(row=row))


def apply(files: Sequence[FixedFile]) -> tuple[Diagnostic, ...]:
    """Write the fixed files, and say which could not be written; the others are.

    A file that has changed since it was read is left alone, and so is one that has become a link
    to another. Drafts that a killed run left next to these files are removed.
    """
    failed: list[Diagnostic] = []
    remove_abandoned_drafts(file.path for file in files)
    for file in files:
        try:
            if file.real not in (None, os.path.realpath(file.path)):
                raise SourceError(file.path, _CHANGED, kind="write")
            now = read_bytes(file.path)
            if now == file.before:
                write_atomically(file.path, file.after)
            elif now != file.after:
                raise SourceError(file.path, _CHANGED, kind="write")
        except SourceError as error:
            failed.append(Diagnostic(file.path, error.message, kind="write"))
    return tuple(failed)


class _Run:
    """The state of one `fix_targets`."""

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        unsafe: bool,
        pool: Pool | None,
        wanted: Wanted,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._targets = {target.path: target for target in targets}
        self._real = {path: os.path.realpath(path) for path in self._targets}
        self._allowed = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
        self._pool = pool
        self._wanted = wanted
        self._progress = progress
        self._store = Store()
        self._files: dict[str, Editable | None] = {}
        self._applied: dict[str, list[Finding]] = defaultdict(list)
        self._hopeless: dict[tuple[object, ...], str] = {}
        self._diagnostics: list[Diagnostic] = []

    def report(self) -> FixReport:
        for _ in range(MOST_ROUNDS):
            todo, findings, checked = self._check()
            if not self._fix_all(todo):
                break
        else:
            todo, findings, checked = self._check()
            for path in todo:
                message = f"Fixes still apply after {MOST_ROUNDS} rounds; run it again."
                self._diagnostics.append(Diagnostic(path, message, kind="fix"))
        diagnostics = (*checked.diagnostics, *self._diagnostics)
        remaining, diagnostics = checked.in_cells(map(self._with_reason, findings), diagnostics)
        return FixReport(tuple(self._fixed_files()), remaining, diagnostics)

    def _fixed_files(self) -> Iterator[FixedFile]:
        for path, file in sorted(self._files.items()):
            if file is not None and (after := file.target.content()) != file.content:
                applied = tuple(self._applied[path])
                yield FixedFile(path, file.content, after, applied, self._real[path])

    def _check(self) -> tuple[dict[str, list[Finding]], tuple[Finding, ...], Report]:
        """The fixes to make by file, all wanted findings, and the whole report."""
        targets = list(self._targets.values())
        report = check(targets, pool=self._pool, progress=self._progress, store=self._store)
        findings = choose(report.findings, targets, self._wanted).findings
        todo: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.fix and finding.fix.applicability in self._allowed and finding.fix.edits:
                file = self._file(finding.path, report)
                if file is not None and self._why_hopeless(finding, file) is None:
                    todo.setdefault(finding.path, []).append(finding)
        return todo, findings, report

    def _file(self, path: str, report: Report) -> Editable | None:
        """The file of a finding, or None if it cannot be written back as it is."""
        if path not in self._files:
            self._files[path] = None
            try:
                file = Editable(self._targets[path], report.digests[path], changed=_CHANGED)
                self._files[path], self._targets[path] = file, file.target
            except SourceError as error:
                self._diagnostics.append(error.diagnostic)
        return self._files[path]

    def _fix_all(self, todo: Mapping[str, Sequence[Finding]]) -> int:
        """How many files changed, or lost a fix for good."""
        from torchlint.source.deep_stack import with_deep_stack

        return with_deep_stack(
            lambda: sum([self._fix_file(path, each) for path, each in todo.items()])
        )

    def _fix_file(self, path: str, findings: Sequence[Finding]) -> bool:
        file = self._files[path]
        assert file is not None
        dropped = len(self._hopeless)
        fitting = that_fit(file.now.text, self._sound(file, findings))
        after, applied = self._made_together(file, fitting)
        if after.text == file.now.text:
            for finding in applied:
                self._drop(finding, file, "it changes nothing")
        else:
            file.change(after)
            self._targets[path] = file.target
            self._applied[path] += applied
        return bool(applied) or len(self._hopeless) > dropped

    def _sound(self, file: Editable, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings whose edits are in the text and do not overlap one another."""
        lines = LineIndex(file.now.text)
        for finding in findings:
            try:
                spans(finding.fix.edits if finding.fix else (), lines)
            except ValueError as error:
                self._drop(finding, file, str(error))
            else:
                yield finding

    def _made(self, file: Editable, findings: Sequence[Finding]) -> Source:
        """The file with these fixes.

        Raises:
            SourceError: they cannot be made.
        """
        after = made(file.now, findings)
        file.written(after)
        return after

    def _made_together(
        self, file: Editable, findings: Sequence[Finding]
    ) -> tuple[Source, list[Finding]]:
        """The file with as many of these fixes as parse, and which they are."""
        if not findings:
            return file.now, []
        try:
            return self._made(file, findings), list(findings)
        except SourceError:
            pass
        after, applied = file.now, list[Finding]()
        for finding in findings:
            try:
                after = self._made(file, [*applied, finding])
                applied.append(finding)
            except SourceError:
                self._drop_if_guilty(finding, file)
        return after, applied

    def _drop_if_guilty(self, finding: Finding, file: Editable) -> None:
        """A fix that fails only together with others gets its chance in the next round."""
        try:
            self._made(file, [finding])
        except SourceError as error:
            reason = error.message
            if error.kind == "syntax":
                reason = f"its result does not parse: {reason}"
            self._drop(finding, file, reason)

    def _drop(self, finding: Finding, file: Editable, reason: str) -> None:
        self._hopeless[_essence(finding, file.now.text)] = reason
        message = (
            f"The fix of {finding.code} ({finding.name}) was dropped, since {reason.rstrip('.')}; "
            "fix this place by hand and report the rule."
        )
        self._diagnostics.append(Diagnostic(finding.path, message, finding.start, kind="fix"))

    def _why_hopeless(self, finding: Finding, file: Editable) -> str | None:
        if not self._hopeless:
            return None
        return self._hopeless.get(_essence(finding, file.now.text))

    def _with_reason(self, finding: Finding) -> Finding:
        if finding.fix is None or finding.withheld:
            return finding
        if finding.fix.applicability is Applicability.SUGGEST:
            return finding._replace(withheld=f"only a suggestion: {finding.fix.message}")
        file = self._files.get(finding.path)
        reason = None if file is None else self._why_hopeless(finding, file)
        return finding if reason is None else without_fix(finding, f"dropped, since {reason}")


def made(source: Source, findings: Sequence[Finding]) -> Source:
    """The file with these fixes, which fit together.

    Raises:
        SourceError: the result does not parse, or the file's encoding cannot hold it.
    """
    from torchlint.source.parse import parse

    text = with_fixes(source.text, findings)
    after = decode(source.path, encode(source, text))
    if after.text != text or after.encoding != source.encoding:
        raise SourceError(source.path, "the file's encoding changes", kind="fix")
    parse(after)
    return after


def _essence(finding: Finding, text: str) -> tuple[object, ...]:
    """What a fix does, whatever the lines around it have become."""
    lines = LineIndex(text)
    try:
        changes = spans(finding.fix.edits if finding.fix else (), lines)
    except ValueError:
        return (finding.path, finding.code, finding.fix)
    return (
        finding.path,
        finding.code,
        tuple((text[start:end], content) for start, end, content in changes),
    )

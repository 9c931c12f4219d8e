"""Suppresses findings by comments, so that a check of an old code base starts with none."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.engine.check import check
from torchlint.files.reading import SourceError
from torchlint.finding import Applicability, Diagnostic, Edit, Fix
from torchlint.fixes.editable import Editable
from torchlint.fixes.fixer import FixedFile, made
from torchlint.memory.store import Store
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.suppression_comments import ALL, CommentLayout
from torchlint.silence.tiers import choose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from torchlint.engine.check import Report
    from torchlint.files.reading import Source
    from torchlint.finding import Finding
    from torchlint.project.target import Target
    from torchlint.silence.suppression_comments import Comment
    from torchlint.silence.tiers import Wanted
    from torchlint.workers.pool import Pool

_MOST_ROUNDS: Final = 5
_CHANGED: Final = "The file has changed since it was read; run it again."
_UNFIT: Final = "Comments cannot be added in {encoding}; save the file as UTF-8."
_UNCOVERED: Final = (
    "No comment that torchlint could add here silences this finding; nothing was added to this "
    "file, so silence it by hand."
)


@dataclass(frozen=True, slots=True)
class Note:
    """What the comments say in addition to the rules: the reason after ` -- `, and the last day on
    which they silence anything."""

    reason: str = ""
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Silenced:
    """The files with comments added, for `fixer.apply` to write; how many findings the comments
    silence; and what went wrong."""

    files: tuple[FixedFile, ...]
    findings: int
    diagnostics: tuple[Diagnostic, ...]


def add_ignores(
    targets: Sequence[Target],
    *,
    wanted: Wanted,
    note: Note = Note(),
    pool: Pool | None = None,
) -> Silenced:
    """Put `# torchlint: ignore[...]` where each finding that `check` shows begins.

    The result is checked again; a file in which findings are left is not changed.

    Args:
        wanted: which tiers to silence.
        note: `wrong_reason` returns None for its reason.
    """
    return _Run(targets, wanted=wanted, note=note, pool=pool).silenced()


def edits_that_silence(source: Source, findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """The edits that put the comments into a file in which these were found."""
    return tuple(_Writer(source, Note(), _about_comments()).edits(findings))


def wrong_reason(reason: str) -> str | None:
    """Why a text cannot be the reason in a comment, or None."""
    if not reason.isprintable():
        return "The reason has characters that a comment cannot show; write it in one plain line."
    comments = CommentLayout(_comment(["TL201"], Note(reason))).comments
    if [each.reason for each in comments] != [reason] or comments[0].fault:
        return "Not all of the reason would be read as one; put no word behind a `#`."
    return None


class _Run:
    """The state of one `add_ignores`."""

    def __init__(
        self, targets: Sequence[Target], *, wanted: Wanted, note: Note, pool: Pool | None
    ) -> None:
        self._targets = {target.path: target for target in targets}
        self._real = {path: os.path.realpath(path) for path in self._targets}
        self._wanted = wanted
        self._note = note
        self._pool = pool
        self._store = Store()
        self._opened: dict[str, Editable] = {}
        self._failed: dict[str, Diagnostic] = {}
        self._about = _about_comments()

    def silenced(self) -> Silenced:
        for round_ in range(_MOST_ROUNDS):
            report, shown = self._check()
            if round_ == 0:
                first = shown
            changed = [self._silence(path, found, report) for path, found in shown.items()]
            if not any(changed):
                break
        else:
            report, shown = self._check()
        for path, left in shown.items():
            if path not in self._failed:
                self._failed[path] = Diagnostic(path, _UNCOVERED, left[0].start, kind="fix")
        files = [
            FixedFile(path, opened.content, after, (), self._real[path])
            for path, opened in sorted(self._opened.items())
            if path not in self._failed and (after := opened.target.content()) != opened.content
        ]
        counted = sum(len(first.get(file.path, ())) for file in files)
        _, diagnostics = report.in_cells((), (*report.diagnostics, *self._failed.values()))
        return Silenced(tuple(files), counted, diagnostics)

    def _check(self) -> tuple[Report, dict[str, list[Finding]]]:
        targets = list(self._targets.values())
        report = check(targets, pool=self._pool, store=self._store)
        shown: dict[str, list[Finding]] = defaultdict(list)
        for finding in choose(report.findings, targets, self._wanted).findings:
            shown[finding.path].append(finding)
        return report, shown

    def _silence(self, path: str, findings: Sequence[Finding], report: Report) -> bool:
        """Whether comments could be added to a file."""
        if path in self._failed:
            return False
        try:
            file = self._opened.get(path)
            if file is None:
                target, digest = self._targets[path], report.digests[path]
                file = Editable(target, digest, changed=_CHANGED, unfit=_UNFIT)
                self._opened[path] = file
            before = file.now
            edits = tuple(_Writer(before, self._note, self._about).edits(findings))
            fix = Fix(Applicability.SAFE, "Silence it", edits)
            file.change(made(before, [findings[0]._replace(fix=fix)]))
        except SourceError as error:
            self._failed[path] = error.diagnostic
            return False
        self._targets[path] = file.target
        return file.now.text != before.text


class _Writer:
    """Finds the places for comments in one file."""

    def __init__(self, source: Source, note: Note, about: set[str]) -> None:
        self._text = source.text
        self._note = note
        self._reason = note.reason
        self._about = about
        self._layout = CommentLayout(source.text)
        self._at = {comment.start: comment for comment in self._layout.comments}
        self._ignores: dict[int, list[Comment]] = defaultdict(list)
        for comment in self._layout.comments:
            if comment.word == "ignore" and comment.effective:
                self._ignores[comment.row].append(comment)
        self._lines = {
            row: line for line in self._layout.lines for row in range(line.first, line.last + 1)
        }

    def edits(self, findings: Iterable[Finding]) -> Iterator[Edit]:
        """The edits that silence these findings of the file."""
        findings = list(findings)
        renewed = {comment for each in findings if (comment := self._ended(each)) is not None}
        for comment in renewed:
            start, end = map(self._layout.position, comment.ends)
            yield Edit(start, end, _end(self._note))
        added: dict[int, str] = defaultdict(str)
        left = (each for each in findings if self._ended(each) not in renewed)
        for offset, content in self._added(left):
            added[offset] += content
        for offset, content in sorted(added.items()):
            place = self._layout.position(offset)
            yield Edit(place, place, content)

    def _ended(self, finding: Finding) -> Comment | None:
        """The comment on the line of a finding that silenced it until a day that has passed."""
        for row in range(finding.start.row, finding.end.row + 1) if finding.until else ():
            for comment in self._ignores.get(row, ()):
                covers = {finding.code, finding.name, ALL} & comment.selectors
                if covers and comment.until and comment.until.isoformat() == finding.until:
                    return comment
        return None

    def _added(self, findings: Iterable[Finding]) -> Iterator[tuple[int, str]]:
        """What to add, by offsets."""
        behind: dict[int, list[str]] = defaultdict(list)
        above: dict[int, list[str]] = defaultdict(list)
        reasons: set[int] = set()
        for finding in findings:
            comment = self._at.get(self._offset(finding)) if finding.code in self._about else None
            if comment and self._reason and _lacks_reason(comment):
                reasons.add(comment.end)  # perhaps that is all that it lacks
                continue
            row = self._layout.open_row(finding.start.row, finding.end.row)
            codes = behind[row] if row is not None else above[self._first_row(finding.start.row)]
            if finding.code not in codes:
                codes.append(finding.code)
        yield from ((offset, f" -- {self._reason}") for offset in reasons)
        for row, codes in behind.items():
            if there := self._comment_in(row):
                yield from self._joined(there, codes, reasons)
            else:
                yield self._layout.end_of(row), f"  {_comment(codes, self._note)}"
        for row, codes in above.items():
            if (there := self._comment_in(row - 1)) and there.alone:
                yield from self._joined(there, codes, reasons)
            else:
                yield self._above(row, codes)

    def _offset(self, finding: Finding) -> int:
        return self._layout.start_of(finding.start.row) + finding.start.column - 1

    def _first_row(self, row: int) -> int:
        """Where the statement's line begins that a row is part of."""
        line = self._lines.get(row)
        return row if line is None else line.first

    def _comment_in(self, row: int) -> Comment | None:
        """A comment in this row to which rules can be added for the same reason."""
        for comment in self._ignores.get(row, ()):
            same = comment.until == self._note.until and comment.reason in ("", self._reason)
            if comment.names and same and not comment.prose:
                return comment
        return None

    def _joined(
        self, comment: Comment, codes: Iterable[str], reasons: set[int]
    ) -> Iterator[tuple[int, str]]:
        """Adds rules to a comment that is there."""
        missing = [code for code in codes if code not in comment.selectors]
        if missing and comment.names:
            yield comment.names[-1].end, "".join(f", {code}" for code in missing)
        if self._reason and not comment.reason and comment.end not in reasons:
            yield comment.end, f" -- {self._reason}"

    def _above(self, row: int, codes: Iterable[str]) -> tuple[int, str]:
        start = self._layout.start_of(row)
        line = self._text[start : self._layout.end_of(row)]
        indent = line[: len(line) - len(line.lstrip())]
        return start, f"{indent}{_comment(codes, self._note)}{self._newline}"

    @property
    def _newline(self) -> str:
        end = self._layout.start_of(2) if self._layout.lines else 0
        for newline in ("\r\n", "\r"):
            if self._text[:end].endswith(newline):
                return newline
        return "\n"


def _about_comments() -> set[str]:
    return {code for code, rule in all_rules().items() if rule.about_comments}


def _lacks_reason(comment: Comment) -> bool:
    return comment.effective and not comment.reason and not comment.prose


def _comment(codes: Iterable[str], note: Note) -> str:
    reason = f" -- {note.reason}" if note.reason else ""
    return f"# torchlint: ignore[{', '.join(codes)}]{_end(note)}{reason}"


def _end(note: Note) -> str:
    return f" until={note.until}" if note.until else ""

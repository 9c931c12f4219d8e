"""`--since`: only findings that the project did not have at a revision, wherever they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchlint.changes.changed_lines import ChangedLines
from torchlint.changes.files_before import MergeBase
from torchlint.cli.checking import check
from torchlint.cli.planning import wishes_from
from torchlint.engine.targets import Plan, plan_gone
from torchlint.files.discover import shown_path
from torchlint.files.reading import SourceError
from torchlint.project.target import texts_in
from torchlint.report.check_summary import older, unknown_before
from torchlint.report.terminal.safe_text import visible
from torchlint.silence.new_findings import new_findings
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.changes.files_before import FilesBefore
    from torchlint.cli.options import Options
    from torchlint.cli.reports import Checked
    from torchlint.finding import Finding
    from torchlint.memory.store import Store

Place = tuple[object, ...]


class Since:
    """The project as it was where this branch left a revision.

    Args:
        revision: as for `MergeBase`.

    Raises:
        GitError: git cannot answer.
    """

    def __init__(self, revision: str, plan: Plan, options: Options, store: Store) -> None:
        self._revision = revision
        self._plan = plan
        self._options = options
        self._store = store
        self._unknown: set[str] = set()
        self._moved: dict[str, str] = {}
        self._new: frozenset[Place] = frozenset()
        self._base = MergeBase(revision)

    def compare(self, checked: Checked) -> None:
        """Decides which of these findings are new.

        Raises:
            GitError: git cannot answer.
        """
        if not checked.findings:
            return
        paths = [each.path for each in self._plan.targets]
        before = self._base.files(paths)
        old = self._check(before, checked)
        known = set(paths)
        new = new_findings(
            old,
            checked.findings,
            moved=self._moved,
            gone=lambda path: path not in known,
            touched=self._touched(before, old, checked.findings),
        )
        self._new = frozenset(map(_place, new))

    def is_new(self, finding: Finding) -> bool:
        """Whether the finding, which `compare` has seen, is new; its message may have changed."""
        return _place(finding) in self._new

    def narrow(self, shown: Shown) -> tuple[Shown, list[str]]:
        """The new findings, and sentences about the others.

        Hidden hints are not counted: whether they are new is not known.
        """
        new = tuple(each for each in shown.findings if self.is_new(each))
        others = len(shown.findings) - len(new)
        notes = [older(others)] if others else []
        if self._unknown:
            notes.append(unknown_before(len(self._unknown), visible(self._revision)))
        return Shown(new), notes

    def _check(self, before: FilesBefore, checked: Checked) -> tuple[Finding, ...]:
        """The findings of the old files, under the settings of today: a changed setting makes no
        finding new. Afterwards `_moved` has the new paths of files that were renamed."""
        now = {each.path: each for each in self._plan.targets}
        self._moved = {shown_path(old): new for old, new in before.renamed.items()}
        if len(before.same) == len(now) and not before.gone:
            return checked.findings
        targets = [
            each._replace(data=before.changed.get(each.path))
            for each in now.values()
            if each.path in before.same or each.path in before.changed
        ]
        targets += [
            now[new]._replace(path=shown_path(old), data=before.gone[old], named=False)
            for old, new in before.renamed.items()
            if old in before.gone
        ]
        others = {old: data for old, data in before.gone.items() if old not in before.renamed}
        wishes = wishes_from(self._options)
        targets += plan_gone(others, wishes, self._store.rule_names)
        what = f"files as of {visible(self._revision)}"
        plan = Plan(tuple(targets), ())
        old = check(plan, self._options, self._store.beside(b"before"), what)
        known = {each.path for each in checked.diagnostics}
        self._unknown = {each.path for each in old.diagnostics} - known
        return old.findings

    def _touched(
        self, before: FilesBefore, old: Iterable[Finding], new: Iterable[Finding]
    ) -> Callable[[Finding], bool]:
        """Whether lines of a finding changed, asked where equal ones have become more."""
        was, now = Counter(map(_essence, old)), Counter(map(_essence, new))
        more = {each.path for each in new if 0 < was[_essence(each)] < now[_essence(each)]}
        old_names = {new: before.gone.get(old, b"") for old, new in before.renamed.items()}
        lines = {
            target.path: ChangedLines(
                _texts(
                    target.path, before.changed.get(target.path, old_names.get(target.path, b""))
                ),
                _texts(target.path, target.content()),
            )
            for target in self._plan.targets
            if target.path in more and target.path not in before.same
        }

        def touched(finding: Finding) -> bool:
            changed = lines.get(finding.path)
            return changed is not None and changed.touch(finding.start, finding.end)

        return touched


def _texts(path: str, data: bytes) -> list[str]:
    try:
        return texts_in(path, data)
    except SourceError:
        return []  # nothing was found in it, or it was none before


def _essence(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.fingerprint


def _place(finding: Finding) -> Place:
    return (finding.path, finding.start, finding.end, finding.code, finding.fingerprint)

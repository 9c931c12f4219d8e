"""One run over a project: map the files, wake those that hot code leads to, settle the rest."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from torchlint.lint.debug import debugging
from torchlint.lint.engine import Depth
from torchlint.lint.finding import Diagnostic, Finding
from torchlint.lint.imports import Imports
from torchlint.lint.index import Locator
from torchlint.lint.join import Project
from torchlint.lint.mapping import MapResult, map_files, with_shared_names
from torchlint.lint.registry import all_rules
from torchlint.lint.texts import Texts
from torchlint.project.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.lint.engine import Known, Target
    from torchlint.lint.rule import Waiting
    from torchlint.lint.store import Store
    from torchlint.project.workers import Pool

_MOST_ROUNDS: Final = 10


class Run:
    """The state of one `check`: what every file said so far.

    Args:
        files: those that could be read; a digest is renewed where the content has changed since.
    """

    def __init__(
        self,
        files: Sequence[Known],
        *,
        pool: Pool,
        progress: Callable[[int, int], None] | None,
        store: Store,
    ) -> None:
        self._files = {known.target.path: known for known in files}
        self._locator = Locator(self._files)
        self._texts = Texts(self._files, store)
        self._pool = pool
        self._progress = progress
        self._store = store
        self._results: dict[str, MapResult] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._not_said: dict[str, set[str]] = defaultdict(set)
        """Words that a file does not contain, as was found when files were woken before."""
        self._imports = Imports(self._imported_names, self._locator)

    def findings(self) -> tuple[list[Finding], list[Diagnostic]]:
        """Every finding that holds, unsorted, and what went wrong on the way."""
        self._map([known for known in self._files.values() if known.relevant], Depth.RULES)
        project = self._join()
        diagnostics = [each for result in self._results.values() for each in result.diagnostics]
        findings: list[Finding] = []
        for result in self._results.values():
            findings += result.findings
            for waiting in result.waiting:
                settled = self._settle(waiting, project, diagnostics)
                if settled is not None:
                    findings.append(settled)
        self._store.note_answers(self._files.values())
        self._store.save()
        return findings, diagnostics

    def _map(self, files: Iterable[Known], depth: Depth) -> None:
        todo = {}
        for known in files:
            result = self._store.result(known, depth)
            if result is None:
                todo[known.target.path] = known
            else:
                self._take(known, depth, result)
        done = len(self._files) - len(todo)
        mapped = self._pool.map(
            partial(map_files, depth=depth),
            [known.target for known in todo.values()],
            weigh=lambda target: todo[target.path].size,
            pack=_with_data,
        )
        for target, answer in mapped:
            known = todo[target.path]
            if answer is None:
                result = _died(target.path)
            else:
                known.digest, result = answer[0], with_shared_names(answer[1])
                self._store.keep(known, depth, result)
            self._take(known, depth, result)
            done += 1
            if self._progress is not None and depth is Depth.RULES:
                self._progress(done, len(self._files))

    def _take(self, known: Known, depth: Depth, result: MapResult) -> None:
        path = known.target.path
        self._names[path] = result.imports
        if depth is not Depth.IMPORTS:
            self._results[path] = result

    def _imported_names(self) -> dict[str, tuple[str, ...]]:
        """The dotted names that each file imports, with leading dots for relative ones."""
        left = [known for path, known in self._files.items() if path not in self._names]
        self._map(left, Depth.IMPORTS)
        return self._names

    # reduce ------------------------------------------------------------------------------

    def _join(self) -> Project:
        project = self._project()
        if not any(result.waiting or result.summary for result in self._results.values()):
            return project
        woken: set[str] = set()
        for _ in range(_MOST_ROUNDS):
            wanted = self._sleepers(project) - woken
            if not wanted:
                break
            woken |= wanted
            self._map([self._files[path] for path in sorted(wanted)], Depth.WOKEN)
            project = self._project()
        return project

    def _project(self) -> Project:
        return Project(
            summaries={
                path: result.summary
                for path, result in self._results.items()
                if result.summary is not None
            },
            facts=[fact for result in self._results.values() for fact in result.facts],
            locator=self._locator,
            imports=self._imports,
            texts=self._texts,
            clues={
                name: text for rule in all_rules().values() for name, text in rule.clues.items()
            },
        )

    def _sleepers(self, project: Project) -> set[str]:
        """Files without a summary that hot code calls into, or that call code which trains."""
        project.warm_up()
        found = set(project.index.missing)
        words: dict[str, set[str]] = defaultdict(set)
        for path, names in project.training_code().items():
            for caller in project.importers(path) - found:
                words[caller] |= names
        for caller in words.keys() - set(project.summaries):
            new = words[caller] - self._not_said[caller]
            if any(self._texts.mentions(caller, word) for word in new):
                found.add(caller)
            else:
                self._not_said[caller] |= new
        return {path for path in found if path in self._files} - set(project.summaries)

    @staticmethod
    def _settle(
        waiting: Waiting, project: Project, diagnostics: list[Diagnostic]
    ) -> Finding | None:
        rule = all_rules()[waiting.finding.code]
        if rule.settler is None:
            return waiting.finding
        try:
            return rule.settler(waiting, project)
        except Exception as error:
            if debugging():
                raise
            message = f"{rule.code} crashed while joining files ({type(error).__name__}: {error})"
            diagnostics.append(Diagnostic(waiting.finding.path, message, kind="rule"))
            return None


def _died(path: str) -> MapResult:
    message = "the process that checked this file died; it was left out"
    return MapResult(path, diagnostics=(Diagnostic(path, message, kind="worker"),))


def _with_data(target: Target) -> Target:
    """The target for a machine that does not have the file."""
    try:
        return replace(target, data=target.read())
    except SourceError:
        return target  # whoever maps it says so

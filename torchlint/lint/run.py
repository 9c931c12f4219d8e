"""One run over a project: map the files, wake those that hot code leads to, settle the rest."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.lint.debug import debugging
from torchlint.lint.finding import Diagnostic, Finding
from torchlint.lint.index import Locator
from torchlint.lint.join import Project
from torchlint.lint.registry import all_rules
from torchlint.lint.texts import Texts
from torchlint.project.workers import map_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.lint.engine import Memo, Target
    from torchlint.lint.mapping import MapResult
    from torchlint.lint.rule import Waiting

_MOST_ROUNDS = 10


class Run:
    """The state of one `check`: what every file said so far."""

    def __init__(
        self,
        targets: Sequence[Target],
        relevant: Sequence[Target],
        *,
        jobs: int,
        progress: Callable[[int, int], None] | None,
        memo: Memo | None,
    ) -> None:
        self._targets = {target.path: target for target in targets}
        self._targets.update((target.path, target) for target in relevant)
        self._relevant = relevant
        self._locator = Locator(self._targets)
        self._texts = Texts(self._targets.values())
        self._jobs = jobs
        self._progress = progress
        self._memo: Memo = {} if memo is None else memo
        self._results: dict[str, MapResult] = {}

    def findings(self) -> tuple[list[Finding], list[Diagnostic]]:
        """Every finding that holds, unsorted, and what went wrong on the way."""
        self._map(self._relevant, woken=False)
        project = self._join()
        diagnostics = [each for result in self._results.values() for each in result.diagnostics]
        findings: list[Finding] = []
        for result in self._results.values():
            findings += result.findings
            for waiting in result.waiting:
                settled = self._settle(waiting, project, diagnostics)
                if settled is not None:
                    findings.append(settled)
        return findings, diagnostics

    def _map(self, targets: Iterable[Target], *, woken: bool) -> None:
        todo = []
        for target in targets:
            key = self._key(target, woken)
            if key in self._memo:
                self._results[target.path] = self._memo[key]
            else:
                todo.append(target)
        done = len(self._targets) - len(todo)
        for target, result in map_targets(todo, woken=woken, jobs=self._jobs):
            self._results[target.path] = self._memo[self._key(target, woken)] = result
            done += 1
            if self._progress is not None and not woken:  # those were counted as done before
                self._progress(done, len(self._targets))

    @staticmethod
    def _key(target: Target, woken: bool) -> tuple[object, ...]:
        digest = hashlib.sha256(target.data or b"").digest()
        return (target.path, digest, target.selection, target.torch, woken)

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
            self._map([self._loaded(path) for path in sorted(wanted)], woken=True)
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
            texts=self._texts,
            clues={
                name: text for rule in all_rules().values() for name, text in rule.clues.items()
            },
        )

    def _sleepers(self, project: Project) -> set[str]:
        """Files without a summary that hot code calls into, or that call code which trains."""
        project.warm_up()
        found = set(project.index.missing)
        for path, names in project.training_code().items():
            found |= {
                caller
                for caller in project.importers(path)
                if any(self._texts.mentions(caller, name) for name in names)
            }
        return {path for path in found if path in self._targets} - set(project.summaries)

    def _loaded(self, path: str) -> Target:
        return replace(self._targets[path], data=self._texts.data(path))

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

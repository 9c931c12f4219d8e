"""What `check` finds in a program that is run: in the files that its text leads to, and in those
that a run has loaded as well, such as by a path or a computed name."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING

from torchlint.cli.planning import plan_from
from torchlint.cli.printing import print_diagnostics
from torchlint.cli.resources import pool_from
from torchlint.engine.check import check
from torchlint.memory.store import Store
from torchlint.project.program_files import program_files
from torchlint.report.terminal.safe_text import plural
from torchlint.ruleapi.registry import all_rules
from torchlint.runtime.failures import OutOfTime
from torchlint.silence.tiers import Wanted, choose
from torchlint.verify.compared.measured_fixes import Fixes, find_fixes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from torchlint.cli.options import Options
    from torchlint.engine.targets import Plan
    from torchlint.finding import Diagnostic, Finding
    from torchlint.project.target import Target
    from torchlint.report.measured.progress_line import ProgressLine
    from torchlint.runtime.program import Program
    from torchlint.workers.pool import Pool


class ProgramCheck:
    """Checks the files of a program, and checks again once a run has shown more of them.

    Args:
        options: which rules there are.
        unsafe: fixes that may change results or memory count as well.

    Attributes:
        known: the fixes in the files that were checked so far.
    """

    def __init__(
        self, program: Program, options: Options, progress: ProgressLine, *, unsafe: bool = True
    ) -> None:
        self._program = program
        self._options = options
        self._progress = progress
        self._unsafe = unsafe
        self._store = Store()
        self._targets: list[Target] = []
        self.known = Fixes((), {})
        self._findings: tuple[Finding, ...] = ()
        self._told: set[Diagnostic] = set()

    def fixes(self, loaded: Collection[str], deadline: float | None) -> Fixes:
        """The fixes in the program's files.

        Args:
            loaded: real paths of files that a run has loaded.
            deadline: by `time.monotonic`.

        Raises:
            OutOfTime: not all files could be checked until then.
        """
        if self._grows(loaded):
            with self._processes() as pool:
                self.known = find_fixes(
                    self._targets,
                    all_rules(),
                    unsafe=self._unsafe,
                    wanted=self._options.wanted,
                    pool=pool,
                    progress=partial(self._step, deadline),
                    store=self._store,
                )
            self._tell(self.known.diagnostics)
        return self.known

    def findings(self, loaded: Collection[str], deadline: float | None) -> tuple[Finding, ...]:
        """What is found in them, hints included; the same."""
        if self._grows(loaded):
            with self._processes() as pool:
                report = check(
                    self._targets,
                    pool=pool,
                    progress=partial(self._step, deadline),
                    store=self._store,
                )
            self._tell(report.diagnostics)
            wanted = Wanted(hints=True, pedantic=self._options.wanted.pedantic)
            self._findings = tuple(choose(report.findings, self._targets, wanted).findings)
        return self._findings

    def _grows(self, loaded: Collection[str]) -> bool:
        """Whether there are files that were not checked. Those that the configuration excludes
        are never among them."""
        before = {os.path.realpath(target.path) for target in self._targets}
        if before.issuperset(loaded) and before:
            return False
        if not before:
            name = os.path.relpath(self._program.file)
            self._progress.stage(f"Reading {name} and what it imports")
        starts = {self._program.file, *loaded}
        targets = [target for target in self._plan.targets if not target.is_notebook]
        self._targets = program_files(
            [each.path for each in targets if os.path.realpath(each.path) in starts], targets
        )
        self._progress.done()
        kept = {target.path for target in self._targets}
        self._tell(each for each in self._plan.diagnostics if each.path in kept)
        more = len(kept) - len(before)
        if before and more:
            self._progress.stage(f"Reading {plural(more, 'more file')} that it loads")
        return more > 0

    @cached_property
    def _plan(self) -> Plan:
        """All files of the project around the program."""
        paths = (os.path.relpath(self._program.root), os.path.relpath(self._program.file))
        return plan_from(paths, self._options)

    @contextmanager
    def _processes(self) -> Iterator[Pool]:
        """Processes that are gone before anything is measured."""
        pool = pool_from(self._options)
        try:
            yield pool
        finally:
            pool.close()
            self._progress.done()

    def _step(self, deadline: float | None, done: int, total: int) -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTime
        self._progress.step(done, total)

    def _tell(self, diagnostics: Iterable[Diagnostic]) -> None:
        """What could not be checked, once."""
        new = [each for each in diagnostics if each not in self._told]
        self._told.update(new)
        print_diagnostics(new)

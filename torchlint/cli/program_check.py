"""What `check` finds in a program that is run: in the files that its text leads to, and in those
that a run has loaded as well, such as by a path or a computed name."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, TypeVar

from torchlint.cli.planning import plan_from
from torchlint.cli.printing import print_diagnostics
from torchlint.cli.resources import pool_from
from torchlint.engine.check import check
from torchlint.files.reading import SourceError, decode, encode
from torchlint.memory.store import Store
from torchlint.project.program_files import program_files
from torchlint.report.terminal.safe_text import plural
from torchlint.ruleapi.registry import all_rules
from torchlint.runtime.failures import OutOfTime
from torchlint.silence.tiers import Wanted, choose
from torchlint.verify.compared.measured_fixes import Fixes, find_fixes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from torchlint.cli.options import Options
    from torchlint.engine.check import Report
    from torchlint.engine.targets import Plan
    from torchlint.files.reading import Source
    from torchlint.finding import Diagnostic, Finding
    from torchlint.project.target import Target
    from torchlint.report.measured.progress_line import ProgressLine
    from torchlint.runtime.program import Program
    from torchlint.workers.pool import Pool


_T = TypeVar("_T")
_PART: Final = 1 / 3
"""Of the time that is left, for checking more than the script itself."""
_MOST: Final = 100
"""Files. A run loads few of those that the text of a large package leads to, and to check all
of them would take longer than to run the script, which tells which it loads."""


class ProgramCheck:
    """Checks the files of a program, and checks again once a run has shown more of them.

    What the script imports is read off its text, unless that leads to very many files: then only
    those are checked that a run has loaded.

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
        self._unread = ""

    def fixes(self, loaded: Collection[str], deadline: float | None) -> Fixes:
        """The fixes in the program's files.

        Args:
            loaded: real paths of files that a run has loaded.
            deadline: by `time.monotonic`.

        Raises:
            OutOfTime: not all files could be checked until then.
        """
        found = self._checked(loaded, deadline, self._find_fixes)
        if found is not None:
            self.known = found
            self._tell(found.diagnostics)
        left_out = (*self.known.left_out, *filter(None, [self._unread]))
        return replace(self.known, left_out=left_out)

    def findings(self, loaded: Collection[str], deadline: float | None) -> tuple[Finding, ...]:
        """What is found in them, hints included; the same."""
        report = self._checked(loaded, deadline, self._find)
        if report is not None:
            self._tell(report.diagnostics)
            wanted = Wanted(hints=True, pedantic=self._options.wanted.pedantic)
            self._findings = tuple(choose(report.findings, self._targets, wanted).findings)
        return self._findings

    def sources(self) -> dict[str, Source]:
        """Shown path → the files that were checked so far; without those that cannot be read, or
        whose encoding does not give them back."""
        found: dict[str, Source] = {}
        for target in self._targets:
            try:
                source = decode(target.path, target.read())
                if encode(source, source.text) == source.data:
                    found[target.path] = source
            except SourceError:
                continue
        return found

    def _find_fixes(self, pool: Pool, deadline: float | None) -> Fixes:
        return find_fixes(
            self._targets,
            all_rules(),
            unsafe=self._unsafe,
            wanted=self._options.wanted,
            pool=pool,
            progress=partial(self._step, deadline),
            store=self._store,
        )

    def _find(self, pool: Pool, deadline: float | None) -> Report:
        return check(
            self._targets, pool=pool, progress=partial(self._step, deadline), store=self._store
        )

    def _checked(
        self,
        loaded: Collection[str],
        deadline: float | None,
        find: Callable[[Pool, float | None], _T],
    ) -> _T | None:
        """What is found, if there are files that were not checked; None also if there is no time
        for them. More than the script itself gets a part of the time, since the rest is for runs.

        Raises:
            OutOfTime: as above.
        """
        before = self._targets
        if not self._grows(loaded):
            return None
        own = [each for each in self._targets if os.path.realpath(each.path) == self._program.file]
        more = len(self._targets) - (len(before) or len(own))
        self._unread = ""
        try:
            part_s = math.inf
            if deadline is not None and more:
                part_s = time.monotonic() + _PART * (deadline - time.monotonic())
            return self._until(min(deadline or math.inf, part_s), find)
        except OutOfTime:
            if not more or (loaded and not before):  # it was asked for these
                raise
            what = "that it loads" if before else "that it imports"
            self._unread = (
                f"The budget has no room to check {plural(more, 'more file')} {what}, so "
                "nothing in them is fixed or measured; give more time."
            )
            self._progress.say(self._unread)
            self._targets = before or own
        return None if before else self._until(deadline or math.inf, find)

    def _until(self, deadline: float, find: Callable[[Pool, float | None], _T]) -> _T:
        with self._processes() as pool, alarm(deadline - time.monotonic()):
            return find(pool, deadline if math.isfinite(deadline) else None)

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
        run = [each for each in targets if os.path.realpath(each.path) in starts]
        named = program_files([each.path for each in run], targets, most=_MOST)
        self._targets = run if len(named) > _MOST else named
        self._progress.done()
        kept = {target.path for target in self._targets}
        self._tell(each for each in self._plan.diagnostics if each.path in kept)
        more = len(kept) - len(before)
        if before and more:
            self._progress.stage(f"Reading {plural(more, 'more file')} that it loads")
        return more > 0

    @cached_property
    def _plan(self) -> Plan:
        """All files of the project around the program; those below the working directory first,
        which so are shown by their names from there."""
        root = os.path.relpath(self._program.root)
        above = set(root.split(os.sep)) == {os.pardir}
        paths = (*([os.curdir] if above else []), root, os.path.relpath(self._program.file))
        return plan_from(paths, self._options)

    @contextmanager
    def _processes(self) -> Iterator[Pool]:
        """Processes that are gone before anything is measured."""
        pool = pool_from(self._options)
        try:
            yield pool
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's, of what is not waited for
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


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises OutOfTime inside after so many seconds, wherever the program is, if this is the main
    thread of a system with timers: joining the files of a large project asks nobody for the time.
    """
    can = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not math.isfinite(seconds) or not can:
        yield
        return

    def ring(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)

"""One verification from the first look to the result."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

import psutil

from torchlint.runtime.failures import Failed
from torchlint.runtime.sandbox import overlayfs
from torchlint.runtime.workspace import Workspace
from torchlint.verify.compared.measured_fixes import Fixes
from torchlint.verify.errors import VerifyError
from torchlint.verify.first_look import Looker
from torchlint.verify.jobs import Jobs
from torchlint.verify.judge.judging import Judge, conclusion, fix_results
from torchlint.verify.machine import environment
from torchlint.verify.measure.rounds import Rounds
from torchlint.verify.numbers.agreement import compare
from torchlint.verify.numbers.recorder import Recorder
from torchlint.verify.plan import AGAIN, CHANGED, ORIGINAL, declare, room_for_runs, rotations
from torchlint.verify.result import Lanes, Result
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.first_look import FirstLook
    from torchlint.verify.plan import Variant
    from torchlint.verify.request import Request
    from torchlint.verify.result import Comparison, DeclaredPlan, FixResult, Noise, Numerics


_MUCH_UNSTEADY: Final = 0.25
"""Of recorded steady processes 1 in 10 looks unsteady."""


class Watcher(Protocol):
    """Follows the progress of a verification."""

    def stage(self, name: str, *, of: int | None = None) -> None: ...
    def step(self, done: int, total: int) -> None: ...
    def plan(self, plan: DeclaredPlan, expected_s: float) -> None: ...


def verify(request: Request, changes: Changes, watcher: Watcher) -> Result:
    """Run the original and the changed program, measure both and judge.

    Never raises for what a program does: a result with its exit code and a summary says it.

    Raises:
        KeyboardInterrupt: the user stopped it; no process and no file is left.
    """
    begun = time.monotonic()
    with Workspace() as workspace:
        session = _Session(request, changes, watcher, workspace, begun)
        try:
            session.run()
        except VerifyError as error:
            session.fail(error.message, error.code)
        except Failed as failed:
            session.fail(*_while_measuring(failed))
        result = session.result()
    return replace(result, seconds=round(time.monotonic() - begun, 1))


@dataclass(slots=True)
class _Found:
    """What is known so far, so that an early end still reports it."""

    look: FirstLook | None = None
    plan: DeclaredPlan | None = None
    noise: Noise | None = None
    total: Comparison | None = None
    fixes: tuple[FixResult, ...] = ()
    code: int = 0
    summary: str = ""


class _Session:
    def __init__(
        self,
        request: Request,
        changes: Changes,
        watcher: Watcher,
        workspace: Workspace,
        begun: float,
    ) -> None:
        self._request = request
        self._changes = changes
        self._watcher = watcher
        self._workspace = workspace
        self._begun = begun
        self._sandbox = overlayfs.available(changes.program.root, workspace.root)
        self._jobs = Jobs(request, changes, workspace, self._sandbox)
        self._notes: list[str] = list(changes.fixes.left_out) if changes.fixes else []
        self._found = _Found()
        self._rounds: Rounds | None = None

    def run(self) -> None:
        self._watcher.stage("Looking at the program", of=None)
        looker = Looker(self._request, self._changes, self._jobs, self._workspace)
        look = self._found.look = looker.look()
        measured = self._measured(look)
        unseen = self._not_imported(look)
        if unseen:
            self._notes.append(f"Not imported by this run, so not measured: {some(unseen)}.")
        if self._changes.fixes is not None and not measured:
            self._found.fixes = fix_results(self._reached(look), look)
            self.fail("None of the fixed lines ran, so there is nothing to measure.", 0)
            return
        if self._changes.patched and len(unseen) == len(self._changes.patched):
            self.fail("None of the patched files is imported, so there is nothing to measure.", 0)
            return
        changes = self._changes.of(measured)
        self._jobs = Jobs(self._request, changes, self._workspace, self._sandbox)
        variants = changes.variants(per_fix=self._request.per_fix)
        plan = self._found.plan = declare(self._request, look.original, variants)
        rounds = self._rounds = self._laid_out(plan, look, variants)
        self._watcher.plan(plan, rounds.expected_s(look.original.step_s, processors()))
        numerics = self._numerics(plan, look, changes, variants)
        judge = self._judge(rounds, look, measured)
        late = self._measure(rounds, judge)
        self._found.plan = rounds.plan
        self._notes += remarks(rounds)
        self._conclude(judge, look, numerics, late=late)

    def fail(self, message: str, code: int) -> None:
        """End early: what is known stays."""
        self._found.summary, self._found.code = message, code

    def result(self) -> Result:
        from torchlint.runtime.sandbox.side_effects import collect

        found = self._found
        seen = found.look.original if found.look else None
        return Result(
            argv=self._changes.program.words,
            environment=environment(self._jobs, seen, self._sandbox),
            plan=found.plan,
            aa=found.noise,
            total=found.total,
            fixes=found.fixes,
            exit=found.code,
            summary=found.summary,
            notes=tuple(self._notes),
            side_effects=collect(self._workspace.folders(), self._changes.program.root),
            strips=self._rounds.strips() if self._rounds else (),
            lanes=Lanes(**{k: tuple(v) for k, v in seen.lanes.items()}) if seen else Lanes(),
            diff=self._diff(),
        )

    def _diff(self) -> str:
        """The change that was looked at: of a project's fixes, those that the program imports."""
        look = self._found.look
        if self._changes.fixes is None or look is None:
            return self._changes.diff()
        reached = self._reached(look)
        return reached.diff(reached.ids)

    def _measured(self, look: FirstLook) -> tuple[str, ...]:
        """The fixes with a line that ran, or may have run."""
        fixes = self._reached(look)
        return tuple(
            fix.id
            for fix in fixes.fixes
            if any(look.exercised(fix.id, each) is not False for each in range(len(fix.findings)))
        )

    def _not_imported(self, look: FirstLook) -> list[str]:
        """The files with a change that the program does not see."""
        if self._changes.fixes is not None:
            changed = {os.path.realpath(fix.path) for fix in self._changes.fixes.fixes}
        else:
            changed = set(self._changes.patched)
        return sorted(map(os.path.relpath, changed.difference(look.changed.served)))

    def _reached(self, look: FirstLook) -> Fixes:
        """The fixes in files that the program imports."""
        fixes = self._changes.fixes
        if fixes is None:
            return Fixes((), {})
        served = set(look.changed.served)
        return fixes.only([fix.id for fix in fixes.fixes if os.path.realpath(fix.path) in served])

    def _laid_out(self, plan: DeclaredPlan, look: FirstLook, variants: Sequence[Variant]) -> Rounds:
        seen = look.original
        on_gpu = seen.device == "cuda"
        room = room_for_runs(seen, psutil.virtual_memory().available / 2**20)
        layout = rotations(variants, room=room)
        return Rounds(
            self._jobs,
            self._workspace,
            plan,
            variants,
            anchor=look.anchor,
            rotations=layout,
            ranks=seen.processes,
            serial_warmup=on_gpu,
            one_at_a_time=room < len(layout[0]),
            extends_warmup=self._request.warmup is None,
            timeout_s=max(self._request.timeout_s, 20 * seen.step_s * (plan.steps + 2)),
        )

    def _judge(self, rounds: Rounds, look: FirstLook, measured: tuple[str, ...]) -> Judge:
        fixes = self._changes.fixes
        gpu_only = {fix.id for fix in fixes.fixes if fix.needs_gpu} if fixes else set()
        return Judge(
            rounds,
            self._request.design,
            measured,
            per_fix=self._request.per_fix,
            gpu_only=frozenset(gpu_only),
            on_gpu=look.original.device == "cuda",
        )

    def _numerics(
        self,
        plan: DeclaredPlan,
        look: FirstLook,
        changes: Changes,
        variants: Sequence[Variant],
    ) -> Mapping[str, Numerics]:
        """How the numbers compare, by variant, for all fixes and for each alone."""
        wanted = [each for each in variants if each.name == CHANGED or len(each.fixes) == 1]
        self._watcher.stage("Comparing the numbers", of=None)
        recorder = Recorder(
            self._jobs,
            self._workspace,
            plan,
            look.anchor,
            wanted,
            at_once=1 if look.original.device == "cuda" else processors(),
            timeout_s=self._request.timeout_s,
        )
        declared = {each.name: changes.may_change(each) for each in wanted}
        return compare(recorder.run, declared)

    def _measure(self, rounds: Rounds, judge: Judge) -> bool:
        budget = self._request.budget_s
        deadline = None if budget is None else self._begun + budget
        self._watcher.stage("Measuring pairs", of=self._request.design.looks[-1])
        return rounds.measure(judge.undecided, deadline=deadline, progress=self._watcher.step)

    def _conclude(
        self, judge: Judge, look: FirstLook, numerics: Mapping[str, Numerics], *, late: bool
    ) -> None:
        found = self._found
        found.noise = replace(judge.noise(), numerics=numerics.get(ORIGINAL))
        found.total = replace(judge.total(), numerics=numerics.get(CHANGED))
        if self._changes.fixes is not None:
            found.fixes = fix_results(self._reached(look), look, judge, numerics)
        found.code, found.summary = conclusion(found.noise, found.total, found.fixes, late=late)


def some(paths: list[str], most: int = 5) -> str:
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more} more" if more > 0 else "")


def remarks(rounds: Rounds) -> list[str]:
    """What a reader has to know about how it was measured."""
    found = []
    if rounds.one_at_a_time:
        found.append(
            "The memory does not hold the programs side by side, so they were measured one after "
            "the other; changes of the machine in between widen the intervals."
        )
    unsteady, runs = rounds.unsteady()
    if unsteady > _MUCH_UNSTEADY * runs:
        found.append(
            f"{unsteady} of {runs} runs were still changing their pace while they were measured "
            f"(after {rounds.plan.warmup} steps of warm-up); a longer --warmup may narrow the "
            "intervals."
        )
    return found


def _while_measuring(failed: Failed) -> tuple[str, int]:
    """A sentence and the exit code for a run that failed after both programs were seen to run."""
    if failed.status == "timeout":
        return f"A run of the {failed.name} program hung: {failed.message}", 7
    code = 4 if failed.name in (ORIGINAL, AGAIN) else 5
    tail = f"\n{failed.tail.rstrip()}" if failed.tail.strip() else ""
    return f"A run failed ({failed.name}): {failed.message}{tail}", code

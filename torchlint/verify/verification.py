"""One verification from the first look to the result."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

import psutil

from torchlint.experiment.errors import VerifyError
from torchlint.experiment.first_look import Looker
from torchlint.experiment.jobs import Jobs, gathered, sandbox_for
from torchlint.experiment.machine import environment
from torchlint.experiment.rounds import Rounds
from torchlint.runtime.failures import TIMEOUT, Failed, OutOfTime
from torchlint.runtime.workspace import Workspace
from torchlint.verify.budget import layout, room_words
from torchlint.verify.compared.measured_fixes import Fixes
from torchlint.verify.finished import digests
from torchlint.verify.judge.judging import Judge, conclusion, fix_results
from torchlint.verify.numbers.agreement import compare
from torchlint.verify.numbers.recorder import Recorder
from torchlint.verify.numbers.unreached import unreached
from torchlint.verify.plan import AGAIN, CHANGED, ORIGINAL, compared, room_for_runs, rotations
from torchlint.verify.result import BY_CTRL_C, Lanes, Result, Verdict
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.request import Request
    from torchlint.finding import Finding
    from torchlint.runtime.nodes.nodes import Nodes
    from torchlint.verify.budget import Layout
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.result import Comparison, FixResult, Noise, Numerics


_INCONCLUSIVE: Final = 3
_OUT_OF_TIME: Final = 7
_STOPPED: Final = "Stopped; this is what was known until then."
_NO_FIX: Final = (
    "There is no fix to verify; measure a change of your own with --with PATCH or --against "
    "OTHER.py."
)
_NONE_RAN: Final = (
    "None of the {} lines ran in the steps that were looked at, so there is nothing to measure."
)
_MOST_UNFIXED: Final = 10
_MUCH_UNSTEADY: Final = 0.25
"""Of recorded steady processes 1 in 10 looks unsteady."""


class Watcher(Protocol):
    """Follows the progress of a verification."""

    def stage(self, name: str, *, of: int | None = None) -> None: ...
    def step(self, done: int, total: int) -> None: ...
    def plan(self, layout: Layout, step_s: float) -> None: ...
    def numbers(self, who: str, found: Numerics) -> None: ...


def verify(request: Request, changes: Changes, watcher: Watcher) -> Result:
    """Run the original and the changed program, measure both and judge.

    Never raises for what a program does: a result with its exit code and a summary says it. If the
    user stops it, or the time budget ends, the result has what is known until then; no process and
    no file is left.
    """
    with Workspace(request.folder, request.deadline) as workspace, ExitStack() as stack:
        session = _Session(request, changes, watcher, workspace, stack)
        try:
            session.run()
        except VerifyError as error:
            session.fail(error.message, error.code)
        except Failed as failed:
            session.fail(*_while_measuring(failed))
        except OutOfTime:
            session.late()
        except KeyboardInterrupt:
            session.stopped(BY_CTRL_C)
        except SystemExit as ended:  # SIGTERM or SIGHUP
            session.stopped(ended.code if isinstance(ended.code, int) else BY_CTRL_C)
        result = session.result()
    return replace(result, seconds=round(time.monotonic() - request.begun, 1))


@dataclass(slots=True)
class _Found:
    """What is known so far, so that an early end still reports it."""

    look: FirstLook | None = None
    layout: Layout | None = None
    rounds: Rounds | None = None
    judge: Judge | None = None
    recorder: Recorder | None = None
    numerics: dict[str, Numerics] = field(default_factory=dict)
    late: bool = False
    stopped: int | None = None
    code: int = 0
    summary: str = ""


class _Session:
    def __init__(
        self,
        request: Request,
        changes: Changes,
        watcher: Watcher,
        workspace: Workspace,
        stack: ExitStack,
    ) -> None:
        self._request = request
        self._changes = changes
        self._watcher = watcher
        self._workspace = workspace
        self._stack = stack
        self._sandbox = sandbox_for(request, workspace)
        self._jobs = Jobs(request, changes, workspace, self._sandbox)
        self._notes: list[str] = []
        self._found = _Found()

    def run(self) -> None:
        nodes = gathered(self._request, self._workspace, self._stack, self._watcher)
        look = self._look("Looking at the program", nodes)
        known = self._changes.each_fix
        self._changes = self._changes.with_loaded(look.original.files, self._workspace.deadline)
        if self._changes.each_fix != known:
            look = self._look("Looking at it again, with the fixes of what it loads", nodes)
        if self._changes.fixes is not None and not self._changes.ids:
            self._notes += without_a_fix(self._changes.fixes.unfixed, self._changes.program.file)
            self.fail(_NO_FIX, 0)
            return
        measured = self._measured(look)
        unseen = self._not_imported(look)
        if unseen:
            self._notes.append(f"Not imported by this run, so not measured: {some(unseen)}.")
        if self._changes.fixes is not None and not measured:
            self.fail(_NONE_RAN.format("fixed"), _INCONCLUSIVE)
            return
        if self._changes.patched and len(unseen) == len(self._changes.patched):
            raise VerifyError(
                "None of the patched files is imported, so there is nothing to measure; give the "
                "script that uses them.",
                _INCONCLUSIVE,
            )
        changed = () if self._changes.fixes is not None else self._changes.where()
        if changed and look.ran(changed) is False:
            raise VerifyError(_NONE_RAN.format("changed"), _INCONCLUSIVE)
        changes = self._changes.of(measured)
        self._jobs = Jobs(
            self._request,
            changes,
            self._workspace,
            self._sandbox,
            own_network=look.own_network,
            nodes=nodes,
        )
        if look.own_network:
            self._notes.append(
                f"{beside_and_not_alone(look.clash)}, so each has a network of its own: a loopback "
                "and no other machine."
            )
        plan = self._found.layout = self._layout(look, changes)
        self._watcher.plan(plan, look.original.step_s)
        rounds = self._found.rounds = self._rounds(plan, look)
        self._found.judge = self._judge(rounds, look, measured, plan)
        if plan.numbers_fit:
            self._compare(plan, look, changes, rounds)
            if self._found.recorder and self._found.recorder.clash:
                rounds.run_apart(self._found.recorder.clash)
        self._watcher.stage("Measuring pairs", of=self._request.design.looks[-1])
        self._found.late = rounds.measure(
            self._found.judge.undecided,
            deadline=self._workspace.deadline,
            progress=self._watcher.step,
        )

    def _look(self, stage: str, nodes: Nodes | None) -> FirstLook:
        """A first look at the program, and at the changed one if there is one."""
        self._jobs = Jobs(self._request, self._changes, self._workspace, self._sandbox, nodes=nodes)
        self._watcher.stage(stage)
        looker = Looker(self._request, self._changes, self._jobs, self._workspace)
        alone = self._changes.fixes is not None and not self._changes.ids
        look = self._found.look = looker.look_at_original() if alone else looker.look()
        return look

    def fail(self, message: str, code: int) -> None:
        """End early: what is known stays."""
        self._found.summary, self._found.code = message, code

    def late(self) -> None:
        """The time budget is over."""
        self._found.late = True
        if self._found.judge is None:
            self.fail(
                f"The budget of {self._request.budget_s:g} s ended before the script had shown its "
                "first steps; give more with --budget.",
                _OUT_OF_TIME,
            )

    def stopped(self, code: int) -> None:
        """The user has had enough."""
        self._found.stopped = code

    def result(self) -> Result:
        from torchlint.runtime.sandbox.side_effects import collect

        found = self._found
        seen = found.look.original if found.look else None
        rounds = found.rounds
        noise, total, fixes = self._judged()
        code, summary = found.code, found.summary
        if total is not None and not summary:
            code, summary = conclusion(noise, total, fixes, late=found.late)
        if found.stopped is not None:
            code, summary = found.stopped, summary if code == 1 else _STOPPED
        plan = found.layout.plan if found.layout else None
        return Result(
            argv=self._changes.program.words,
            environment=environment(self._jobs, seen, self._sandbox),
            plan=rounds.plan if rounds else plan,
            aa=noise,
            total=total,
            fixes=fixes,
            exit=code,
            summary=summary,
            notes=(*self._left_out(), *self._room(total), *self._notes, *self._remarks()),
            unreached=self._unreached(),
            side_effects=collect(self._workspace.folders(), self._changes.program.root),
            strips=rounds.strips() if rounds else (),
            lanes=Lanes(**{k: tuple(v) for k, v in seen.lanes.items()}) if seen else Lanes(),
            diff=self._diff(),
            sources=digests(self._files()),
        )

    def _room(self, total: Comparison | None) -> list[str]:
        """What did not fit into the budget; that speed would not has come out by now."""
        layout = self._found.layout
        is_judged = total is not None and total.verdict is not Verdict.UNRESOLVED
        return room_words(layout, is_judged=is_judged) if layout else []

    def _remarks(self) -> list[str]:
        return remarks(self._found.rounds) if self._found.rounds else []

    def _left_out(self) -> tuple[str, ...]:
        return self._changes.fixes.left_out if self._changes.fixes else ()

    def _files(self) -> list[str]:
        """The Python files of the project that the original runs, as far as is known."""
        fixes, recorder, look = self._changes.fixes, self._found.recorder, self._found.look
        window = recorder.windows.get(ORIGINAL) if recorder else None
        found = {self._changes.program.file, *(window.files if window else ())}
        found.update(look.original.files if look else ())
        return sorted({*(fixes.sources if fixes else ()), *map(os.path.relpath, found)})

    def _judged(self) -> tuple[Noise | None, Comparison | None, tuple[FixResult, ...]]:
        """What can be said of the pairs and numbers that are known."""
        look, judge, numerics = self._found.look, self._found.judge, self._found.numerics
        has_fixes = self._changes.fixes is not None
        if look is None:
            return None, None, ()
        fixes = fix_results(self._reached(look), look, judge, numerics) if has_fixes else ()
        if judge is None:
            return None, None, fixes
        noise = judge.noise()
        if noise is not None:
            noise = replace(noise, numerics=numerics.get(ORIGINAL))
        return noise, replace(judge.total(), numerics=numerics.get(CHANGED)), fixes

    def _unreached(self) -> tuple[str, ...]:
        windows = self._found.recorder.windows if self._found.recorder else {}
        if ORIGINAL not in windows or CHANGED not in windows:
            return ()
        measured = self._found.judge.ids if self._found.judge else ()
        seen, planned = self._found.look, self._found.layout
        assert seen is not None
        assert planned is not None
        compared_to = planned.plan.numeric_first + planned.plan.numeric_steps
        return unreached(
            windows[ORIGINAL],
            windows[CHANGED],
            self._changes.program.file,
            self._changes.of(measured).where(),
            with_last_step=seen.original.finished and compared_to >= seen.original.steps,
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

    def _layout(self, look: FirstLook, changes: Changes) -> Layout:
        spent_s = time.monotonic() - self._request.begun
        seen = replace(look.original, ahead=max(look.original.ahead, look.changed.ahead))
        return layout(self._request, seen, changes, spent_s=spent_s, processors=processors())

    def _rounds(self, planned: Layout, look: FirstLook) -> Rounds:
        seen = look.original
        on_gpu = seen.device == "cuda"
        free_mb = psutil.virtual_memory().available / 2**20
        room = room_for_runs(seen, free_mb, self._request.nodes)
        groups = rotations(planned.variants, room=room)
        return Rounds(
            self._jobs,
            self._workspace,
            planned.plan,
            planned.variants,
            anchor=look.anchor,
            rotations=groups,
            ranks=seen.processes,
            serial_warmup=on_gpu,
            one_at_a_time=room < len(groups[0]),
            extends_warmup=self._request.warmup is None,
            timeout_s=self._patience_s(seen.step_s * (planned.plan.steps + 2)),
            clash="" if look.own_network else look.clash,
        )

    def _patience_s(self, seconds: float) -> float:
        """How long a run may be silent that should take so many seconds."""
        return max(self._request.timeout_s, 20 * seconds)

    def _judge(
        self, rounds: Rounds, look: FirstLook, measured: tuple[str, ...], planned: Layout
    ) -> Judge:
        fixes = self._changes.fixes
        gpu_only = {fix.id for fix in fixes.fixes if fix.needs_gpu} if fixes else set()
        return Judge(
            rounds,
            self._request.design,
            measured,
            per_fix=self._request.per_fix and not planned.narrowed,
            gpu_only=frozenset(gpu_only),
            on_gpu=look.original.device == "cuda",
        )

    def _compare(self, planned: Layout, look: FirstLook, changes: Changes, rounds: Rounds) -> None:
        """How the numbers compare, by variant, for all fixes and for each alone."""
        wanted, plan = compared(planned.variants), planned.plan
        self._watcher.stage("Comparing the numbers", of=None)
        recorder = self._found.recorder = Recorder(
            self._jobs,
            self._workspace,
            plan,
            look.anchor,
            wanted,
            at_once=1 if look.original.device == "cuda" or rounds.clash else processors(),
            timeout_s=self._patience_s(
                look.original.step_s * (plan.numeric_first + plan.numeric_steps)
            ),
            places=changes.places(),
        )
        declared = {each.name: changes.may_change(each) for each in wanted}
        for name, found in compare(recorder.run, declared):
            self._found.numerics[name] = found
            self._watcher.numbers(name, found)


def some(paths: list[str], most: int = 2) -> str:
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more} more" if more > 0 else "")


def without_a_fix(findings: Sequence[Finding], main: str) -> list[str]:
    """What `check` finds and why it has no fix; what is in the script itself comes first."""
    ordered = sorted(findings, key=lambda each: os.path.realpath(each.path) != main)
    found = []
    for finding in ordered[:_MOST_UNFIXED]:
        why = finding.withheld or ("its fix is not safe" if finding.fix else "its rule has none")
        place = f"{finding.path}:{finding.start.row}"
        found.append(f"{finding.code} {finding.name} at {place} has no fix: {why}")
    left = len(ordered) - len(found)
    return found + (
        [f"{left} more findings have no fix; `torchlint check` lists them."] if left else []
    )


def beside_and_not_alone(clash: str) -> str:
    """The beginning of a sentence."""
    return f"A run failed beside another one and not alone ({clash.rstrip('.')})"


def remarks(rounds: Rounds) -> list[str]:
    """What a reader has to know about how it was measured."""
    found = []
    if rounds.one_at_a_time:
        why = "The memory does not hold the programs side by side"
        if rounds.clash:
            why = beside_and_not_alone(rounds.clash)
        found.append(
            f"{why}, so they were measured one after the other; changes of the machine in between "
            "widen the intervals."
        )
    unsteady, runs = rounds.unsteady()
    if unsteady > _MUCH_UNSTEADY * runs:
        found.append(
            f"{unsteady} of {runs} runs were still changing their pace while they were measured "
            f"(after {rounds.plan.warmup} steps of warm-up); a longer --warmup may narrow the "
            "intervals."
        )
    throttled, blocks = rounds.throttled()
    if throttled:
        found.append(
            f"The GPU's clock was held back in {throttled} of {blocks} blocks; heat, its power "
            "limit or other work does that."
        )
    return found


def _while_measuring(failed: Failed) -> tuple[str, int]:
    """A sentence and the exit code for a run that failed after both programs were seen to run."""
    if failed.status == TIMEOUT:
        return f"A run of the {failed.name} program hung: {failed.message}", 7
    code = 4 if failed.name in (ORIGINAL, AGAIN) else 5
    which = f"the {failed.name} program" if failed.name != AGAIN else "the original, once more"
    return f"A run failed ({which}): {failed.message}{failed.below}", code

"""One verification from the first look to the result."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from torchlint.experiment.earlier_json import digests
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.figures import listed
from torchlint.experiment.jobs import Watcher
from torchlint.experiment.machine import environment
from torchlint.experiment.plan import declare
from torchlint.experiment.rounds import Rounds
from torchlint.experiment.session import OUT_OF_TIME, STOPPED, Session
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.runtime.failures import TIMEOUT
from torchlint.runtime.probe.messages import Lanes
from torchlint.verify.compared.changes import Changes
from torchlint.verify.compared.measured_fixes import Fixes
from torchlint.verify.counts.counting import CountedSteps, count
from torchlint.verify.counts.differences import with_counters
from torchlint.verify.fix_variants import compared, rotations
from torchlint.verify.judge.judging import Judge, conclusion, fix_results
from torchlint.verify.numbers.agreement import compare
from torchlint.verify.numbers.recorder import VariantRecorder
from torchlint.verify.numbers.tolerance import offered, tolerated
from torchlint.verify.numbers.unreached import unreached
from torchlint.verify.result import Result, Verdict
from torchlint.verify.time_budget import SPARE, layout, room_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Variant
    from torchlint.finding import Finding
    from torchlint.runtime.failures import Failed
    from torchlint.verify.result import Comparison, Counters, FixMeasurement, Noise, Numerics
    from torchlint.verify.time_budget import Layout


_INCONCLUSIVE: Final = 3
_NO_FIX: Final = (
    "There is no fix to verify; measure a change of your own with --with PATCH or --against "
    "OTHER.py."
)
_NONE_RAN: Final = (
    "None of the {} lines ran in the steps that were looked at, so there is nothing to measure."
)
_MOST_UNFIXED: Final = 10
_NAMED: Final = 2
"""Files of one note."""
_MUCH_UNSTEADY: Final = 0.25
"""Of recorded steady processes 1 in 10 looks unsteady."""


class VerificationWatcher(Watcher, Protocol):
    """Follows the progress of a verification."""

    def step(self, done: int, total: int) -> None: ...
    def plan(self, layout: Layout, step_s: float) -> None: ...
    def numbers(self, who: str, found: Numerics) -> None: ...
    def so_far(self, found: Comparison) -> None: ...
    def judged(self, who: str, found: Comparison) -> None: ...
    def room(self, layout: Layout) -> None: ...


def verify(request: Request, changes: Changes, watcher: VerificationWatcher) -> Result:
    """Run the original and the changed program, measure both and judge."""
    return _Verification(request, changes, watcher).conduct()


class _Verification(Session[Changes, Result]):
    """What is known so far stays, so that an early end still reports it."""

    _watcher: VerificationWatcher

    def __init__(self, request: Request, changes: Changes, watcher: VerificationWatcher) -> None:
        super().__init__(request, changes, watcher)
        self._notes: list[str] = []
        self._planned: Layout | None = None
        self._rounds: Rounds | None = None
        self._judge: Judge | None = None
        self._recorder: VariantRecorder | None = None
        self._numerics: dict[str, Numerics] = {}
        self._told: dict[str, Verdict] = {}
        self._counters: dict[str, Counters] = {}
        self._is_counted = False
        self._is_late = False

    def run(self) -> None:
        look, changes = self.look(), self.subject
        if changes.fixes is not None and not changes.ids:
            self._notes += without_a_fix(changes.fixes.unfixed, changes.program.file)
            if self.request.must_count:
                self._count(declare(self.request, look.original, ()), (), look)
            self.fail(_NO_FIX, 0)
            return
        exercised = self._exercised(look)
        unseen = self._not_imported(look)
        if unseen:
            self._notes.append(
                f"Not imported by this run, so not measured: {listed(unseen, _NAMED)}."
            )
        self._require_executed(look, exercised, unseen)
        changes = changes.of(exercised)
        self.jobs = self.jobs_for(changes, own_network=look.own_network)
        if look.own_network:
            self._notes.append(
                f"{beside_and_not_alone(look.clash)}, so each has a network of its own: a loopback "
                "and no other machine."
            )
        planned = self._planned = self._with_counting(self._layout(look, changes), look)
        self._watcher.plan(planned, look.original.step_s)
        rounds = self._rounds = self._rounds_of(planned, look)
        self._judge = self._judge_of(rounds, look, exercised, planned)
        if planned.numbers_fit:
            self._recorder = self._recorder_of(planned, look, changes, rounds)
            self._compare(compared(planned.variants)[:1])
        self._watcher.stage("Measuring pairs", of=self.request.design.looks[-1])
        self._is_late = rounds.measure(
            self._undecided,
            deadline=self.workspace.deadline,
            progress=self._progress,
            goes_on=self._goes_on,
        )
        self._count_if_there_is_room(0.0)

    def _require_executed(
        self, look: FirstLook, exercised: Sequence[str], unseen: Sequence[str]
    ) -> None:
        """Check that something of the change runs.

        Raises:
            ExperimentError: nothing does, so there is nothing to measure.
        """
        changes = self.subject
        if changes.fixes is not None:
            if not exercised:
                raise ExperimentError(_NONE_RAN.format("fixed"), _INCONCLUSIVE)
            return
        if changes.patched and len(unseen) == len(changes.patched):
            raise ExperimentError(
                "None of the patched files is imported, so there is nothing to measure; give the "
                "script that uses them.",
                _INCONCLUSIVE,
            )
        places = changes.where()
        if places and look.ran(places) is False:
            raise ExperimentError(_NONE_RAN.format("changed"), _INCONCLUSIVE)

    def failed(self, failed: Failed) -> tuple[str, int]:
        if failed.status == TIMEOUT:
            return f"A run of the {failed.name} program hung: {failed.message}", OUT_OF_TIME
        code = 4 if failed.name in (ORIGINAL, AGAIN) else 5
        which = f"the {failed.name} program" if failed.name != AGAIN else "the original, once more"
        return f"A run failed ({which}): {failed.message}{failed.below}", code

    def late(self) -> None:
        self._is_late = True
        if self._judge is None:
            why = f" ({self.doing})" if self.doing else ""
            looked = self.first_look is not None
            what = "anything was measured" if looked else "the script had shown its first steps"
            self.fail(
                f"The budget of {self.request.budget_s:g} s ended before {what}{why}; give more "
                "with --budget.",
                OUT_OF_TIME,
            )

    def result(self) -> Result:
        from torchlint.runtime.sandbox.side_effects import collect

        seen = self.first_look.original if self.first_look else None
        rounds, planned = self._rounds, self._planned
        noise, total, fixes = self._judged()
        code, summary = self.code, self.summary
        if total is not None and not summary:
            code, summary = conclusion(noise, total, fixes, late=self._is_late)
        if self.stopped is not None:
            code, summary = self.stopped, summary if code == 1 else STOPPED
        plan = planned.plan if planned else None
        return Result(
            argv=self.subject.program.words,
            environment=environment(self.jobs, seen),
            plan=rounds.plan if rounds else plan,
            aa=noise,
            total=total,
            fixes=fixes,
            exit=code,
            summary=summary,
            counters=self._counters.get(ORIGINAL),
            notes=(*self._left_out(), *self._room_words(total), *self._notes, *self._remarks()),
            unreached=self._unreached(),
            side_effects=collect(self.workspace.folders(), self.subject.program.root),
            strips=rounds.strips() if rounds else (),
            lanes=seen.lanes if seen else Lanes(),
            diff=self._diff(),
            sources=digests(self._files()),
        )

    def _room_words(self, total: Comparison | None) -> list[str]:
        """What did not fit into the budget; that speed would not has come out by now."""
        planned = self._planned
        is_judged = total is not None and total.verdict is not Verdict.UNRESOLVED
        return room_words(planned, is_judged=is_judged) if planned else []

    def _remarks(self) -> list[str]:
        return remarks(self._rounds) if self._rounds else []

    def _left_out(self) -> tuple[str, ...]:
        return self.subject.fixes.left_out if self.subject.fixes else ()

    def _files(self) -> list[str]:
        """The Python files of the project that the original runs, as far as is known."""
        fixes, recorder, look = self.subject.fixes, self._recorder, self.first_look
        record = recorder.records.get(ORIGINAL) if recorder else None
        found = {self.subject.program.file, *(record.reached.files if record else ())}
        found.update(look.original.files if look else ())
        return sorted({*(fixes.sources if fixes else ()), *map(os.path.relpath, found)})

    def _judged(self) -> tuple[Noise | None, Comparison | None, tuple[FixMeasurement, ...]]:
        """What can be said about the pairs and numbers that are known."""
        look, judge, numerics = self.first_look, self._judge, self._numerics
        has_fixes = self.subject.fixes is not None
        if look is None:
            return None, None, ()
        reached, counters = self._reached(look), self._counters
        fixes = fix_results(reached, look, judge, numerics, counters) if has_fixes else ()
        if judge is None:
            return None, None, fixes
        noise = judge.noise()
        if noise is not None:
            noise = replace(noise, numerics=numerics.get(ORIGINAL))
        total = replace(judge.total(), numerics=numerics.get(CHANGED))
        return noise, with_counters(total, counters.get(ORIGINAL), counters.get(CHANGED)), fixes

    def _unreached(self) -> tuple[str, ...]:
        records = self._recorder.records if self._recorder else {}
        if ORIGINAL not in records or CHANGED not in records:
            return ()
        measured = self._judge.ids if self._judge else ()
        seen, planned = self.first_look, self._planned
        assert seen is not None
        assert planned is not None
        compared_to = planned.plan.numeric_first + planned.plan.numeric_steps
        return unreached(
            records[ORIGINAL],
            records[CHANGED],
            self.subject.program.file,
            self.subject.of(measured).where(),
            with_last_step=seen.original.finished and compared_to >= seen.original.steps,
        )

    def _diff(self) -> str:
        """The change that was looked at: of a project's fixes, those that the program imports."""
        look = self.first_look
        if self.subject.fixes is None or look is None:
            return self.subject.diff()
        reached = self._reached(look)
        return reached.diff(reached.ids)

    def _exercised(self, look: FirstLook) -> tuple[str, ...]:
        """The fixes with a line that ran, or may have run."""
        fixes = self._reached(look)
        return tuple(
            fix.id
            for fix in fixes.fixes
            if any(look.exercised(fix.id, each) is not False for each in range(len(fix.findings)))
        )

    def _not_imported(self, look: FirstLook) -> list[str]:
        """The files with a change that the program does not see."""
        if self.subject.fixes is not None:
            changed = {os.path.realpath(fix.path) for fix in self.subject.fixes.fixes}
        else:
            changed = set(self.subject.patched)
        return sorted(map(os.path.relpath, changed.difference(look.changed.served)))

    def _reached(self, look: FirstLook) -> Fixes:
        """The fixes in files that the program imports."""
        fixes = self.subject.fixes
        if fixes is None:
            return Fixes((), {})
        served = set(look.changed.served)
        return fixes.only([fix.id for fix in fixes.fixes if os.path.realpath(fix.path) in served])

    def _layout(self, look: FirstLook, changes: Changes) -> Layout:
        spent_s = time.monotonic() - self.request.begun
        seen = replace(look.original, ahead=max(look.original.ahead, look.changed.ahead))
        return layout(self.request, seen, changes, spent_s=spent_s, at_once=self.side_by_side())

    def _rounds_of(self, planned: Layout, look: FirstLook) -> Rounds:
        seen = look.original
        on_gpu = seen.device == "cuda"
        room = self.room(seen)
        groups = rotations(planned.variants, room=room)
        return Rounds(
            self.jobs,
            self.workspace,
            planned.plan,
            planned.variants,
            anchor=look.anchor,
            rotations=groups,
            ranks=seen.processes,
            serial_warmup=on_gpu,
            one_at_a_time=room < len(groups[0]),
            extends_warmup=self.request.warmup is None,
            timeout_s=self.patience_s(seen.step_s * (planned.plan.steps + 2)),
            clash="" if look.own_network else look.clash,
        )

    def _judge_of(
        self, rounds: Rounds, look: FirstLook, measured: tuple[str, ...], planned: Layout
    ) -> Judge:
        fixes = self.subject.fixes
        gpu_only = {fix.id for fix in fixes.fixes if fix.needs_gpu} if fixes else set()
        return Judge(
            rounds,
            self.request.design,
            measured,
            per_fix=self.request.per_fix and not planned.narrowed,
            gpu_only=frozenset(gpu_only),
            on_gpu=look.original.device == "cuda",
        )

    def _count_if_there_is_room(self, after_s: float) -> None:
        """Count what a step does, once.

        Args:
            after_s: what else has to fit.
        """
        planned, look = self._planned, self.first_look
        assert planned is not None
        assert look is not None
        if not self._is_counted and self._has_room_to_count(planned, look, after_s):
            self._is_counted = True
            self._count(planned.plan, compared(planned.variants), look)

    def _has_room_to_count(self, planned: Layout, look: FirstLook, after_s: float) -> bool:
        """Whether there is time to count what a step does.

        Args:
            after_s: what else has to fit.
        """
        seconds, deadline = self._to_count_s(planned, look), self.workspace.deadline
        if not seconds:
            return False
        if self.request.must_count or deadline is None:
            return True
        return time.monotonic() + seconds + after_s <= deadline

    def _to_count_s(self, planned: Layout, look: FirstLook) -> float:
        """Seconds that it probably takes to count what a step does; 0: it cannot be counted."""
        steps = CountedSteps.of(planned.plan, look.original)
        programs = 2 + len(compared(planned.variants))
        return steps.seconds(look.original, programs, self._at_once(look)) if steps else 0.0

    def _with_counting(self, planned: Layout, look: FirstLook) -> Layout:
        """The layout with the time for that, if there is room."""
        if not self._has_room_to_count(planned, look, planned.needed.first_verdict):
            return planned
        counted = self._to_count_s(planned, look)
        return replace(planned, needed=replace(planned.needed, counted=counted))

    def _count(self, plan: DeclaredPlan, variants: Sequence[Variant], look: FirstLook) -> None:
        """What a step of each of these programs does, and of the original."""
        steps = CountedSteps.of(plan, look.original)
        if steps is None:
            return
        self._watcher.stage("Counting what a step does")
        self._counters, failed = count(
            self.jobs,
            self.workspace,
            variants,
            steps,
            anchor=look.anchor,
            at_once=self._at_once(look),
            timeout_s=self.patience_s(look.original.step_s * (steps.skip + steps.steps)),
        )
        if failed:
            which, said = failed[0].name, failed[0].message
            self._notes.append(f"A run that counted what a step does failed ({which}): {said}")

    def _at_once(self, look: FirstLook) -> int:
        """Runs that go side by side where nothing is timed."""
        clashes = look.clash or (self._rounds and self._rounds.clash)
        return 1 if look.original.device == "cuda" or clashes else self.side_by_side()

    def _recorder_of(
        self, planned: Layout, look: FirstLook, changes: Changes, rounds: Rounds
    ) -> VariantRecorder:
        plan = planned.plan
        return VariantRecorder(
            self.jobs,
            self.workspace,
            plan,
            look.anchor,
            compared(planned.variants),
            at_once=self._at_once(look),
            timeout_s=self.patience_s(
                look.original.step_s * (plan.numeric_first + plan.numeric_steps)
            ),
            places=changes.places(),
        )

    def _compare(self, variants: Sequence[Variant]) -> None:
        """How the numbers of these variants compare with the original's."""
        recorder, rounds = self._recorder, self._rounds
        if recorder is None or rounds is None:
            return
        self._watcher.stage("Comparing the numbers", of=None)
        declared = {each.name: self.subject.may_change(each) for each in variants}
        for name, found in compare(recorder.run, declared):
            if name not in self._numerics:
                found = tolerated(found, self.request.tolerance)
                if self.subject.fixes is None and self.request.tolerance is None:
                    self._notes += filter(None, [offered(found)])
                self._numerics[name] = found
                self._watcher.numbers(name, found)
        if recorder.clash:
            rounds.run_apart(recorder.clash)

    # what is told meanwhile ----------------------------------------------------------------

    def _progress(self, done: int, total: int) -> None:
        """Before each round."""
        if self._judge is not None and 0 < done < total and CHANGED not in self._told:
            self._watcher.so_far(self._judge.total())
        self._watcher.step(done, total)

    def _goes_on(self) -> bool:
        """The whole change has its verdict, and each fix is next, if there is the time."""
        planned, rounds, judge = self._planned, self._rounds, self._judge
        assert planned is not None
        assert rounds is not None
        assert judge is not None
        self._tell({CHANGED: judge.total()})
        alone = [each for each in compared(planned.variants) if each.name != CHANGED]
        needed_s = 0.0
        if alone:
            programs = len(planned.variants) - 1  # without the original, once more
            needed_s = rounds.plan.looks[0] * rounds.seconds_of(programs)
            needed_s += planned.needed.parts if self._recorder else 0.0
        self._count_if_there_is_room(needed_s)
        if not alone:
            self._watcher.stage("Measuring pairs", of=rounds.plan.looks[-1])
            return True
        deadline = self.workspace.deadline
        if deadline is not None and time.monotonic() + needed_s > deadline:
            spent_s = time.monotonic() - self.request.begun
            self._planned = replace(planned, narrowed=True, enough_s=spent_s + SPARE * needed_s)
            judge.leave_parts_out()
            self._watcher.room(self._planned)
            return False
        self._compare(alone)
        self._watcher.stage("Measuring each fix", of=rounds.plan.looks[-1])
        return True

    def _undecided(self) -> bool:
        judge = self._judge
        assert judge is not None
        self._tell({CHANGED: judge.total(), **(judge.alone() if len(judge.ids) > 1 else {})})
        return judge.undecided()

    def _tell(self, found: Mapping[str, Comparison]) -> None:
        """Verdicts that are new, as soon as they are known."""
        for name, each in found.items():
            if each.estimate is None or self._told.get(name) is each.verdict:
                continue
            if name == CHANGED or each.verdict is not Verdict.UNRESOLVED:
                self._told[name] = each.verdict
                self._watcher.judged(name, each)


def without_a_fix(findings: Sequence[Finding], main: str) -> list[str]:
    """What `check` finds and why it has no fix; what is in the script itself comes first."""
    ordered = sorted(findings, key=lambda each: os.path.realpath(each.path) != main)
    files = []
    for finding in ordered[:_MOST_UNFIXED]:
        why = finding.withheld or ("its fix is not safe" if finding.fix else "its rule has none")
        place = f"{finding.path}:{finding.start.row}"
        files.append(f"{finding.code} {finding.name} at {place} has no fix: {why}")
    left = len(ordered) - len(files)
    return files + (
        [f"{left} more findings have no fix; `torchlint check` lists them."] if left else []
    )


def beside_and_not_alone(clash: str) -> str:
    """The beginning of a sentence."""
    return f"A run failed next to another one and not alone ({clash.rstrip('.')})"


def remarks(rounds: Rounds) -> list[str]:
    """What a reader has to know about how it was measured."""
    sentences = []
    if rounds.one_at_a_time:
        why = "The memory does not hold the programs side by side"
        if rounds.clash:
            why = beside_and_not_alone(rounds.clash)
        sentences.append(
            f"{why}, so they were measured one after the other; changes of the machine in between "
            "widen the intervals."
        )
    unsteady, runs = rounds.unsteady()
    if unsteady > _MUCH_UNSTEADY * runs:
        sentences.append(
            f"{unsteady} of {runs} runs were still changing their pace while they were measured "
            f"(after {rounds.plan.warmup} steps of warm-up); a longer --warmup may narrow the "
            "intervals."
        )
    throttled, blocks = rounds.throttled()
    if throttled:
        sentences.append(
            f"The GPU's clock was held back in {throttled} of {blocks} blocks; heat, its power "
            "limit or other work does that."
        )
    return sentences

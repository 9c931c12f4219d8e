"""One profile from the first look to the result."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.jobs import Watcher
from torchlint.experiment.plan import declare
from torchlint.experiment.session import OUT_OF_TIME
from torchlint.experiment.subject import ORIGINAL, Variant
from torchlint.profile.evidence import Evidence, Timing, Window
from torchlint.profile.functions import MODULE, Functions
from torchlint.profile.kinds.recompile import recompiles
from torchlint.profile.kinds.recomputed import recomputes
from torchlint.profile.kinds.subnormal_numbers import has_subnormals
from torchlint.profile.kinds.thread_oversubscription import has_pools
from torchlint.profile.planned_runs import (
    ONE_THREAD,
    WITHOUT_CHECKPOINTS,
    WITHOUT_RECOMPILING,
    WITHOUT_SUBNORMALS,
    left_out,
    plan,
)
from torchlint.profile.profile_result import NOT_REACHED
from torchlint.profile.profile_session import ProfileSession
from torchlint.profile.ranks import ranks_of
from torchlint.profile.run_findings import Judged, as_static, facts_of, judge, unjudged
from torchlint.profile.step_limit import first_limit, lanes_of, limit_of
from torchlint.profile.step_timeline import spans_of, typical
from torchlint.profile.sweep import Sweep, sweep
from torchlint.profile.timing import few_blocks, share_saved, time_steps
from torchlint.profile.watch import watch
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.failures import TIMEOUT, Failed
from torchlint.runtime.probe.run_settings import WINDOW
from torchlint.runtime.run_variables import malloc_settings
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Linted
    from torchlint.finding import Finding
    from torchlint.profile.planned_runs import DiagnosticRun, ProfilePlan
    from torchlint.profile.profile_result import Profile, RunFinding, Static
    from torchlint.profile.step_timeline import Span
    from torchlint.profile.wish import Wish
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.survey_reader import Survey

_ONLY_WHERE: Final = (
    (WITHOUT_RECOMPILING, lambda evidence: recompiles(evidence.windows)),
    (WITHOUT_CHECKPOINTS, lambda evidence: recomputes(evidence.windows)),
    (ONE_THREAD, has_pools),
    (WITHOUT_SUBNORMALS, lambda evidence: has_subnormals(evidence.windows)),
)
"""Runs that show what a step would take otherwise, and what has to have been seen before."""
_GIVE_MORE: Final = "give more with --budget-time"
_FEWEST_STEPS: Final = 3


class ProfileWatcher(Watcher, Protocol):
    """Follows the progress of a profile."""

    def planned(self, plan: ProfilePlan, step_s: float, timing_s: float) -> None: ...
    def limited(self, limit: str) -> None: ...
    def found(self, finding: RunFinding) -> None: ...


def profile(
    request: Request,
    subject: Linted,
    only: Collection[str],
    watcher: ProfileWatcher,
    wished: Wish | None = None,
    *,
    quick: bool = False,
) -> Profile:
    """Run the program several times, each time for some steps, and say what its step waits for.

    Args:
        only: names of `plan.NAMES`; all if it is empty.
        wished: values to time the step with, instead of the runs that watch it.
        quick: time the step for less long, and have the runs that show most alone.
    """
    return _Profiling(request, subject, only, watcher, wished, quick=quick).conduct()


@dataclass(slots=True)
class _Known:
    """What is known so far, so that an early end still reports it."""

    plan: ProfilePlan | None = None
    timing: Timing | None = None
    windows: dict[str, Window[Any]] = field(default_factory=dict)
    saved: dict[str, float] = field(default_factory=dict)
    certain: set[str] = field(default_factory=set)
    sweep: Sweep | None = None
    ran: set[str] = field(default_factory=set)
    costs: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


class _Profiling(ProfileSession):
    _watcher: ProfileWatcher

    def __init__(
        self,
        request: Request,
        subject: Linted,
        only: Collection[str],
        watcher: ProfileWatcher,
        wished: Wish | None,
        *,
        quick: bool = False,
    ) -> None:
        super().__init__(request, subject, watcher)
        self._wished = wished
        self._quick = quick
        self._told_of: set[tuple[str, str, int]] = set()
        self._only = only
        self._found = _Known()

    def run(self) -> None:
        look = self.look()
        seen = look.original
        self._watcher.limited(first_limit(seen))
        declared = declare(self.request, seen, ())
        if self._quick:
            declared = replace(declared, blocks=few_blocks(declared, seen.step_s))
        planned = self._found.plan = plan(
            seen,
            self._only,
            steps=self.request.steps,
            warmup=declared.warmup,
            quick=self._quick,
        )
        timed = declared.warmup + declared.blocks * (declared.steps + declared.settle)
        told = planned if self._wished is None else replace(planned, diagnostics=(), seconds=0.0)
        self._watcher.planned(told, seen.step_s, seen.start_s + 2 * timed * seen.step_s)
        self._watcher.stage("Timing the step")
        self._found.timing = time_steps(
            self.jobs,
            self.workspace,
            declared,
            anchor=look.anchor,
            ranks=seen.processes,
            twice=self.room(seen) > 1 and seen.device != "cuda",
            timeout_s=self.patience_s(seen.step_s * (declared.steps + 2)),
        )
        if self._wished is not None:
            self._sweep(self._wished, look.anchor, declared)
            return
        evidence = self._evidence()
        self._watcher.limited(limit_of(evidence, lanes_of(evidence)))
        for each in planned.diagnostics:
            self._run(each, planned, declared)
        for each, is_needed in _ONLY_WHERE:
            if is_needed(self._evidence()):
                self._run(each, planned, declared)

    def _run(self, run: DiagnosticRun, planned: ProfilePlan, declared: DeclaredPlan) -> None:
        """One run, or two that take turns; if it fails, the others still tell something."""
        self._watcher.stage(f"{'Timing' if run.alters else 'Watching'} {run.about}")
        try:
            if run.alters:
                self._alter(run, declared)
            else:
                self._watch(run, planned)
        except (Failed, ExperimentError) as failed:
            self._found.missing.append(f"{run.about} ({failed.message.rstrip('.')})")
        self._found.ran.add(run.name)
        self._tell()

    def _tell(self) -> None:
        """What is known since the last run."""
        try:
            judged = judge(self._evidence(), self.subject.findings)
        except (MalformedError, ArithmeticError):  # `result` says so
            return
        for each in judged.findings:
            key = each.code, each.path, each.row
            if key not in self._told_of:
                self._told_of.add(key)
                self._watcher.found(each)

    def _evidence(self) -> Evidence:
        seen, so_far = self._seen, self._found
        assert so_far.timing is not None
        return Evidence(
            seen,
            so_far.timing,
            dict(so_far.windows),
            dict(so_far.saved),
            processors() if self.jobs.nodes is None else self.jobs.nodes.processors,
            seen.processes,
            self.request.nodes,
            frozenset(so_far.ran),
            frozenset(so_far.certain),
        )

    def _sweep(self, wished: Wish, anchor: Anchor, declared: DeclaredPlan) -> None:
        """Time the step with each value; if a run fails, the time of the step is still known."""
        what = wished.option or "workers"
        self._watcher.stage(f"Trying {what} {', '.join(map(str, wished.values))}")
        seen = self._seen
        try:
            self._found.sweep = sweep(
                wished,
                self.jobs,
                self.workspace,
                declared,
                anchor=anchor,
                argv=self.request.program.argv,
                ranks=seen.processes,
                timeout_s=self.patience_s(len(wished.values) * seen.step_s * declared.warmup),
            )
        except Failed as failed:
            self._found.missing.append(f"{what} ({failed.message.rstrip('.')})")

    def _watch(self, run: DiagnosticRun, planned: ProfilePlan) -> None:
        """One run with its instruments.

        Raises:
            Failed: the script failed, or ended before its window.
        """
        seen, timing = self._seen, self._found.timing
        assert timing is not None
        steps = run.steps(planned.steps)
        job = self.jobs.job(
            Variant(ORIGINAL),
            WINDOW,
            anchor=seen.anchor,
            instruments=run.instruments,
            skip=0 if run.from_start else planned.skip,
            steps=steps,
        )
        if run.own_malloc:
            job = replace(job, environment=_without_malloc(job.environment))
        expected_s = seen.step_s * (planned.skip + steps)
        windows = watch(job, self.workspace, timeout_s=self.patience_s(expected_s))
        if min((each.steps for each in windows.values()), default=0) < _FEWEST_STEPS:
            self._found.missing.append(f"{run.about} (the script ended after too few steps)")
            return
        self._found.windows.update(windows)
        if run.from_start:  # it has other things to do than steps
            return
        window = next(iter(windows.values()))
        self._found.costs[run.about] = window.step_s / timing.step_s

    def _alter(self, run: DiagnosticRun, declared: DeclaredPlan) -> None:
        """The program with something of a step left out, next to the program as it is.

        Raises:
            Failed: one of them failed.
            ExperimentError: one ended before a block was measured.
        """
        seen, timing = self._seen, self._found.timing
        assert seen.anchor is not None
        assert timing is not None
        for instrument in run.instruments:
            saved = share_saved(
                self.jobs,
                self.workspace,
                declared,
                instrument,
                anchor=seen.anchor,
                ranks=seen.processes,
                step_s=timing.step_s,
                beside=self.room(seen) > 1,
                tested=run.tested,
                timeout_s=self.patience_s(seen.step_s * (declared.steps + 2)),
            )
            if saved is None:
                why = "this version of torch cannot, or this processor"
                self._found.missing.append(f"{run.about} ({why})")
                return
            self._found.saved[instrument], is_certain = saved
            if is_certain:
                self._found.certain.add(instrument)

    @property
    def _seen(self) -> Survey:
        assert self.survey is not None
        return self.survey

    def failed(self, failed: Failed) -> tuple[str, int]:
        if failed.status == TIMEOUT:
            return f"The script hung while it was timed: {failed.message}", OUT_OF_TIME
        return f"The script failed while it was timed: {failed.message}{failed.below}", 4

    def late(self) -> None:
        """The time budget is over. What was watched until then is a result; a step that was not
        timed, or not with the values that were to be tried, does not count."""
        so_far, planned, wished = self._found, self._found.plan, self._wished
        ended = f"The budget of {self.request.budget_s:g} s ended before"
        if so_far.timing is None:
            why = f" ({self.doing})" if self.doing else ""
            self.fail(f"{ended} the script's step was timed{why}; {_GIVE_MORE}.", OUT_OF_TIME)
        elif wished is not None:
            what = wished.option or "workers"
            so_far.missing.append(f"{what} (the time ended)")
            self.fail(f"{ended} the values of {what} were tried; {_GIVE_MORE}.", OUT_OF_TIME)
        runs = planned.diagnostics if planned is not None and wished is None else ()
        late = [f"{each.about} (the time ended)" for each in runs if each.name not in so_far.ran]
        so_far.missing += late
        if late and not self.summary:
            self.summary = (
                f"{ended} all was watched; `not measured` names what is missing, {_GIVE_MORE}."
            )

    def result(self) -> Profile:
        from torchlint.profile.kinds.kernel_choice import unseen
        from torchlint.profile.kinds.layer_cost import table

        so_far, seen, base = self._found, self.survey, self.without_findings()
        if seen is None or so_far.timing is None:
            return base
        evidence = self._evidence()
        lanes = lanes_of(evidence)
        trace = self._readable("time line", _trace, evidence)
        judged = self._judged(evidence)
        return replace(
            base,
            timing=so_far.timing,
            step=seen.words,
            limit="".join(self._readable("limit", lambda each: [limit_of(each, lanes)], evidence)),
            findings=judged.findings,
            census=judged.census,
            small=judged.small,
            together=judged.together,
            cut=judged.cut,
            costs=dict(so_far.costs),
            sweep=so_far.sweep,
            facts=self._readable("facts", facts_of, evidence),
            layers=self._readable("layers", table, evidence),
            ranks=self._readable("ranks", ranks_of, evidence),
            not_measured=(
                *self._readable("kernels", unseen, evidence),
                *so_far.missing,
                *self._after_the_stop(),
                *self._by_choice(),
            ),
            static=tuple(self._told((*judged.findings, *judged.census, *judged.below))),
            lanes=lanes,
            typical=typical(trace),
            trace=trace,
            watched=judged.watched,
            unwatched=unjudged(judged, self._planned()),
            below=judged.below,
            suppressed=judged.suppressed,
        )

    def _judged(self, evidence: Evidence) -> Judged:
        try:
            return judge(evidence, self.subject.findings)
        except ArithmeticError as error:  # numbers that no run counts, as no call in many seconds
            self._found.missing.append(f"what the runs sent cannot be read ({error})")
            return Judged()

    def _readable(
        self, what: str, read: Callable[[Evidence], Iterable[Any]], evidence: Evidence
    ) -> tuple[Any, ...]:
        try:
            return tuple(read(evidence))
        except (MalformedError, ArithmeticError) as error:
            self._found.missing.append(f"{what} ({error})")
            return ()

    def _planned(self) -> set[str]:
        """The instruments that were to watch."""
        runs = self._found.plan.diagnostics if self._found.plan else ()
        return {name for run in runs for name in run.instruments}

    def _after_the_stop(self) -> list[str]:
        """What was to be watched when the user ended it."""
        so_far = self._found
        if self.stopped is None or so_far.plan is None or self._wished is not None:
            return []
        left = (each for each in so_far.plan.diagnostics if each.name not in so_far.ran)
        return [f"{each.about} (stopped)" for each in left]

    def _by_choice(self) -> list[str]:
        if self._wished is not None:
            return ["anything else (left out by --sweep)"]
        planned = self._found.plan
        if planned is None:
            return []
        option = "--quick" if self._quick else "--only"
        left = left_out(self._only, quick=self._quick)
        chosen = [f"{name} (left out by {option})" for name in left]
        return [*planned.impossible, *chosen]

    def _told(self, shown: Sequence[RunFinding]) -> list[Static]:
        """Which findings of `check` are in lines that ran, and which are in lines that the first
        steps did not reach, in the script and in files with a line that was seen to run.

        Args:
            shown: what the runs have seen. Of the functions that they were in, such as an
                evaluation after the first steps, nothing is said to be not reached.
        """
        seen, findings = self._seen, self.subject.findings
        main = self.subject.program.file
        later = _Entered(shown)
        ran = [str(number) in seen.exercised for number, _ in enumerate(findings)]
        files = {each.path for each, did in zip(findings, ran, strict=True) if did}
        statics = []
        for finding, did in zip(findings, ran, strict=True):
            imported = finding.path in files or os.path.realpath(finding.path) == main
            if did or (seen.exercise_known and imported and not later.has(finding)):
                statics.append(as_static(finding, "ran" if did else NOT_REACHED))
        return statics


class _Entered:
    """The functions in which runs have seen something."""

    def __init__(self, shown: Iterable[RunFinding]) -> None:
        self._functions = Functions()
        lines = [(each.path, each.row) for each in shown if each.path]
        self._files = {os.path.realpath(path) for path, _ in lines}
        self._places = {self._place(*line) for line in lines}

    def has(self, finding: Finding) -> bool:
        """Whether a finding of `check` is in one of them."""
        is_seen = os.path.realpath(finding.path) in self._files
        return is_seen and self._place(finding.path, finding.start.row) in self._places

    def _place(self, path: str, row: int) -> tuple[str, str]:
        """The file and its function; of what is in none, the row."""
        function = self._functions.around(path, row)
        return os.path.realpath(path), str(row) if function in ("", MODULE) else function


def _trace(evidence: Evidence) -> tuple[Span, ...]:
    window = evidence.windows.get("timeline")
    return () if window is None else spans_of(window)


def _without_malloc(environment: Mapping[str, str]) -> dict[str, str]:
    settings = malloc_settings()
    return {name: value for name, value in environment.items() if name not in settings}

"""One search from the first look to a change that was measured."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import parse_torch
from torchlint.experiment.earlier_json import digests
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.figures import TIMES, duration
from torchlint.experiment.machine import environment, hardware
from torchlint.experiment.plan import declare
from torchlint.experiment.rounds import Rounds
from torchlint.experiment.session import OUT_OF_TIME, STOPPED, Session
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL, Variant
from torchlint.ruleapi.experiment import Bench
from torchlint.runtime.failures import TIMEOUT
from torchlint.tune.fate import Fate
from torchlint.tune.laboratory import Laboratory, parts_of
from torchlint.tune.search import ChangeSearch
from torchlint.tune.tune_result import TriedChange, TuneResult
from torchlint.tune.workbench import UnfitError
from torchlint.verify.judge.judging import Judge
from torchlint.verify.result import Verdict
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.request import Request
    from torchlint.fixes.fixer import FixedFile
    from torchlint.ruleapi.experiment import Device
    from torchlint.runtime.failures import Failed
    from torchlint.runtime.survey_reader import Survey
    from torchlint.tune.candidate import Candidate
    from torchlint.tune.earlier_tuning import EarlierTuning
    from torchlint.tune.tune_watcher import TuneWatcher
    from torchlint.tune.workbench import Workbench
    from torchlint.verify.result import Comparison, Noise

LOOKS: Final = (3, 6, 12)
"""Pairs of processes at each look at the whole."""
_RESERVE: Final = 0.2
"""Of the budget, for measuring the whole at the end."""
_SPARE: Final = 1.3
_WIDEST: Final = 0.2
"""An interval at the end, as a share of the logarithm of the ratio."""
_INCONCLUSIVE: Final = 3
_NO_FASTER: Final = (Verdict.SLOWER, Verdict.NEUTRAL)
_MOST_BY_HAND: Final = 6
_OLD: Final = (2, 0)
_TOO_SHORT: Final = "The budget is too short to try everything"
_NOTHING: Final = "Nothing that was tried makes this script faster."


def tune(
    request: Request,
    bench: Workbench,
    watcher: TuneWatcher,
    *,
    memory_mb: float | None = None,
    earlier: EarlierTuning | None = None,
) -> tuple[TuneResult, tuple[FixedFile, ...]]:
    """Search for the changes that make a program faster, and measure them together.

    Args:
        memory_mb: a program that takes more is left out; None: any.
        earlier: an earlier search; what did not help in it is not tried again.

    Returns:
        what was found, and the files with what is kept.
    """
    tuning = _Tuning(request, bench, watcher, memory_mb, earlier)
    return tuning.conduct(), tuning.files


class _Tuning(Session["Workbench", TuneResult]):
    _watcher: TuneWatcher

    def __init__(
        self,
        request: Request,
        bench: Workbench,
        watcher: TuneWatcher,
        memory_mb: float | None,
        earlier: EarlierTuning | None,
    ) -> None:
        super().__init__(request, bench, watcher)
        self._memory_mb = memory_mb
        self._earlier = earlier
        self._lab: Laboratory | None = None
        self._search: ChangeSearch | None = None
        self._rounds: Rounds | None = None
        self._judge: Judge | None = None
        self._is_cut_short = False
        self._last_s = 0.0
        self._searched_s = 0.0
        self.files: tuple[FixedFile, ...] = ()

    def run(self) -> None:
        look = self.look()
        seen = look.original
        self._require_memory(seen)
        self.subject = self.subject.on(_bench_of(seen, self.request))
        self.jobs = self.jobs_for(self.subject)
        if self._earlier is not None:
            self._earlier.require_the_same(environment(self.jobs, seen))
        lab = self._lab = self._laboratory(look)
        reached = [each for each in self.subject.candidates if _may_run(each, look)]
        search = self._search = ChangeSearch(
            reached, lab, parts_of(seen), memory_mb=self._memory_mb, told=self._watcher.tried
        )
        settled = self._earlier.settled if self._earlier else {}
        for each in reached:
            known = settled.get(each.id)
            if known is not None and known.diff == self._diff(each):
                search.settle(each.id, known.fate, known.why, known.alone)
        search.run()
        self._searched_s = time.monotonic() - self.request.begun
        if search.best:
            self._confirm(look, search.best)

    def _require_memory(self, seen: Survey) -> None:
        """
        Raises:
            ExperimentError: the script by itself takes more memory than programs may.
        """
        takes_mb = seen.memory_mb if seen.gpu_mb is None else seen.gpu_mb
        if self._memory_mb is not None and takes_mb > self._memory_mb:
            raise ExperimentError(
                f"The script itself takes {takes_mb:.0f} MB; give it more with --memory."
            )

    def _laboratory(self, look: FirstLook) -> Laboratory:
        seen = look.original
        free = min(self.side_by_side(), self.room(seen))
        at_once = 1 if seen.device == "cuda" else max(1, free)
        return Laboratory(
            self.request,
            self.subject,
            self.jobs,
            self.workspace,
            look,
            self._watcher,
            until=self._search_until(look),
            room=self.room(seen),
            at_once=at_once,
            patience_s=self.patience_s(0.0),
        )

    def _search_until(self, look: FirstLook) -> float | None:
        """When the search has to end, so that the whole can be measured."""
        budget_s = self.request.budget_s
        if budget_s is None:
            return None
        plan = declare(self.request, look.original, ())
        steps = plan.warmup + plan.blocks * (plan.steps + plan.settle)
        round_s = 3 * (look.original.start_s + steps * look.original.step_s)
        self._last_s = _SPARE * LOOKS[0] * round_s
        return self.request.begun + _share_of_search(budget_s, self._last_s)

    def _confirm(self, look: FirstLook, best: tuple[str, ...]) -> None:
        """The original, itself again and the program with all that is kept, as `verify` does."""
        assert self._lab is not None
        if best not in self._lab.surveys:
            self._lab.until = None  # the search is over
            self._lab.attempt([best])  # what its steps consist of
        both = self._lab.steady([(), best])
        variants = (Variant(ORIGINAL), Variant(AGAIN), Variant(CHANGED, best))
        request = replace(self.request, design=replace(self.request.design, looks=LOOKS))
        rounds = self._rounds = Rounds(
            self.jobs,
            self.workspace,
            declare(request, both, variants),
            variants,
            anchor=look.anchor,
            rotations=(tuple(each.name for each in variants),),
            ranks=both.processes,
            serial_warmup=both.device == "cuda",
            one_at_a_time=self.room(look.original) < len(variants),
            extends_warmup=request.warmup is None,
            timeout_s=self.patience_s(0.0),
        )
        judge = self._judge = Judge(
            rounds,
            request.design,
            best,
            per_fix=False,
            gpu_only=frozenset(),
            on_gpu=both.device == "cuda",
        )
        self._watcher.stage("Measuring all that is kept together", of=LOOKS[-1])
        self._is_cut_short = rounds.measure(
            lambda: _is_open(judge), deadline=self.workspace.deadline, progress=self._progress
        )

    def _progress(self, done: int, total: int) -> None:
        if done and self._judge is not None:
            self._watcher.so_far(self._judge.total())
        self._watcher.step(done, total)

    # how it ends ---------------------------------------------------------------------------

    def failed(self, failed: Failed) -> tuple[str, int]:
        if failed.status == TIMEOUT:
            return f"A run of the {failed.name} program hung: {failed.message}", OUT_OF_TIME
        code = 4 if failed.name in (ORIGINAL, AGAIN) else 5
        return f"A run failed (the {failed.name} program): {failed.message}{failed.below}", code

    def late(self) -> None:
        if self._search is None:
            why = f" ({self.doing})" if self.doing else ""
            self.fail(
                f"The budget of {self.request.budget_s:g} s ended before the script had shown its "
                f"first steps{why}; give more with --budget.",
                OUT_OF_TIME,
            )

    def result(self) -> TuneResult:
        from torchlint.runtime.sandbox.side_effects import collect

        look, search, lab = self.first_look, self._search, self._lab
        seen = look.original if look else None
        best = search.stop() if search else ()
        noise, total = self._judged(best)
        code, summary = self._conclusion(noise, total)
        if search is not None and total is not None and _is_no_faster(total):
            ratio = f"{TIMES}{total.estimate.ratio:.2f}" if total.estimate else "no faster"
            search.give_up(f"{ratio} in more pairs, with all that looked faster")
            best, total = (), None
        after = lab.surveys.get(best) if lab and best else seen
        if code == 0 and total is not None and total.verdict is Verdict.CONFIRMED:
            self.files = self.subject.fixed_files(best)
        return TuneResult(
            argv=self.subject.program.words,
            environment=environment(self.jobs, seen),
            step=seen.words if seen else "",
            total=total,
            noise=noise,
            changes=self._changes(),
            exit=code,
            parts=(_parts(seen), _parts(after)),
            memory_mb=_memory(seen, after),
            first_s=_first_s(seen, after),
            diff=self.subject.diff(best) if best else "",
            summary=summary,
            notes=(*self.subject.fixes.left_out, *self._notes()),
            by_hand=self._by_hand(),
            side_effects=collect(self.workspace.folders(), self.subject.program.root),
            sources=digests(sorted(map(os.path.relpath, seen.files))) if seen else {},
            budget_s=self.request.budget_s,
        )

    def _judged(self, best: tuple[str, ...]) -> tuple[Noise | None, Comparison | None]:
        judge, lab = self._judge, self._lab
        if judge is None or lab is None:
            return None, None
        noise = judge.noise()
        total = replace(judge.total(), numerics=lab.numerics.get(best))
        return noise, total if noise is not None else None

    def _conclusion(self, noise: Noise | None, total: Comparison | None) -> tuple[int, str]:
        if self.stopped is not None:
            return self.stopped, STOPPED
        if self.code or self.summary:
            return self.code, self.summary
        search = self._search
        if search is None or not search.best:
            return self._nothing(search)
        if total is None or total.estimate is None:
            return OUT_OF_TIME, (
                "The budget ended before the changes were measured together; give more with "
                "--budget."
            )
        if _is_no_faster(total):
            return self._nothing(search)
        if self._is_cut_short and total.verdict is Verdict.UNRESOLVED:
            return OUT_OF_TIME, (
                "The budget ended before it was certain whether the changes help together; give "
                "more with --budget."
            )
        if noise is not None and not noise.fit:
            return _INCONCLUSIVE, f"No verdict on speed: {noise.why}."
        if total.verdict is Verdict.CONFIRMED:
            return 0, ""
        return _INCONCLUSIVE, (
            "What looked faster is not certain to be; give more time with --budget."
        )

    def _nothing(self, search: ChangeSearch | None) -> tuple[int, str]:
        """Nothing is kept: of what was tried, or of all there is."""
        if search is None or not search.is_late:
            return 0, _NOTHING
        if not search.lacked_s:
            return OUT_OF_TIME, f"{_TOO_SHORT}; give more with --budget."
        enough = enough_minutes(self._searched_s + search.lacked_s, self._last_s)
        return OUT_OF_TIME, (
            f"{_TOO_SHORT}: what comes next takes about {duration(search.lacked_s)}, for which "
            f"--budget {enough}m would probably do."
        )

    def _changes(self) -> tuple[TriedChange, ...]:
        search = self._search
        if search is None:
            return ()
        found = []
        for each in self.subject.candidates:
            tried = search.tried.get(each.id)
            place = each.finding
            found.append(
                TriedChange(
                    each.id,
                    each.name + (f" {each.option}" if each.option else ""),
                    each.message,
                    each.fix.path,
                    place.start.row,
                    tried.outcome if tried else Fate.NOT_RUN,
                    tried.why if tried else "",
                    _ratio(tried.alone if tried else None),
                    _ratio(tried.adds if tried else None),
                    tried.ceiling if tried and math.isfinite(tried.ceiling) else None,
                    each.fix.may_change,
                    self._numbers((each.id,)),
                    self._diff(each),
                )
            )
        order = list(Fate)
        return tuple(
            sorted(
                found,
                key=lambda each: (order.index(each.outcome), -(each.adds or each.alone or 0.0)),
            )
        )

    def _diff(self, candidate: Candidate) -> str:
        try:
            return self.subject.diff((candidate.id,))
        except UnfitError:  # its attempt says so
            return ""

    def _numbers(self, program: tuple[str, ...]) -> str:
        lab = self._lab
        numerics = lab.numerics.get(program) if lab else None
        if lab is None or numerics is None:
            return ""
        return lab.accepted.get(program) or numerics.agreement.value

    def _by_hand(self) -> tuple[str, ...]:
        """What `check` finds, without a fix or an experiment, in files that the script loads; what
        is the same at several places, once."""
        look = self.first_look
        loaded = set(look.original.files) if look else set()
        found: dict[tuple[str, str], str] = {}
        for each in sorted(self.subject.fixes.unfixed, key=lambda one: one.by_effect):
            if os.path.realpath(each.path) in loaded and not self.subject.covers(
                each.code, each.path
            ):
                place = f"{each.code} {each.path}:{each.start.row}  {each.message}"
                found.setdefault((each.code, each.message), place)
        return tuple(found.values())[:_MOST_BY_HAND]

    def _notes(self) -> list[str]:
        lab, search = self._lab, self._search
        if lab is None or search is None or not search.best:
            return []
        accepted = lab.accepted.get(search.best)
        return [f"Numbers differ as declared: {accepted}."] if accepted else []


def _share_of_search(budget_s: float, last_s: float) -> float:
    """Seconds of a budget for the search; the rest is for measuring what is kept.

    Args:
        last_s: how long that takes at least.
    """
    return budget_s - min(max(_RESERVE * budget_s, last_s), budget_s / 2)


def enough_minutes(search_s: float, last_s: float) -> int:
    """The least budget, in whole minutes, that has so many seconds for the search.

    Args:
        last_s: see `_share_of_search`.
    """
    minutes = max(1, math.ceil(search_s / 60))
    while _share_of_search(60.0 * minutes, last_s) < search_s:
        minutes += 1
    return minutes


def _is_no_faster(total: Comparison) -> bool:
    """Whether it is certain that the whole is not faster."""
    if total.verdict in _NO_FASTER:
        return True
    return total.estimate is not None and 0 < total.estimate.strict[1] <= 1


def _is_open(judge: Judge) -> bool:
    """Whether the next look may settle something, or tell better how much faster it is."""
    total = judge.total()
    estimate = total.estimate
    if _is_no_faster(total):
        return False
    if judge.undecided() or estimate is None:
        return True
    low, high = estimate.ci
    return low <= 0 or math.log(high / low) > _WIDEST * max(_WIDEST, math.log(estimate.ratio))


def _bench_of(seen: Survey, request: Request) -> Bench:
    here = processors()
    device: Device = "cuda" if seen.device == "cuda" else "cpu"
    torch = parse_torch(hardware().torch.partition("+")[0]) or _OLD
    return Bench(device, max(1, here // request.nproc), torch)


def _may_run(candidate: Candidate, look: FirstLook) -> bool:
    """Whether a line of a candidate ran, or may have; of experiments, whether the file did."""
    if candidate.experiment is not None:
        return os.path.realpath(candidate.fix.path) in look.original.files
    places = range(len(candidate.fix.findings))
    return look.ran(f"{candidate.id}:{number}" for number in places) is not False


def _parts(seen: Survey | None) -> dict[str, float]:
    return {} if seen is None else seen.lanes.medians(min(seen.warm, max(0, len(seen.times) - 1)))


def _memory(before: Survey | None, after: Survey | None) -> tuple[float, float] | None:
    if before is None or after is None:
        return None
    if before.gpu_mb is not None and after.gpu_mb is not None:
        return before.gpu_mb, after.gpu_mb
    return before.memory_mb, after.memory_mb


def _first_s(before: Survey | None, after: Survey | None) -> tuple[float, float] | None:
    if before is None or after is None or not before.times or not after.times:
        return None
    return before.start_s + before.times[0], after.start_s + after.times[0]


def _ratio(log: float | None) -> float | None:
    return None if log is None else math.exp(log)

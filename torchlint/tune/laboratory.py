"""Runs programs for the search: whether they work, how fast they are, what they compute."""

from __future__ import annotations

import math
import random
import time
from dataclasses import asdict, replace
from functools import cached_property, partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.plan import declare, shorter
from torchlint.experiment.rotation import rotate
from torchlint.experiment.side_by_side import attempts
from torchlint.experiment.subject import ORIGINAL, Variant
from torchlint.runtime.failures import FINISHED, TIMEOUT, Failed
from torchlint.runtime.probe.run_settings import MEASURE, SURVEY
from torchlint.runtime.survey_reader import survey
from torchlint.tune.lab import Attempt, NoTimeError
from torchlint.tune.workbench import UnfitError
from torchlint.verify.numbers.agreement import (
    DRAWS,
    RANDOM,
    REALIGNED,
    SEEDED,
    RunRequest,
    compare,
)
from torchlint.verify.numbers.recorder import VariantRecorder
from torchlint.verify.numbers.tolerance import move_in_words, moved_by
from torchlint.verify.result import Agreement, Numerics
from torchlint.verify.time_budget import seconds_of_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.request import Request
    from torchlint.experiment.rotation import Block
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.survey_reader import Survey
    from torchlint.runtime.workspace import Workspace
    from torchlint.tune.tune_watcher import TuneWatcher
    from torchlint.tune.workbench import Workbench
    from torchlint.verify.numbers.traces import Trace

    Program = tuple[str, ...]

PAIRS: Final = 2
_MOST_BLOCKS: Final = 6
_STARTS: Final = 8
"""Of a program, until it is kept."""
_LEAST_COMPILING_S: Final = 20.0
_MOST_OTHERS: Final = 6
"""Programs that take turns with one base."""


def variant(program: Program) -> Variant:
    """The form of a program for its runs."""
    return Variant(f"with {', '.join(program)}" if program else ORIGINAL, program)


class Laboratory:
    """See `lab.Lab`. Nothing begins that would probably end after `until`, by
    `time.monotonic`.

    Args:
        room: how many programs the memory holds side by side.
        patience_s: how long a run may be silent.

    Attributes:
        surveys: of each program that was attempted and works.
        numerics: of each program whose numbers were compared.
        accepted: why a program was accepted whose numbers differ.
        pace_s: seconds that one program takes in one pair, the longest so far.
    """

    def __init__(
        self,
        request: Request,
        bench: Workbench,
        jobs: Jobs,
        workspace: Workspace,
        look: FirstLook,
        watcher: TuneWatcher,
        *,
        until: float | None,
        room: int,
        at_once: int,
        patience_s: float,
    ) -> None:
        self.surveys: dict[Program, Survey] = {(): look.original}
        self.numerics: dict[Program, Numerics] = {}
        self.accepted: dict[Program, str] = {}
        self.pace_s = 0.0
        self.until = until
        self._begun = time.monotonic()
        self._request = request
        self._bench = bench
        self._jobs = jobs
        self._workspace = workspace
        self._look = look
        self._watcher = watcher
        self._room = room
        self._at_once = at_once
        self._patience_s = patience_s
        self._random = random.Random(request.seed)  # noqa: S311 - an order, not a secret
        self._recorder: VariantRecorder | None = None
        self._broken: set[Program] = set()
        self._levels: set[int] = set()
        self._apart = room < 2
        self._attempts_s: list[float] = []

    @property
    def anchor(self) -> Anchor:
        return self._look.anchor

    @property
    def left(self) -> float:
        if self.until is None:
            return 1.0
        return (self.until - time.monotonic()) / max(1e-9, self.until - self._begun)

    # whether it works ----------------------------------------------------------------------

    def attempt(self, programs: Sequence[Program]) -> list[Attempt | None]:
        """Run each for some steps, several side by side."""
        found = {
            each: self._told(each, self.surveys[each]) for each in programs if each in self.surveys
        }
        new = [each for each in programs if each not in found]
        if not new:
            return [found[each] for each in programs]
        self._require_s(self._attempt_s())
        self._watcher.stage("Trying changes", of=None)
        runs: dict[Program, Job] = {}
        for program in new:
            try:
                runs[program] = self._jobs.job(variant(program), SURVEY)
            except UnfitError as error:
                found[program] = Attempt(str(error), unfit=True)
        for few in _chunks(list(runs), self._at_once):
            if self._is_late(self._attempt_s()):
                break
            begun = time.monotonic()
            limit_s = self._compiling_s() if self._compile(few) else math.inf
            seen = attempts(
                partial(self._survey, compiling_s=limit_s),
                [runs[each] for each in few],
                self._workspace,
                at_once=self._at_once,
            )
            for program, each in zip(few, seen, strict=True):
                if isinstance(each, Failed) and len(few) > 1 and each.status != TIMEOUT:
                    each = self._alone(runs[program], limit_s)
                found[program] = self._told(program, each, limit_s)
            self._attempts_s.append(time.monotonic() - begun)
        return [found.get(each) for each in programs]

    def unfit(self, program: Program) -> str:
        try:
            self._bench.files(program)
        except UnfitError as error:
            return str(error)
        return ""

    def affordable(self, programs: Sequence[Program], waiting: Sequence[Program]) -> int:
        if self.until is None:
            return len(programs)
        pace_s = self._pace_s()
        each_s = self._attempt_s() / self._at_once + PAIRS * pace_s
        dearest = max(programs, key=lambda each: bool(self._bench.may_change(each)))
        rest_s = PAIRS * pace_s + self._numbers_s([*waiting, dearest])
        self._require_s(rest_s + each_s)
        fit = int((self.until - time.monotonic() - rest_s) / each_s)
        return max(1, min(len(programs), fit))

    def _pace_s(self) -> float:
        """Seconds that one program takes in one pair."""
        if self.pace_s:
            return self.pace_s
        seen, plan = self._look.original, self._plan
        blocks = min(plan.blocks, _MOST_BLOCKS)
        steps = plan.warmup + blocks * (plan.steps + plan.settle)
        return seen.start_s + steps * seen.step_s

    @cached_property
    def _plan(self) -> DeclaredPlan:
        return declare(self._request, self._look.original, ())

    def _attempt_s(self) -> float:
        """Seconds of an attempt, most of which do not compile."""
        seen = self._look.original
        return median(self._attempts_s or [seen.start_s + sum(seen.times)])

    def _alone(self, job: Job, limit_s: float) -> Survey | Failed:
        look = partial(self._survey, compiling_s=limit_s)
        return attempts(look, [job], self._workspace, at_once=1)[0]

    def _compile(self, programs: Sequence[Program]) -> bool:
        return any(self._compiles(each, ()) for each in programs)

    def _survey(self, job: Job, compiling_s: float) -> Survey:
        return survey(job, self._workspace, timeout_s=self._patience_s, compiling_s=compiling_s)

    def _compiling_s(self) -> float:
        """How long a program may compile: what is worth trying is started several times more."""
        left_s = math.inf if self.until is None else self.until - time.monotonic()
        return max(_LEAST_COMPILING_S, left_s / _STARTS) + self._attempt_s()

    def _told(self, program: Program, seen: Survey | Failed, limit_s: float = math.inf) -> Attempt:
        if isinstance(seen, Failed):
            late = seen.status == TIMEOUT and limit_s < self._patience_s
            why = "it compiles longer than the budget allows" if late else seen.message
            return Attempt(why, late=late)
        if seen.anchor != self.anchor:
            return Attempt(f"it takes other steps ({seen.words or 'none'})")
        if seen.stream_workers > 1 >= self._look.original.stream_workers:
            return Attempt("each worker may give all samples of the iterable dataset")
        try:
            declare(self._request, seen, [variant(program)])
        except ExperimentError as error:
            return Attempt(str(error))
        self.surveys[program] = seen
        memory = seen.memory_mb if seen.gpu_mb is None else seen.gpu_mb
        return Attempt("", parts_of(seen), memory, seen.times[0] if seen.times else 0.0)

    # how fast it is ------------------------------------------------------------------------

    def measure(self, base: Program, others: Sequence[Program]) -> list[list[float] | None]:
        """In pairs of new processes that take turns; programs that compile apart from others,
        which they would let wait. Time for what has to follow is left: without their numbers, no
        programs are kept."""
        left_s = self._numbers_s(others[:1])
        groups = list(self._groups(base, others, left_s))
        logs: dict[Program, list[float]] = {}
        self._watcher.stage("Measuring changes", of=PAIRS * len(groups))
        rounds = [group for _ in range(PAIRS) for group in groups]
        for done, group in enumerate(rounds):
            self._watcher.step(done, len(rounds))
            try:
                for each, value in self._pair(base, group, left_s).items():
                    logs.setdefault(each, []).extend([] if value is None else [value])
            except NoTimeError:
                if not logs:
                    raise
                break
        return [logs.get(each) for each in others]

    def _groups(
        self, base: Program, others: Sequence[Program], left_s: float
    ) -> Iterator[list[Program]]:
        most = max(1, min(_MOST_OTHERS, self._room - 1))
        if self.until is not None:
            fit = (self.until - time.monotonic() - left_s) / (PAIRS * self._pace_s())
            most = max(1, min(most, int(fit) - 1))
        kinds = {each: self._kind(each, base) for each in others}
        for kind in sorted(set(kinds.values())):
            yield from _chunks([each for each in others if kinds[each] == kind], most)

    def _kind(self, program: Program, base: Program) -> tuple[bool, bool]:
        """Programs of another kind would let others wait, or end after fewer steps than they."""
        return self._compiles(program, base), self._bench.samples(program) != 1

    def _compiles(self, program: Program, base: Program) -> bool:
        new = set(program) - set(base)
        return any(self._bench.by_id[each].compiles for each in new)

    def _pair(
        self, base: Program, others: Sequence[Program], left_s: float
    ) -> dict[Program, float | None]:
        """One log ratio for each program; None for those that fail. All have run before, so where
        one fails next to others, they run one after the other from then on.

        Args:
            left_s: has to be left afterwards.
        """
        found: dict[Program, float | None] = {}
        left = list(others)
        while left:
            self._require_s(self._pace_s() * (1 + len(left)) + left_s)
            begun = time.monotonic()
            try:
                measured = self._rotate((base, *left))
            except Failed as failed:
                names = {variant(each).name: each for each in left}
                if failed.status == FINISHED:
                    raise
                if not self._apart:
                    self._apart = True
                    continue
                if failed.name not in names:
                    raise
                found[names[failed.name]] = None
                left.remove(names[failed.name])
                continue
            self.pace_s = max(self.pace_s, (time.monotonic() - begun) / (1 + len(left)))
            first = measured[variant(base).name]
            for each in left:
                blocks = measured[variant(each).name]
                samples = self._bench.samples(each) / self._bench.samples(base)
                found[each] = math.log(samples) + _log_ratio(first, blocks) if blocks else None
            break
        return found

    def _rotate(self, programs: Sequence[Program]) -> dict[str, tuple[Block, ...]]:
        """As many blocks of each; shorter ones where a script ends before its first."""
        variants = [variant(each) for each in programs]
        steady = self.steady(programs)
        plan = declare(self._request, steady, variants)
        while True:
            blocks: dict[str, tuple[Block, ...]] = {}
            for group in [[each] for each in variants] if self._apart else [variants]:
                jobs = {
                    each.name: self._jobs.job(each, MEASURE, anchor=self.anchor) for each in group
                }
                done = rotate(
                    jobs,
                    self._workspace,
                    warmup=plan.warmup,
                    settle=plan.settle,
                    steps=plan.steps,
                    blocks=min(plan.blocks, _MOST_BLOCKS),
                    seed=self._random.randrange(2**32),
                    timeout_s=self._patience_s,
                    serial_warmup=steady.device == "cuda",
                    ranks=steady.processes,
                )
                blocks.update(done.blocks)
            least = min(map(len, blocks.values()))
            if least or plan.steps == 1:
                return {name: each[:least] for name, each in blocks.items()}
            plan = shorter(plan)

    def steady(self, programs: Sequence[Program]) -> Survey:
        """What the first program does, with steps that all of them take at a steady pace. A
        program that was not attempted is taken for that which shares most with it."""
        seen = [self._nearest(each) for each in programs]
        return replace(
            seen[0],
            warm=max(each.warm for each in seen),
            steps=min(each.steps for each in seen),
            ahead=max(each.ahead for each in seen),
            finished=any(each.finished for each in seen),
        )

    def _nearest(self, program: Program) -> Survey:
        wanted = set(program)
        nearest = max(
            self.surveys, key=lambda each: (len(wanted.intersection(each)), -len({*each} - wanted))
        )
        return self.surveys[nearest]

    # what it computes ----------------------------------------------------------------------

    def wrong_numbers(self, programs: Sequence[Program]) -> list[str | None]:
        """Compared with the original's; a difference that was declared is accepted while the mean
        loss stays within the tolerance."""
        new = [each for each in programs if each not in self.numerics]
        while len(new) > 1 and self._is_late(self._numbers_s(new)):
            new.pop()
        try:
            if new:
                self._watcher.stage("Comparing the numbers", of=None)
                self._compare(new)
        except NoTimeError:
            if not any(each in self.numerics for each in programs):
                raise
        return [self._wrong(each) if each in self.numerics else None for each in programs]

    def _compare(self, programs: Sequence[Program]) -> None:
        recorder = self._recorder = self._recorder or self._new_recorder()
        recorder.know([variant(each) for each in programs])
        names = {variant(each).name: each for each in programs}
        while names:
            declared = {name: self._bench.may_change(each) for name, each in names.items()}
            try:
                for name, numerics in compare(self._recorded, declared):
                    self.numerics[names.get(name, ())] = numerics
                return
            except Failed as failed:
                if failed.name not in names:
                    raise
                program = names.pop(failed.name)
                why = f"it fails when they are recorded: {failed.message}"
                self.numerics[program] = Numerics(Agreement.UNKNOWN, why)
                self._broken.add(program)

    def _recorded(self, requests: Sequence[RunRequest]) -> Sequence[Trace]:
        """
        Raises:
            NoTimeError: they would end too late; what was compared before stays.
        """
        recorder = self._recorder
        assert recorder is not None
        levels = {each.level for each in requests}
        programs = {each.variant for each in requests} - {ORIGINAL}
        known = levels <= self._levels
        runs = sum(each.variant in programs or not known for each in requests)
        self._require_s(self._records_s(runs))
        traces = recorder.run(requests)
        self._levels |= levels
        return traces

    def _wrong(self, program: Program) -> str:
        found = self.numerics[program]
        if program in self._broken:
            return found.why
        differs = found.agreement is Agreement.DIFFERS
        if not differs and found.agreement is not Agreement.DECLARED:
            return ""
        declared = {self._bench.may_change((each,)) for each in program} - {""}
        rounds = {each for each in declared if RANDOM not in each}
        moved = moved_by(found)
        if differs and (rounds != declared or not rounds or found.envelope_ratio is None):
            return found.why or "they are not those of the original"
        if not rounds:
            return ""
        if moved is None or moved > (self._request.tolerance or 0.0):
            far = "" if moved is None else f": the mean loss moves by {move_in_words(moved)}"
            return f"{found.why or 'they are not those of the original'}{far}"
        self.numerics[program] = replace(found, agreement=Agreement.DECLARED)
        self.accepted[program] = f"the mean loss moves by {move_in_words(moved)}"
        return ""

    def _new_recorder(self) -> VariantRecorder:
        return VariantRecorder(
            self._jobs,
            self._workspace,
            self._plan,
            self.anchor,
            (),
            at_once=self._at_once,
            timeout_s=self._patience_s,
        )

    def _numbers_s(self, programs: Sequence[Program]) -> float:
        """Seconds that it takes to compare programs, as far as their numbers are not known: those
        that declare nothing are taken to be bitwise equal."""
        new = [each for each in dict.fromkeys(programs) if each not in self.numerics]
        if not new:
            return 0.0
        seconds = self._records_s((0 if SEEDED in self._levels else 2) + len(new))
        declared = [each for each in new if self._bench.may_change(each)]
        if declared:
            if REALIGNED not in self._levels:
                seconds += self._records_s(1) + self._records_s(DRAWS + 1)
            seconds += self._records_s(len(declared)) + self._records_s(DRAWS * len(declared))
        return seconds + self._starts_s(new) + DRAWS * self._starts_s(declared)

    def _records_s(self, runs: int) -> float:
        """Seconds of so many runs whose numbers are recorded."""
        at_once = math.ceil(runs / self._at_once)
        return at_once * seconds_of_record(self._plan, self._look.original)

    def _starts_s(self, programs: Sequence[Program]) -> float:
        """Seconds that their first steps take longer than those of the original, as to compile."""
        first = self._first_s(())
        return sum(max(0.0, self._first_s(each) - first) for each in programs)

    def _first_s(self, program: Program) -> float:
        seen = self.surveys.get(program, self._look.original)
        return seen.times[0] if seen.times else 0.0

    def _require_s(self, seconds: float) -> None:
        """
        Raises:
            NoTimeError: what takes so long would end too late.
        """
        if self._is_late(seconds):
            raise NoTimeError(seconds)

    def _is_late(self, seconds: float) -> bool:
        return self.until is not None and time.monotonic() + seconds > self.until


def parts_of(seen: Survey) -> dict[str, float]:
    """Seconds of a steady step by what they went into. On a GPU they are the host's, which says
    nothing of what the device does, so that only the wait for batches is known."""
    lanes = seen.lanes
    found = lanes.medians(min(seen.warm, max(0, len(seen.times) - 1)))
    means = {
        name: fmean(times[seen.warm :] or times) for name, times in asdict(lanes).items() if times
    }
    found = {name: max(found.get(name, 0.0), means.get(name, 0.0)) for name in means}
    if seen.device == "cpu":
        return found
    whole = sum(found.values())
    waits = found.get("data", 0.0)
    return {"data": waits} if whole and waits > 0.9 * whole else {}


def _log_ratio(base: Sequence[Block], other: Sequence[Block]) -> float:
    """The logarithm of how many times faster the other is."""
    logs = [math.log(one.seconds / two.seconds) for one, two in zip(base, other, strict=True)]
    return float(median(logs))


def _chunks(programs: Sequence[Program], most: int) -> Iterator[list[Program]]:
    for start in range(0, len(programs), max(1, most)):
        yield list(programs[start : start + max(1, most)])

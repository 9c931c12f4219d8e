"""Which of the candidates are worth to keep: each alone, then together, then what each still adds.

The search knows nothing about how programs are run. A program is the tuple of the candidates that
are made in it; a `Lab` tries programs, measures one against others, and compares their numbers.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

from torchlint.tune.fate import Fate, TriedCandidate
from torchlint.tune.lab import NoTimeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from torchlint.tune.candidate import Candidate
    from torchlint.tune.lab import Attempt, Lab

LEAST_CEILING: Final = 1.03
"""How much faster a step would have to be without the parts that a candidate speeds up."""
LEAST_GAIN: Final = 0.02
"""Of the logarithm of the time of a step, for a candidate to be worth keeping, alone and among
others: below it, the program is simpler without."""
_CLOSE: Final = 0.1
"""What gains less is measured once more, since one pair of processes differs from the next by a few
percent."""
MOST_PASSES: Final = 3
_FOR_COMPILING: Final = 0.5
"""Of the time, what is left to what compiles before the others are tried again."""
_SLICE: Final = 6
"""Candidates that are tried and measured before the next ones, so that those that promise most are
known if the time ends."""
_SHRUNK: Final = 1.25
"""What did not help is tried again once the step has become that many times faster."""
_FINAL: Final = frozenset({Fate.NUMBERS, Fate.MEMORY, Fate.FAILED, Fate.YOURS, Fate.NOT_RUN})
_MAY_HELP: Final = frozenset({Fate.KEPT, Fate.UNSETTLED, Fate.UNFIT})
_HELPED: Final = frozenset({Fate.REPLACED, Fate.REDUNDANT})


class ChangeSearch:
    """Looks for the candidates that make a program faster together.

    Args:
        candidates: those that are most likely to pay first.
        parts: seconds of a step of the original by what they go into; empty: not known.
        memory_mb: a program may take no more; None: any.

    Attributes:
        best: the fastest program that is known to be right.
        tried: what became of each candidate.
        is_late: there was no time for something.
        lacked_s: seconds of what there was no time for at the end.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        lab: Lab,
        parts: Mapping[str, float],
        *,
        memory_mb: float | None = None,
        told: Callable[[TriedCandidate], None] = lambda _: None,
    ) -> None:
        self.best: tuple[str, ...] = ()
        self.tried: dict[str, TriedCandidate] = {}
        self.is_late = False
        self.lacked_s = 0.0
        self._has_ended = False
        self._candidates = {each.id: each for each in candidates}
        self._lab = lab
        self._parts = dict(parts)
        self._memory_mb = memory_mb
        self._told = told

    def run(self) -> None:
        """Search until nothing is left to try, or there is no time."""
        try:
            for compiles in (False, True):
                for number in range(MOST_PASSES):
                    eager, compiling = self._eager_and_compiling()
                    hurries = bool(compiling) and self._lab.left < _FOR_COMPILING
                    if compiles:
                        todo = compiling if hurries else [*eager, *compiling]
                    else:
                        todo = [] if hurries and number else eager
                    if not self._pass(todo) and not (compiles and hurries):
                        break
        except NoTimeError as error:
            self._ends_for(error)
        self._note_the_rest()
        self._has_ended = True

    def settle(self, id_: str, fate: Fate, why: str, alone: float | None) -> None:
        """What is known of a candidate from an earlier search, so that it is not tried."""
        self._note(id_, fate, why, alone=alone, is_told=False)

    def stop(self) -> tuple[str, ...]:
        """The best program that is known to be right, also after an interruption."""
        if not self._has_ended:
            self.is_late = True
            self._note_the_rest()
        return self.best

    def give_up(self, why: str) -> None:
        """What was kept is not faster after all."""
        for each in self.best:
            self._note(each, Fate.NO_GAIN, why, alone=self.tried[each].alone, is_told=False)
        self.best = ()

    def _ends_for(self, error: NoTimeError) -> None:
        self.is_late = True
        self.lacked_s = error.seconds

    def _pass(self, todo: list[str]) -> bool:
        """Try these beside the best program so far; whether that made it faster."""
        if not todo:
            return False
        gains: dict[str, float] = {}
        try:
            while todo:
                few = self._fitting(todo[:_SLICE], gains)
                gains.update(self._gains(todo[:few]))
                todo = todo[few:]
        except NoTimeError as error:
            if not gains:
                raise
            self._ends_for(error)
        helpful = self._best_of_slots(gains)
        return self._combine({each: gains[each] for each in helpful}) if helpful else False

    def _eager_and_compiling(self) -> tuple[list[str], list[str]]:
        """What is worth trying; apart what lets torch compile. Each run of that starts slowly, so
        that it comes after the others, unless it would be left without time."""
        worth = self._worth_trying()
        compiling = [each for each in worth if self._candidates[each].compiles]
        return [each for each in worth if each not in compiling], compiling

    def _fitting(self, todo: Sequence[str], gains: Mapping[str, float]) -> int:
        """How many to try before the others; what compiles takes longer than anybody knows, so
        that it is tried alone."""
        eager = [each for each in todo if not self._candidates[each].compiles]
        programs = [self._with(self.best, [each]) for each in eager or todo[:1]]
        return self._lab.affordable(programs, [(each,) for each in self._strongest(gains)])

    def _strongest(self, gains: Mapping[str, float]) -> list[str]:
        """Of each slot that which gains most."""
        ordered = sorted(gains, key=lambda each: gains[each])
        return [*{self._candidates[each].slot: each for each in ordered}.values()]

    def _gains(self, todo: Sequence[str]) -> dict[str, float]:
        """Those that make the best program faster, and by how much."""
        programs = {each: self._with(self.best, [each]) for each in todo}
        alive = self._alive(programs)
        if not alive:
            return {}
        measured = self._measured(self.best, [programs[each] for each in alive])
        gains: dict[str, float] = {}
        for each, logs in zip(alive, measured, strict=True):
            if logs is None:
                self.is_late = True
                continue
            if not logs:
                self._note(each, Fate.FAILED, "it fails when it is measured")
                continue
            gain = fmean(logs)
            if gain >= LEAST_GAIN and sum(log > 0 for log in logs) > len(logs) / 2:
                if self._candidates[each].samples == 1:
                    gains[each] = gain
                    self._note(each, Fate.UNSETTLED, alone=gain, is_told=False)
                else:
                    self._note(each, Fate.YOURS, alone=gain)
            else:
                outcome = Fate.SLOWER if max(logs) < -LEAST_GAIN else Fate.NO_GAIN
                why = "the runs disagree" if gain >= LEAST_GAIN else ""
                known = self.tried.get(each)
                if known is None or known.outcome not in _HELPED:
                    self._note(each, outcome, why, alone=gain)
        return gains

    # what to try ---------------------------------------------------------------------------

    def _worth_trying(self) -> list[str]:
        """The candidates whose parts limit the step, the most promising first: what helps many
        scripts, and by how much it could help."""
        ceilings = {each: self._ceiling(self._candidates[each]) for each in self._candidates}
        todo = []
        for each in self._candidates:
            known, ceiling = self.tried.get(each), ceilings[each]
            if each in self.best or (known is not None and not self._again(known, ceiling)):
                continue
            if ceiling < LEAST_CEILING:
                if known is None:
                    self._note(each, Fate.NOT_LIMITING)
            elif self._first_way_gained(each):
                todo.append(each)

        return sorted(todo, key=lambda each: (self._candidates[each].seldom, -ceilings[each]))

    def _again(self, known: TriedCandidate, ceiling: float) -> bool:
        if known.outcome in _FINAL:
            return False
        if known.outcome is Fate.UNSETTLED:
            return True
        if known.outcome is Fate.UNFIT:
            return not self._lab.unfit(self._with(self.best, [known.id]))
        if known.outcome is Fate.NOT_LIMITING:
            return ceiling >= LEAST_CEILING
        return known.step_s > _SHRUNK * sum(self._parts.values())

    def _first_way_gained(self, each: str) -> bool:
        """Whether a way to compile may be tried: the others of its slot wait for the first, since
        each compiles anew."""
        candidate = self._candidates[each]
        first = self._first_way(candidate)
        return not candidate.compiles or first == each or first in self.best

    def _first_way(self, candidate: Candidate) -> str:
        return next(one for one, other in self._candidates.items() if other.slot == candidate.slot)

    def _ceiling(self, candidate: Candidate) -> float:
        whole = sum(self._parts.values())
        if not whole:
            return math.inf
        rest = whole - sum(self._parts.get(part, 0.0) for part in candidate.speeds)
        return whole / rest if rest > 0 else math.inf

    def _with(self, program: tuple[str, ...], more: Collection[str]) -> tuple[str, ...]:
        """A program with more candidates, in the place of those of the same slots."""
        slots = {self._candidates[each].slot for each in more}
        kept = {each for each in program if self._candidates[each].slot not in slots}
        return self._ordered({*kept, *more})

    def _ordered(self, ids: Collection[str]) -> tuple[str, ...]:
        return tuple(each for each in self._candidates if each in ids)

    # what came of it -----------------------------------------------------------------------

    def _alive(self, programs: Mapping[str, tuple[str, ...]]) -> list[str]:
        """The candidates whose programs run, in the memory that they may take."""
        alive = []
        for each, found in zip(programs, self._lab.attempt([*programs.values()]), strict=True):
            if found is None:
                self.is_late = True
            elif found.late:
                self.is_late = True
                self._note(each, Fate.NO_TIME, found.failed)
            elif found.unfit and self.best:
                if each not in self.tried:
                    self._note(each, Fate.UNFIT, found.failed)
            elif found.failed:
                worked = self.tried.get(each)
                alone = worked.alone if worked is not None else None
                fate = Fate.FAILED if alone is None else Fate.UNFIT
                self._note(each, fate, found.failed, alone=alone)
            elif self._is_heavy(found):
                self._note(each, Fate.MEMORY, f"{found.memory_mb:.0f} MB")
            else:
                alive.append(each)
        return alive

    def _is_heavy(self, found: Attempt) -> bool:
        return self._memory_mb is not None and found.memory_mb > self._memory_mb

    def _measured(
        self, base: tuple[str, ...], programs: Sequence[tuple[str, ...]], sign: int = 1
    ) -> list[Sequence[float] | None]:
        """Against the base; those that differ little from it in the direction of the sign, twice as
        often."""
        found = [*self._lab.measure(base, programs)]
        close = [
            each
            for each, logs in zip(programs, found, strict=True)
            if logs and 0 < sign * fmean(logs) < _CLOSE
        ]
        if not close:
            return found
        try:
            again = dict(zip(close, self._lab.measure(base, close), strict=True))
        except NoTimeError:
            return found
        return [
            [*(logs or ()), *(again.get(each) or ())] if logs is not None else None
            for each, logs in zip(programs, found, strict=True)
        ]

    def _best_of_slots(self, gains: Mapping[str, float]) -> list[str]:
        """The candidate of each slot that gains most and whose numbers are right."""
        slots: dict[str, list[str]] = {}
        for each in sorted(gains, key=lambda one: -gains[one]):
            slots.setdefault(self._candidates[each].slot, []).append(each)
        chosen: list[str] = []
        while slots:
            firsts = [those[0] for those in slots.values()]
            try:
                judged = self._judged(firsts)
            except NoTimeError as error:
                if not chosen:
                    raise
                self._ends_for(error)
                break
            for each, wrong in zip(firsts, judged, strict=True):
                if wrong is None:
                    continue
                slot = self._candidates[each].slot
                slots[slot].remove(each)
                if wrong:
                    self._note(each, Fate.NUMBERS, wrong, alone=gains[each])
                    if not slots[slot]:
                        del slots[slot]
                    continue
                chosen.append(each)
                for other in slots.pop(slot):
                    self._note(other, Fate.REPLACED, alone=gains[other])
        return sorted(chosen, key=lambda one: -gains[one])

    def _judged(self, ids: Sequence[str]) -> Sequence[str | None]:
        """What is wrong with the numbers of the original with each of them alone: what others
        declare does not excuse it."""
        return self._lab.wrong_numbers([(each,) for each in ids])

    def _combine(self, gains: Mapping[str, float]) -> bool:
        """Make all that help together, and leave out what then adds nothing or spoils the numbers;
        whether the program is another one than before."""
        before = self.best
        gains = self._that_go_together(before, gains)
        for each in gains:
            self._note(each, Fate.KEPT, alone=gains[each], is_told=False)
        first = next(iter(gains))
        single = self._with(before, [first])
        if not before:
            self.best = single  # its numbers were compared
        try:
            whole = self._that_runs(before, list(gains), gains)
            if len(whole) > 1:
                whole = self._needed(whole, single)
            self.best = self._with_right_numbers(whole, before)
        except BaseException:
            for each in self.best:
                self.tried[each].adds = None  # that was in another program
            raise
        self._look_at_the_best(before or single)
        self._replaced(before)
        for each in self.best:
            if each not in before:
                self._told(self.tried[each])
        return self.best != before

    def _look_at_the_best(self, instead: tuple[str, ...]) -> None:
        """Where a step of the best program goes. If what was left out has saved memory, and too
        much is taken without it, another program is the best."""
        try:
            (found,) = self._lab.attempt([self.best])
        except NoTimeError:
            return  # what was known before is a guess
        if found is None or found.failed:
            return
        if self._is_heavy(found) and self.best != instead:
            for each in set(self.best) - set(instead):
                why = f"{found.memory_mb:.0f} MB without what was left out"
                self._note(each, Fate.MEMORY, why, alone=self.tried[each].alone)
            self.best = instead
            self._look_at_the_best(instead)
        else:
            self._parts = dict(found.parts)

    def _that_go_together(
        self, before: tuple[str, ...], gains: Mapping[str, float]
    ) -> dict[str, float]:
        """Those of the candidates that can be made together, the strongest first."""
        chosen: dict[str, float] = {}
        for each, gain in gains.items():
            why = self._lab.unfit(self._with(before, [*chosen, each]))
            if why:
                self._note(each, Fate.UNFIT, why, alone=gain)
            else:
                chosen[each] = gain
        return chosen

    def _that_runs(
        self, before: tuple[str, ...], helpful: Sequence[str], gains: Mapping[str, float]
    ) -> tuple[str, ...]:
        """As many of the candidates as run together; the weakest is left out first."""
        left = list(helpful)
        while True:
            whole = self._with(before, left)
            (found,) = self._lab.attempt([whole])
            if found is None:
                raise NoTimeError
            if len(left) == 1 or not (found.failed or self._is_heavy(found)):
                return whole
            last = left.pop()
            outcome = Fate.UNFIT if found.failed else Fate.MEMORY
            why = found.failed or f"{found.memory_mb:.0f} MB with the others"
            self._note(last, outcome, why, alone=gains[last])

    def _needed(self, whole: tuple[str, ...], single: tuple[str, ...]) -> tuple[str, ...]:
        """The program without what adds nothing to it; the single one if that is faster. If there
        is no time for that, the last one that was measured."""
        known = single
        while True:
            less = {each: self._ordered(set(whole) - {each}) for each in whole}
            programs = [one for one in dict.fromkeys([single, *less.values()]) if one != whole]
            try:
                measured = dict(zip(programs, self._measured(whole, programs, -1), strict=True))
            except NoTimeError as error:
                self._ends_for(error)
                return known
            behind = measured.get(single)
            if behind and fmean(behind) > 0:
                for each in whole:
                    self.tried[each].adds = None
                    if each not in single:
                        self._note(each, Fate.REDUNDANT, alone=self.tried[each].alone)
                return single
            self.is_late |= any(logs is None for logs in measured.values())
            adds = {
                each: -fmean(logs) if (logs := measured[program]) else math.inf
                for each, program in less.items()
            }
            for each, value in adds.items():
                self.tried[each].adds = value if math.isfinite(value) else None
            least = min(adds, key=lambda each: adds[each])
            if adds[least] >= LEAST_GAIN:
                return whole
            self._note(least, Fate.REDUNDANT, alone=self.tried[least].alone, adds=adds[least])
            known = whole = self._ordered(set(whole) - {least})
            for each in whole:
                self.tried[each].adds = None  # what it was measured against is another program
            if len(whole) < 2:
                return whole

    def _with_right_numbers(
        self, program: tuple[str, ...], before: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The program without what spoils its numbers: what adds least goes first. What is left
        then is kept only if it is faster than before."""
        whole = program
        while program not in (before, ()):
            (wrong,) = self._lab.wrong_numbers([program])
            if wrong is None:
                raise NoTimeError
            if not wrong:
                break
            new = [each for each in program if each not in before] or [*program]
            least = min(new, key=self._worth)
            self._note(least, Fate.NUMBERS, f"together with the others, {wrong}")
            program = self._ordered(set(program) - {least})
        if program in (before, whole):
            return program
        (logs,) = self._lab.measure(before, [program]) if program else ([],)
        for each in program:
            self.tried[each].adds = None
        return program if logs and fmean(logs) >= LEAST_GAIN else before

    def _worth(self, each: str) -> float:
        known = self.tried[each]
        return known.adds or known.alone or 0.0

    def _replaced(self, before: Iterable[str]) -> None:
        """What was in the program, and has made room for another way."""
        slots = {self._candidates[each].slot for each in self.best}
        for each in before:
            if each not in self.best and self._candidates[each].slot in slots:
                self._note(each, Fate.REPLACED, alone=self.tried[each].alone)

    def _note_the_rest(self) -> None:
        for each, candidate in self._candidates.items():
            known = self.tried.get(each)
            if each in self.best:
                self.tried[each].outcome = Fate.KEPT
            elif known is not None and known.outcome is Fate.KEPT:
                known.outcome = Fate.UNSETTLED if self.is_late else Fate.REDUNDANT
            elif known is None:
                known = self.tried.get(self._first_way(candidate))
                fate = known.outcome if known is not None and candidate.compiles else Fate.NO_TIME
                waits = fate.was_tried and fate not in _MAY_HELP
                self._note(each, Fate.FIRST_WAY if waits else Fate.NO_TIME)

    def _note(
        self,
        id_: str,
        outcome: Fate,
        why: str = "",
        *,
        alone: float | None = None,
        adds: float | None = None,
        is_told: bool = True,
    ) -> None:
        ceiling, step_s = self._ceiling(self._candidates[id_]), sum(self._parts.values())
        self.tried[id_] = TriedCandidate(id_, outcome, why, alone, adds, ceiling, step_s)
        if is_told and outcome.was_tried:
            self._told(self.tried[id_])

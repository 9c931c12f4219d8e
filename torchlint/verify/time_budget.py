"""What fits into the time that the user allows, decided before anything is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.plan import FEWEST_BLOCKS, declare
from torchlint.verify.fix_variants import compared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Variant
    from torchlint.runtime.survey_reader import Survey
    from torchlint.verify.compared.changes import Changes

_RECORDING: Final = 2.0
"""Times its usual length takes a step whose numbers are recorded; measured 1.2 to 3 on a CPU."""
SPARE: Final = 1.2
"""Times what would probably do, for a budget that is named."""
_WHOLE: Final = 3
"""Variants that the whole change is measured with: the original twice, and all fixes."""
_SIDE_BY_SIDE: Final = 2
"""Runs of the first look, which shared the processors while they started."""


@dataclass(frozen=True, slots=True)
class TimeNeeded:
    """Seconds, as far as a first look can tell.

    `seeded` is for comparing the numbers where they are bitwise equal, `realigned` for what comes
    in addition where they are not; `likely_equal` says which is expected. `parts` is the share of
    each fix alone in one of them. `whole` is for one pair of the original and all fixes,
    `first_round` for that and one pair of each other variant apart, as up to the first look, and
    `round` for one of all side by side. `counted` is for counting what a step does, 0 if there is
    no room for that.
    """

    seeded: float
    realigned: float
    parts: float
    likely_equal: bool
    whole: float
    first_round: float
    round: float
    looks: tuple[int, ...]
    counted: float = 0.0

    @property
    def numbers(self) -> float:
        """For comparing the numbers, as is expected."""
        return self.seeded + (0.0 if self.likely_equal else self.realigned)

    @property
    def total(self) -> float:
        """Until the speed of all fixes together can be judged for the first time."""
        parts = self.parts if self.likely_equal else 2 * self.parts
        return self.numbers - parts + self.looks[0] * self.whole

    @property
    def first_verdict(self) -> float:
        """Until the speed of each variant can be judged for the first time."""
        return self.numbers + self.counted + self.rounds_s

    @property
    def rounds_s(self) -> float:
        """For the pairs of the first look."""
        return self.looks[0] * self.first_round

    @property
    def at_most(self) -> float:
        """Until the last look."""
        later = (self.looks[-1] - self.looks[0]) * self.round
        return self.seeded + self.realigned + self.counted + self.rounds_s + later


@dataclass(frozen=True, slots=True)
class Layout:
    """What will be run, and how long it takes.

    Args:
        variants: the programs.
        plan: how they are measured.
        needed: from now on.
        verdict_fits: a verdict on speed can be had in the budget.
        numbers_fit: so can the comparison of the numbers.
        narrowed: each fix alone was asked for, and only all together fit.
        enough_s: a budget in which all that was asked for would probably fit.
    """

    variants: tuple[Variant, ...]
    plan: DeclaredPlan
    needed: TimeNeeded
    verdict_fits: bool = True
    numbers_fit: bool = True
    narrowed: bool = False
    enough_s: float = 0.0


def layout(
    request: Request, seen: Survey, changes: Changes, *, spent_s: float, at_once: int
) -> Layout:
    """The most of what was asked for that fits into what is left of the budget.

    Fewer blocks in each process come first. If not even those lead to a verdict on all fixes
    together, only that is tried, and the layout says so.

    Args:
        spent_s: seconds of the budget that are over.
        at_once: runs that have processors of their own.

    Raises:
        ExperimentError: the program takes too few steps to compare anything.
    """
    left_s = math.inf if request.budget_s is None else request.budget_s - spent_s
    tried = list(_layouts(request, seen, changes, at_once))
    every = [each for each in tried if len(each.variants) == len(tried[0].variants)]
    fitting = next((each for each in every if each.needed.first_verdict <= left_s), None)
    # Each fix alone comes after all of them; whether there is the time is seen then.
    fitting = fitting or (every[-1] if every[-1].needed.total <= left_s else None)
    best = tried[-1] if fitting is None else fitting
    return replace(
        best,
        verdict_fits=fitting is not None,
        numbers_fit=fitting is not None or best.needed.seeded <= left_s,
        narrowed=len(best.variants) < len(tried[0].variants),
        enough_s=spent_s + SPARE * tried[0].needed.first_verdict,
    )


def room_words(planned: Layout, *, is_judged: bool = False) -> list[str]:
    """What does not fit into the budget, and how long it would take.

    Args:
        is_judged: there is a verdict on speed anyway.
    """
    said = ""
    if planned.verdict_fits:
        if planned.narrowed:
            said = "The budget has room for all fixes together, not for each alone"
    elif not planned.numbers_fit:
        said = "The budget is too short for the numbers"
        said += "" if is_judged else ", and probably for a verdict on speed"
    elif not is_judged:
        said = "The budget is probably too short for a verdict on speed"
    enough = f"{math.ceil(planned.enough_s / 60)}m"
    return [f"{said}; --budget {enough} would probably do."] if said else []


def _layouts(request: Request, seen: Survey, changes: Changes, at_once: int) -> Iterator[Layout]:
    ways = [changes.variants(per_fix=request.per_fix), changes.variants(per_fix=False)]
    for variants in ways if len(ways[0]) > len(ways[1]) else ways[:1]:
        plan = declare(request, seen, variants)
        short = replace(plan, blocks=min(plan.blocks, FEWEST_BLOCKS))
        for each in (plan, short):
            needed = time_needed(each, seen, variants, at_once)
            declared = any(map(changes.may_change, variants))
            likely = changes.fixes is not None and not declared
            yield Layout(variants, each, replace(needed, likely_equal=likely))


def seconds_of_record(plan: DeclaredPlan, seen: Survey) -> float:
    """Seconds of one run whose numbers are recorded."""
    recorded = plan.numeric_first + plan.numeric_steps
    return seen.start_s + _RECORDING * recorded * seen.step_s


def time_needed(
    plan: DeclaredPlan, seen: Survey, variants: Sequence[Variant], at_once: int
) -> TimeNeeded:
    """How long a plan takes.

    Args:
        seen: the first look at the program, which knows its start and its steps.
    """
    busy = max(_SIDE_BY_SIDE, at_once)
    turns = plan.warmup + plan.blocks * (plan.steps + plan.settle)
    at_once = 1 if seen.device == "cuda" else at_once
    record_s = seconds_of_record(plan, seen)

    def round_of(programs: int) -> float:
        start_s = seen.start_s * max(1.0, programs / busy)
        return start_s + programs * turns * seen.step_s

    def records(runs: int) -> float:
        return math.ceil(runs / at_once) * record_s

    whole, every = min(_WHOLE, len(variants)), len(variants)
    alone = len(compared(variants)) - 1
    apart = round_of(every - 1) if every > whole else 0.0  # without the original, once more
    return TimeNeeded(
        seeded=records(3) + records(alone),
        realigned=record_s + records(4) + records(alone),
        parts=records(alone),
        likely_equal=False,
        whole=round_of(whole),
        first_round=round_of(whole) + apart,
        round=round_of(every),
        looks=plan.looks,
    )

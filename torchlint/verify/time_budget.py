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
_SPARE: Final = 1.2
_SIDE_BY_SIDE: Final = 2
"""Runs of the first look, which shared the processors while they started."""


@dataclass(frozen=True, slots=True)
class TimeNeeded:
    """Seconds, as far as a first look can tell.

    `seeded` is for comparing the numbers where they are bitwise equal, `realigned` for what comes
    in addition where they are not; `likely_equal` says which is expected. `round` is for one pair
    of each variant.
    """

    seeded: float
    realigned: float
    likely_equal: bool
    round: float
    looks: tuple[int, ...]

    @property
    def first_verdict(self) -> float:
        """Until speed can be judged for the first time."""
        numbers = self.seeded + (0.0 if self.likely_equal else self.realigned)
        return numbers + self.looks[0] * self.round

    @property
    def at_most(self) -> float:
        """Until the last look."""
        return self.seeded + self.realigned + self.looks[-1] * self.round


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
    request: Request, seen: Survey, changes: Changes, *, spent_s: float, processors: int
) -> Layout:
    """The most of what was asked for that fits into what is left of the budget.

    Fewer blocks in each process come first, then all fixes together only. If not even that leads
    to a verdict, it is still returned, and says so.

    Args:
        spent_s: seconds of the budget that are over.

    Raises:
        ExperimentError: the program takes too few steps to compare anything.
    """
    left_s = math.inf if request.budget_s is None else request.budget_s - spent_s
    tried = list(_layouts(request, seen, changes, processors))
    fitting = next((each for each in tried if each.needed.first_verdict <= left_s), None)
    best = tried[-1] if fitting is None else fitting
    return replace(
        best,
        verdict_fits=fitting is not None,
        numbers_fit=fitting is not None or best.needed.seeded <= left_s,
        narrowed=len(best.variants) < len(tried[0].variants),
        enough_s=spent_s + _SPARE * tried[0].needed.first_verdict,
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


def _layouts(request: Request, seen: Survey, changes: Changes, processors: int) -> Iterator[Layout]:
    ways = [changes.variants(per_fix=request.per_fix), changes.variants(per_fix=False)]
    for variants in ways if len(ways[0]) > len(ways[1]) else ways[:1]:
        plan = declare(request, seen, variants)
        short = replace(plan, blocks=min(plan.blocks, FEWEST_BLOCKS))
        for each in (plan, short):
            needed = time_needed(each, seen, variants, processors)
            declared = any(map(changes.may_change, variants))
            likely = changes.fixes is not None and not declared
            yield Layout(variants, each, replace(needed, likely_equal=likely))


def time_needed(
    plan: DeclaredPlan, seen: Survey, variants: Sequence[Variant], processors: int
) -> TimeNeeded:
    """How long a plan takes.

    Args:
        seen: the first look at the program, which knows its start and its steps.
    """
    busy = max(_SIDE_BY_SIDE, processors)
    start_s = seen.start_s * max(1.0, len(variants) / busy)
    turns = plan.warmup + plan.blocks * (plan.steps + plan.settle)
    at_once = 1 if seen.device == "cuda" else processors
    recorded = plan.numeric_first + plan.numeric_steps
    record_s = seen.start_s + _RECORDING * recorded * seen.step_s
    names = len(compared(variants))
    seeded = math.ceil((2 + names) / at_once) * record_s
    return TimeNeeded(
        seeded=seeded,
        realigned=(1 + math.ceil((3 + names) / at_once)) * record_s,
        likely_equal=False,
        round=start_s + len(variants) * turns * seen.step_s,
        looks=plan.looks,
    )

"""How long a step takes with other numbers of workers or batch sizes, measured alternately."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.subject import ORIGINAL, Variant
from torchlint.profile.timing import in_turns, timing_of
from torchlint.runtime.probe.run_settings import MEASURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.profile.wish import Wish
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.workspace import Workspace

PAYS: Final = 0.05
"""What more workers have to save of the step to be worth their processors and memory."""
_PREFETCHED: Final = 2
"""Batches that a worker prepares ahead unless it is told otherwise: they cost the first steps of a
turn nothing."""
_MOST_NOISE: Final = 0.1
"""Of a time that a choice is made by."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One value and what a step takes with it."""

    value: int
    step_s: float
    noise: float


@dataclass(frozen=True, slots=True)
class Sweep:
    """What was tried, ascending; `best` is the smallest value that is worth its cost: of workers
    the fewest within 5 % of the fastest, of batch sizes that with the most samples a second."""

    option: str
    tried: tuple[Tried, ...]
    best: int

    @property
    def is_certain(self) -> bool:
        """Whether the times are sure enough to choose by."""
        return max(each.noise for each in self.tried) <= _MOST_NOISE


def sweep(
    wished: Wish,
    jobs: Jobs,
    workspace: Workspace,
    plan: DeclaredPlan,
    *,
    anchor: Anchor,
    argv: Sequence[str],
    ranks: int,
    timeout_s: float,
) -> Sweep:
    """Run the program with each value side by side, and let them take turns.

    Raises:
        Failed: a run failed, for example since its batch does not fit into the memory.
        ExperimentError: a run ended before a block was measured.
    """
    changed = {
        value: {"workers": value}
        if not wished.option
        else {"argv": with_option(argv, wished, value)}
        for value in wished.values
    }
    ahead = 0 if wished.option else _PREFETCHED * max(wished.values)
    blocks = in_turns(
        {
            str(value): jobs.job(Variant(ORIGINAL, ()), MEASURE, anchor=anchor, **more)
            for value, more in changed.items()
        },
        workspace,
        replace(
            plan,
            warmup=plan.warmup + ahead,
            settle=plan.settle + ahead,
            steps=max(plan.steps, ahead),
        ),
        ranks=ranks,
        timeout_s=timeout_s,
    )
    tried = []
    for value in wished.values:
        timed = timing_of({"": blocks[str(value)]}, plan.warmup)
        tried.append(Tried(value, timed.step_s, timed.noise))
    return Sweep(wished.option, tuple(tried), best_of(wished, tried))


def with_option(argv: Sequence[str], wished: Wish, value: int) -> tuple[str, ...]:
    """The arguments with another value of the option, which is added if it is not there."""
    option, replaced, words = wished.option, False, list(argv)
    for index, word in enumerate(words):
        if word == option and index + 1 < len(words):
            words[index + 1], replaced = str(value), True
        elif word.startswith(f"{option}="):
            words[index], replaced = f"{option}={value}", True
    return tuple(words) if replaced else (*words, option, str(value))


def best_of(wished: Wish, tried: Sequence[Tried]) -> int:
    """The value to take; see `Sweep`."""
    if wished.option:
        return min(tried, key=lambda each: each.step_s / each.value).value
    fastest = min(each.step_s for each in tried)
    return next(each.value for each in tried if each.step_s <= fastest / (1 - PAYS))

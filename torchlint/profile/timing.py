"""How long a step takes when only the step meter watches."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.intervals import half_width
from torchlint.experiment.plan import FEWEST_BLOCKS
from torchlint.experiment.rotation import rotate
from torchlint.experiment.subject import AGAIN, ORIGINAL, Variant
from torchlint.profile.evidence import CUT, Timing
from torchlint.runtime.probe.run_settings import MEASURE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.rotation import Block
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

ALTERED: Final = "altered"
_ALPHA: Final = 0.05
_MOST_DOUBT: Final = math.log(1.1)
"""What is added to what was seen to be saved. Wider intervals bound nothing."""
_FEWEST_THAT_GROW: Final = 5
_FEWEST_WITH_A_SLOPE: Final = 3
_IN_ORDER: Final = 0.9
"""Of the pairs of blocks."""
_TURNS_S: Final = 3.0
"""That a changed program is measured for."""


def time_steps(
    jobs: Jobs,
    workspace: Workspace,
    plan: DeclaredPlan,
    *,
    anchor: Anchor,
    ranks: int,
    twice: bool,
    timeout_s: float,
) -> Timing:
    """Time blocks of steps of the program, and of the same program next to it, alternately: how far
    they differ is noise that blocks of one process do not show.

    Args:
        twice: the memory holds both.

    Raises:
        Failed: a run failed.
        ExperimentError: it ended before a block was measured.
    """
    names = (ORIGINAL, AGAIN) if twice else (ORIGINAL,)
    running = {name: jobs.job(Variant(name, ()), MEASURE, anchor=anchor) for name in names}
    blocks = in_turns(running, workspace, plan, ranks=ranks, timeout_s=timeout_s)
    return timing_of(blocks, plan.warmup, plan.settle)


def share_saved(
    jobs: Jobs,
    workspace: Workspace,
    plan: DeclaredPlan,
    instrument: str,
    *,
    anchor: Anchor,
    ranks: int,
    step_s: float,
    beside: bool,
    tested: bool,
    timeout_s: float,
) -> tuple[float, bool] | None:
    """The share of a step that an instrument saves at most which changes what it does: the upper
    end of the interval over rounds in which the program as it is and the changed one take turns.

    Args:
        step_s: seconds of an undisturbed step.
        beside: the memory holds both; else the changed program is compared with `step_s`.
        tested: what may be chance is not known.

    Returns:
        From 0 to below 1, and whether something is saved that is worth a line, for all that the
        rounds can tell; None if this version of torch cannot do that.

    Raises:
        Failed: a run failed.
        ExperimentError: it ended before a block was measured, or what it saves may be chance.
    """
    plan = replace(plan, blocks=few_blocks(plan, step_s))
    altered = jobs.job(Variant(ALTERED, ()), MEASURE, anchor=anchor, instruments=(instrument,))
    running = {ALTERED: altered}
    if beside:
        running[ORIGINAL] = jobs.job(Variant(ORIGINAL, ()), MEASURE, anchor=anchor)
    blocks = in_turns(running, workspace, plan, ranks=ranks, timeout_s=timeout_s)
    if not all(block.altered for block in blocks[ALTERED]):
        return None
    without = [block.seconds for block in blocks[ALTERED]]
    plain = [block.seconds for block in blocks.get(ORIGINAL, ())]
    plain = plain or [step_s] * len(without)
    if tested and may_be_chance(without, plain):
        raise ExperimentError("what it saves is lost in the noise", code=6)
    return saved_at_most(without, plain), saved_at_least(without, plain) >= CUT


def few_blocks(plan: DeclaredPlan, step_s: float) -> int:
    """Rounds that are enough for a ceiling, where steps are long."""
    affordable = int(_TURNS_S / ((plan.steps + plan.settle) * step_s))
    return min(plan.blocks, max(FEWEST_BLOCKS, affordable))


def saved_at_most(without: Sequence[float], plain: Sequence[float]) -> float:
    """The share of a step that is saved, by seconds of a step in the same rounds.

    The median of what the rounds save, and as much more as their interval is wide on one side. What
    is not worth a line by what was seen does not become so by doubt.
    """
    logs = [math.log(one / other) for one, other in zip(plain, without, strict=True)]
    sd = statistics.stdev(logs) if len(logs) > 1 else 0.0
    half = min(half_width(sd, len(logs), _ALPHA), _MOST_DOUBT)
    middle = statistics.median(logs)
    worth_a_line = -math.expm1(-middle) >= CUT
    return max(0.0, -math.expm1(-middle - (half if worth_a_line else 0.0)))


def saved_at_least(without: Sequence[float], plain: Sequence[float]) -> float:
    """The same share by the lower end of the interval; below zero if it may be chance."""
    middle, half = _interval(without, plain)
    return -math.expm1(half - middle) if math.isfinite(half) else -math.inf


def may_be_chance(without: Sequence[float], plain: Sequence[float]) -> bool:
    """Whether nothing may be saved as well as what is worth a line: the interval holds both."""
    middle, half = _interval(without, plain)
    return middle <= half and -math.expm1(-middle - half) >= CUT


def _interval(without: Sequence[float], plain: Sequence[float]) -> tuple[float, float]:
    """The middle of what is saved in each round, as a logarithm, and half of its width."""
    logs = [math.log(one / other) for one, other in zip(plain, without, strict=True)]
    half = half_width(statistics.stdev(logs), len(logs), _ALPHA) if len(logs) > 1 else math.inf
    return statistics.median(logs), half


def in_turns(
    jobs: Mapping[str, Job],
    workspace: Workspace,
    plan: DeclaredPlan,
    *,
    ranks: int,
    timeout_s: float,
) -> dict[str, tuple[Block, ...]]:
    """The blocks of all jobs, by name, as the plan says.

    Raises:
        Failed: a run failed.
        ExperimentError: one ended before a block was measured.
    """
    done = rotate(
        jobs,
        workspace,
        warmup=plan.warmup,
        settle=plan.settle,
        steps=plan.steps,
        blocks=plan.blocks,
        seed=plan.seed,
        timeout_s=timeout_s,
        ranks=ranks,
    )
    if not all(done.blocks.values()):
        raise ExperimentError(
            "The script ended before a step could be measured; let it train longer.", code=6
        )
    return done.blocks


def timing_of(blocks: Mapping[str, Sequence[Block]], warmup: int, settle: int = 0) -> Timing:
    """Sum up the blocks of one process, or of two that run the same.

    Args:
        warmup: steps before the first block.
        settle: steps before each block that do not count.
    """
    every = [block for run in blocks.values() for block in run]
    step_s = statistics.median(block.seconds for block in every)
    runs = [[math.log(block.seconds) for block in run] for run in blocks.values() if run]
    means = [statistics.fmean(run) for run in runs]
    if all(map(_grows, runs)):
        runs = [_level(run) for run in runs]
    spread = [each - statistics.fmean(run) for run in runs for each in run]
    freedom = max(1, len(spread) - len(means))
    sd = math.sqrt(sum(each * each for each in spread) / freedom)
    within = half_width(sd, len(every), _ALPHA)
    between = (max(means) - min(means)) / 2
    noise = math.expm1(max(within, between)) if math.isfinite(within) else 1.0
    return Timing(
        step_s=step_s,
        noise=min(noise, 1.0),
        steps=sum(block.steps for block in every),
        warmup=warmup,
        cpu_s=statistics.median(block.cpu / block.steps for block in every),
        host_s=statistics.median(block.wall / block.steps for block in every),
        ranks=_by_rank(every),
        growth_s=min((_growth_s(run, settle) for run in blocks.values()), default=None)
        if all(len(run) >= _FEWEST_WITH_A_SLOPE for run in blocks.values())
        else None,
    )


def _grows(logs: Sequence[float]) -> bool:
    """Whether nearly each block takes longer than those before: that is not noise."""
    pairs = [later > sooner for sooner, later in combinations(logs, 2)]
    return len(logs) >= _FEWEST_THAT_GROW and sum(pairs) >= _IN_ORDER * len(pairs)


def _level(logs: Sequence[float]) -> list[float]:
    """The same without what each block adds to the one before."""
    slope = _slope(logs)
    return [each - slope * at for at, each in enumerate(logs)]


def _growth_s(run: Sequence[Block], settle: int) -> float:
    """How many seconds a step takes longer than the one before."""
    return _slope([block.seconds for block in run]) / (run[0].steps + settle)


def _slope(values: Sequence[float]) -> float:
    """By which each is larger than the one before: the median of the slopes of all pairs."""
    pairs = combinations(enumerate(values), 2)
    return statistics.median((later - sooner) / (at - was) for (was, sooner), (at, later) in pairs)


def _by_rank(blocks: Sequence[Block]) -> tuple[float, ...]:
    """The median of what a step takes each rank, by their numbers."""
    times: dict[int, list[float]] = {}
    for block in blocks:
        for rank, seconds in block.ranks:
            times.setdefault(rank, []).append(seconds)
    whole = sorted(times) == list(range(len(times)))
    return tuple(statistics.median(times[rank]) for rank in sorted(times)) if whole else ()

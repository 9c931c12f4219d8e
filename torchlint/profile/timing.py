"""How long a step takes when nothing but the step meter watches."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Final

from torchlint.profile.evidence import Timing
from torchlint.runtime.probe.settings import MEASURE
from torchlint.verify.errors import VerifyError
from torchlint.verify.judge.stats import half_width
from torchlint.verify.measure.rotation import rotate
from torchlint.verify.plan import AGAIN, ORIGINAL, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.runtime.probe.settings import Anchor
    from torchlint.runtime.workspace import Workspace
    from torchlint.verify.jobs import Jobs
    from torchlint.verify.measure.rotation import Block
    from torchlint.verify.result import DeclaredPlan

_ALPHA: Final = 0.05


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
    """Time blocks of steps of the program, and of the same program beside it, in turns: how far
    they differ is noise that blocks of one process do not show.

    Args:
        twice: the memory holds both.

    Raises:
        Failed: a run failed.
        VerifyError: it ended before a block was measured.
    """
    names = (ORIGINAL, AGAIN) if twice else (ORIGINAL,)
    done = rotate(
        {name: jobs.job(Variant(name, ()), MEASURE, anchor=anchor) for name in names},
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
        raise VerifyError(
            "The script ended before a step could be measured; let it train longer.", code=6
        )
    return timing_of(done.blocks, plan.warmup)


def timing_of(blocks: Mapping[str, Sequence[Block]], warmup: int) -> Timing:
    """Sum up the blocks of one process, or of two that run the same."""
    every = [block for run in blocks.values() for block in run]
    step_s = statistics.median(block.seconds for block in every)
    means = [
        statistics.fmean(math.log(block.seconds) for block in run) for run in blocks.values() if run
    ]
    spread = [
        math.log(block.seconds) - mean
        for mean, run in zip(means, (run for run in blocks.values() if run), strict=True)
        for block in run
    ]
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
    )

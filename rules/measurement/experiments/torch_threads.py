"""Let torch compute in fewer threads.

By default torch uses a thread for each processor. Small operations take longer in many threads than
in few, since the threads wait for one another; and threads that compete with a loader's workers for
the same processors make everybody wait. Each number is measured: one, and the doubles of it below
the processors that there are.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.analysis.training.thread_counts import sets_threads, with_threads
from torchlint.rule import STEPPING, Bench, Experiment, Module, Proposal

experiment = Experiment(
    "torch computes in another number of threads",
    speeds=STEPPING,
    may_change="sums are rounded in another order",
    devices=("cpu",),
    seldom=True,
)


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    for number in (2**power for power in range(7)):
        if number < bench.processors or (number == bench.processors and sets_threads(module)):
            message = f"Call `torch.set_num_threads({number})`"
            yield Proposal(str(number), message, [with_threads(module, number)])

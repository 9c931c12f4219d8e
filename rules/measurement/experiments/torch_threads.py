"""Let torch compute in fewer threads.

By default torch uses a thread for each processor. Small operations take longer in many threads than
in few, since the threads wait for one another; and threads that compete with a loader's workers for
the same processors make everybody wait. Each number is measured: one, and the doubles of it below
the processors that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.rule import STEPPING, Bench, Experiment, Module, Proposal, edits

_ELSEWHERE = re.compile(r"OMP_NUM_THREADS|MKL_NUM_THREADS")

experiment = Experiment(
    "torch computes in another number of threads",
    speeds=STEPPING,
    may_change="sums are rounded in another order",
    devices=("cpu",),
)


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    torch = module.names.imported_as("torch", module.tree)
    if torch is None or not module.loops.anchors or _ELSEWHERE.search(module.text):
        return
    given = [
        call.args[0].value
        for call in module.nodes(cst.Call)
        if module.calls(call, "torch.set_num_threads") and len(call.args) == 1
    ]
    if len(given) > 1:
        return
    for number in (2**power for power in range(7)):
        if number > bench.processors or (number == bench.processors and not given):
            return
        if given and module.literal(given[0]) == number:
            continue
        code = f"{torch}.set_num_threads({number})"
        edit = (
            edits.replace(module, given[0], str(number)) if given else edits.at_start(module, code)
        )
        yield Proposal(str(number), f"Call `{code}`", [edit])

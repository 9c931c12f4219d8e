"""Pin the batches, and copy them to the GPU without waiting.

A loader that pins its batches lets the GPU read them by itself, and a copy that does not block lets
Python go on meanwhile. Both belong together: pinning alone saves a copy in main memory, and
`non_blocking` alone waits, since memory that is not pinned has to be copied first. Pinning costs
the loader a thread and a copy, which is why it does not always pay.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.loading.batch_copies import batch_copies
from torchlint.analysis.loading.dataset_classes import Cost
from torchlint.analysis.loading.datasets import dataset_of
from torchlint.analysis.loading.loaders import loader_of
from torchlint.rule import Bench, Experiment, Module, Proposal, edits

_PINNED = 7

experiment = Experiment(
    "pinned batches are copied without waiting",
    speeds=("data", "forward", "other"),
    devices=("cuda",),
    covers=("TL102",),
)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    loaders = [call for call in module.nodes(cst.Call) if loader_of(call, module) is not None]
    changes = [
        edits.add_argument(module, call, "pin_memory=True")
        for call in loaders
        if module.argument(call, "pin_memory", _PINNED) is None
        and dataset_of(module.argument(call, "dataset", 0), module).cost is not Cost.DEVICE
    ]
    if not changes:
        return
    changes += [
        edits.add_argument(module, each.call, "non_blocking=True")
        for each in batch_copies(module)
        if module.argument(each.call, "non_blocking") is None
        and not module.has_star_kwargs(each.call)
    ]
    yield Proposal("", "Pin the batches, and copy them with `non_blocking=True`", changes)

"""Let each worker prepare more batches ahead.

A worker prepares two batches and then waits until one is taken. That is enough where all batches
take about the same time. Where some take much longer than the step, as with files of very different
sizes or a disk that others use too, a longer queue lets the training go on meanwhile. It costs the
memory of the batches in it, and helps nothing where the workers are too slow on average.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.loading.loaders import training_loaders
from torchlint.analysis.names import dotted_text
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

_WORKERS = 5
_BATCHES = (4, 8)

experiment = Experiment("workers prepare more batches ahead", speeds=("data",), seldom=True)


def _with_workers(module: Module) -> list[cst.Call]:
    """The loaders of training that have worker processes, or may have."""
    return [
        call
        for call in training_loaders(module)
        for workers in (module.argument(call, "num_workers", _WORKERS),)
        if module.literal(workers) or (dotted_text(workers) and module.literal(workers) != 0)
    ]


def _ahead(module: Module, call: cst.Call, batches: int) -> Edit | None:
    given = module.argument(call, "prefetch_factor")
    if given is not None:
        return edits.replace(module, given, str(batches))
    workers = module.argument(call, "num_workers", _WORKERS)
    value = str(batches)
    if not isinstance(module.literal(workers), int):  # without workers, torch takes None alone
        value = f"{batches} if {dotted_text(workers)} else None"
    return edits.add_argument(module, call, f"prefetch_factor={value}")


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    calls = _with_workers(module)
    now = [module.literal(module.argument(call, "prefetch_factor")) for call in calls]
    for batches in _BATCHES:
        if all(not isinstance(known, int) or known < batches for known in now):
            changes = [_ahead(module, call, batches) for call in calls]
            yield Proposal(str(batches), f"Pass `prefetch_factor={batches}`", changes)

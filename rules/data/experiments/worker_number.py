"""Load the batches in worker processes, or in none.

Each worker process loads whole batches, so that the training process only takes them. How many pay
depends on what a sample costs, what it takes to send a batch to another process, and how many
processors the training itself keeps busy: more workers than that make everything slower, and for
samples that are cheap no worker is the fastest. So each number is measured: none, one, two, and the
doubles of that up to the processors that there are, at most sixteen. Where the training computes on
the processors as well, each number is also measured with as many fewer threads of torch as there
are workers: threads that have to share a processor with a worker wait for one another.

The samples and their order stay the same. What the dataset draws at random comes from the generator
of a worker, so that random transforms draw other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.loading.dataset_classes import Cost
from torchlint.analysis.loading.datasets import change_of_dataset, changed_by_steps, dataset_of
from torchlint.analysis.loading.loaders import training_loaders
from torchlint.analysis.training.thread_counts import with_threads
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

_WORKERS = 5

experiment = Experiment(
    "worker processes load the batches",
    speeds=("data",),
    may_change="random numbers drawn by the dataset come from each worker's generator",
    covers=("TL101", "TL103", "TL109"),
)


def _loaders(module: Module) -> list[cst.Call]:
    """The loaders that training reads and whose samples other processes can load."""
    return [call for call in training_loaders(module) if not _is_tied(call, module)]


def _is_tied(call: cst.Call, module: Module) -> bool:
    found = dataset_of(module.argument(call, "dataset", 0), module)
    tied = bool(found.held) or found.cost in (Cost.STREAM, Cost.DEVICE)
    return tied or changed_by_steps(call, module)


def _with(module: Module, call: cst.Call, workers: int) -> Iterator[Edit]:
    """The edits that give a loader so many workers, kept from one epoch to the next unless the
    dataset changes between epochs, of which they have their first copy."""
    given = module.argument_node(call, "num_workers", _WORKERS)
    kept = module.argument_node(call, "persistent_workers")
    ahead = module.argument_node(call, "prefetch_factor")
    more = ""
    if not workers:
        yield from _without(module, call, {kept: "False", ahead: "None"})
    elif change_of_dataset(call, module) is None:
        if kept is None:
            more = ", persistent_workers=True"
        elif module.literal(kept.value) is False:
            yield edits.replace(module, kept.value, "True")
    if given is None:
        yield edits.add_argument(module, call, f"num_workers={workers}{more}")
    elif given.keyword is not None:
        yield edits.replace_argument(module, given, f"num_workers={workers}{more}")
    else:
        yield edits.replace(module, given.value, str(workers))


def _without(module: Module, call: cst.Call, values: dict[cst.Arg | None, str]) -> Iterator[Edit]:
    """Edits for what needs workers: one argument is taken out; of several, which may stand side by
    side, each gets its value for no workers."""
    given = [arg for arg in values if arg is not None and arg.keyword is not None]
    for arg in given:
        if len(given) == 1:
            yield edits.remove_argument(module, call, arg)
        else:
            yield edits.replace(module, arg.value, values[arg])


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    calls = _loaders(module)
    if not calls:
        return
    now = {
        module.literal(given) if given is not None else 0
        for given in (module.argument(call, "num_workers", _WORKERS) for call in calls)
    }
    numbers = [0, 1, *(2**power for power in range(1, 5) if 2**power <= bench.processors)]
    for workers in numbers:
        if now != {workers}:
            changes = [edit for call in calls for edit in _with(module, call, workers)]
            message = f"Pass `num_workers={workers}`"
            yield Proposal(str(workers), message, changes)
            threads = max(1, bench.processors - workers)
            if bench.device == "cpu" and workers and threads < bench.processors:
                yield Proposal(
                    f"{workers} with threads {threads}",
                    f"{message}, and call `torch.set_num_threads({threads})`",
                    [*changes, with_threads(module, threads)],
                )

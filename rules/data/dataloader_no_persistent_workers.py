"""Keep worker processes from one epoch to the next.

## What it does
Reports a `DataLoader` with worker processes that is read again in each epoch and does not keep its
workers.

## Why it is slow
Without `persistent_workers=True` the workers end with each epoch, and the next one starts them
again: each process gets a copy of the dataset and loads its first batches while the GPU waits. With
two workers and a tiny dataset an epoch took about 70 ms instead of 10 ms, measured on a CPU where
processes are forked. Spawned ones also import torch and your modules again.

## Example
```python
loader = DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4)
for epoch in range(90):
    for images, labels in loader:
        train_step(model, images, labels)
```

## Use instead
```python
loader = DataLoader(
    dataset, batch_size=64, shuffle=True, num_workers=4, persistent_workers=True
)
for epoch in range(90):
    for images, labels in loader:
        train_step(model, images, labels)
```
If an option sets the number of workers, write `persistent_workers=args.workers > 0`: without
workers, `True` raises a `ValueError`.

## When it is silent
- If the code does not show that there are workers: `num_workers=args.workers`, `**kwargs`.
- If the dataset changes between epochs, as in `dataset.set_epoch(epoch)` or
  `loader.dataset.transform = weak`: workers that live on keep their first copy of it.
- For iterable datasets, data that is in memory, a loader that each round builds again, and one
  that is read only now and then.
- In files that build more than three such loaders, since idle workers keep their memory; in tests;
  in programs that do not train.

It is a hint: where an epoch takes an hour, its start does not matter.

## Fix safety
**Unsafe**: workers that live on do not get a new seed for each epoch, so random augmentations
differ, and each loader keeps its processes and their memory between epochs.

## How verify confirms it
It measures `persistent_workers=True`, on the CPU too. Only the first steps of an epoch gain, so the
ratio is large where epochs are short.

## References
- PyTorch documentation, `torch.utils.data.DataLoader`: `persistent_workers`
- Lightning documentation, "Speed Up Model Training"
"""

import libcst as cst

from torchlint.analysis.loading.dataset_classes import Cost
from torchlint.analysis.loading.datasets import change_of_dataset, dataset_of
from torchlint.analysis.loading.loader_loops import read_again
from torchlint.analysis.loading.loaders import has_workers
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import calls_of, parameters_of
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Match,
    Rule,
    Tier,
    because,
    calls,
    pass_argument,
)

_LOADER = "torch.utils.data.DataLoader"
_MOST_LOADERS = 3


def _has_workers(match: Match) -> bool:
    return has_workers(match.call, match.module)


def _has_few_loaders(match: Match) -> bool:
    number = len(match.module.calls_by_name[_LOADER])
    several = "the file builds {} loaders, and the idle workers of each would keep their memory"
    return number <= _MOST_LOADERS or because(False, several, number)


def _is_read_again(match: Match) -> bool:
    return _is_returned(match) or read_again(match.call, match.module) is not None


def _is_returned(match: Match) -> bool:
    """Whether the function that makes the loader returns it, alone or with others: what trains in
    another file reads it in each epoch."""
    module, function = match.module, match.module.function(match.call)
    if function is None:
        return False
    for answer in module.definitions.returns(function):
        given = answer.value
        parts = [each.value for each in given.elements] if isinstance(given, cst.Tuple) else [given]
        for part in parts:
            made = [part, *(each.value for each in module.flow.reaching(part))]
            if any(each is match.call for each in made):
                return True
    return False


def _gains_nothing(match: Match) -> bool:
    """Whether workers do not pay anyway, or read a stream, which may continue where it was."""
    dataset = match.module.argument(match.call, "dataset", 0)
    cost = dataset_of(dataset, match.module).cost
    if cost is Cost.MEMORY:
        return because(
            True, "the samples of {:code} are in memory, where workers do not pay", dataset
        )
    restart = "{:code} is an iterable dataset, which workers that live on may not start again"
    return cost is Cost.STREAM and because(True, restart, dataset)


def _changes(match: Match) -> bool:
    """Whether the dataset changes between epochs: `dataset.set_epoch(…)`, `x.dataset.mode = …`."""
    change = change_of_dataset(match.call, match.module)
    first = "workers that live on keep their first copy of the dataset, and {} may change it"
    return change is not None and because(True, first, change)


def _hands_on_nothing(match: Match) -> bool:
    """Whether `**options` of the call are those of a function that the file calls without any."""
    module, call = match.module, match.call
    starred = [arg.value for arg in call.args if arg.star == "**"]
    function = module.function(call)
    if len(starred) != 1 or function is None or module.argument(call, "persistent_workers"):
        return because(False, "this call has no `**` of a function, or sets `persistent_workers`")
    options = function.params.star_kwarg
    if options is None or dotted_text(starred[0]) != options.name.value:
        return because(False, "`**` of this call may pass `persistent_workers`")
    known = {each.name.value for each in (*parameters_of(function), *function.params.kwonly_params)}
    callers = list(calls_of(function, module))
    passed = {
        arg.star if arg.keyword is None else arg.keyword.value
        for each in callers
        for arg in each.args
        if arg.star or arg.keyword is not None
    }
    nothing = bool(callers) and passed <= known
    return nothing or because(False, "callers of {:code} may pass `persistent_workers`", function)


rule = Rule(
    code="TL103",
    summary="a DataLoader starts its worker processes again in each epoch",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    since=(1, 7),
    finds=(
        calls(
            _LOADER,
            Argument("persistent_workers", missing=True),
            where=(_has_workers, _has_few_loaders, _is_read_again),
        ),
        calls(
            _LOADER,
            where=(_hands_on_nothing, _has_workers, _has_few_loaders, _is_read_again),
        ),
    ),
    unless=(_gains_nothing, _changes),
    message="Each epoch starts the worker processes of this loader again; "
    "`persistent_workers=True` keeps them.",
    change=pass_argument("persistent_workers", "True"),
    contexts=(Context.TRAINS,),
    may_change="workers that live on get no new seed for each epoch, so augmentations differ",
)

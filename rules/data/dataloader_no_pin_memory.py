"""Let the loader put batches into page-locked memory if a GPU takes them.

## What it does
Reports a `DataLoader` without `pin_memory=True` in a program that trains on a GPU. The loaders of
a file are one finding, with the places where the file copies the batches of its training.

## Why it is slow
The GPU can only read page-locked memory by itself. A batch in ordinary memory is first copied to
such a place, while Python waits. A pinned batch is copied by the GPU, and with
`batch.to(device, non_blocking=True)` Python continues meanwhile.

## Example
```python
loader = DataLoader(dataset, batch_size=64, num_workers=4)
for images, labels in loader:
    images = images.to(device)
```

## Use instead
```python
loader = DataLoader(dataset, batch_size=64, num_workers=4, pin_memory=True)
for images, labels in loader:
    images = images.to(device, non_blocking=True)
```

## When it is silent
If `**kwargs` may contain the argument, if an option sets it, or if a comment explains the `False`;
where the samples are already on the GPU, since CUDA tensors cannot be pinned; where the loader only
yields indices; where it is only counted, a few batches are looked at, or one evaluation reads it
once; in tests; in programs that do not train, or use no accelerator. Lightning, Fabric and
Accelerate move the batches of your loaders to the GPU, but do not pin them, and the `Trainer` of
Transformers pins only the loaders that it makes. Their programs are reported like others. It is a
hint: where a batch is small compared with the step, the gain is within the noise.

## Fix safety
**Unsafe**: page-locked memory cannot be swapped out, so a machine with little memory may run short
of it. Batches of a class of your own stay as they are unless it has a `pin_memory` method.

## How verify confirms it
It measures `pin_memory=True`, which needs a GPU. A batch that is small compared with the step
leaves the ratio UNRESOLVED around 1. The numbers are bitwise equal.

## References
- PyTorch documentation, `torch.utils.data`, "Memory pinning"
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
- Accelerate documentation, `DataLoaderConfiguration`: its `non_blocking` needs pinned loaders
"""

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.loading.batch_copies import batch_copies
from torchlint.analysis.loading.dataset_classes import Cost
from torchlint.analysis.loading.datasets import dataset_of
from torchlint.analysis.loading.index_datasets import holds_indices
from torchlint.analysis.loading.loader_loops import readings
from torchlint.analysis.loading.loader_reads import Reads, feeds_nothing, reads_of
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Match,
    Related,
    Rule,
    Tier,
    because,
    calls,
    pass_argument,
)


def _feeds_little(match: Match) -> bool:
    """Whether the file only counts the loader, looks at a few batches, or evaluates once."""
    if feeds_nothing(match.call, match.module):
        return True
    once = reads_of(match.call, match.module) is Reads.EVALUATION_ONCE
    return once and because(True, "a single evaluation reads this loader, once in a run")


def _yields_indices(match: Match) -> bool:
    dataset = match.module.argument(match.call, "dataset", 0)
    indices = holds_indices(dataset, match.module)
    return indices and because(True, "its dataset, {:code}, contains only indices", dataset)


def _is_on_device(match: Match) -> bool:
    """Whether the samples are on the GPU: those of a dataset or of `TensorDataset(x.cuda(), y)`."""
    dataset = match.module.argument(match.call, "dataset", 0)
    made = [dataset]
    if isinstance(dataset, cst.Name):
        made = [each.value for each in match.module.flow.reaching(dataset)]
    kept = [arg.value for each in made if isinstance(each, cst.Call) for arg in each.args]
    if dataset_of(dataset, match.module).cost is Cost.DEVICE:
        unpinned = "{:code} has its samples on the GPU, whose memory cannot be pinned"
        return because(True, unpinned, dataset)
    for each in kept:
        if match.module.value(each).has(Kind.DEVICE):
            return because(True, "{} is on the GPU, whose memory cannot be pinned", each)
    return False


def _is_chosen(match: Match) -> bool:
    """Whether a comment on the line of a `False` says why."""
    if match.argument is None:
        return False
    row = match.module.span(match.argument)[1].row
    commented = "#" in match.module.lines[row - 1]
    return commented and because(True, "the comment next to {:code} may say why", match.argument)


def _message(match: Match) -> str:
    trains = reads_of(match.call, match.module) is Reads.OTHER
    return (
        "This loader feeds a GPU from pageable memory; with `pin_memory=True` the copies can "
        f"overlap with the {'training' if trains else 'evaluation'}."
    )


def _copies(match: Match) -> tuple[Related, ...]:
    """Where the file copies the batches of its loaders while it trains; or, where a framework does
    that, the loops that draw them."""
    module = match.module
    if reads_of(match.call, module) is not Reads.OTHER:
        return ()
    nodes: list[cst.CSTNode]
    if frameworks.owns("pinned memory", module.imported):
        nodes = [each.loop for each in readings(match.call, module) if each.loop is not None]
    else:
        nodes = [each.call for each in batch_copies(module)]
    places = {
        place.row: place
        for place in (module.span(each)[0] for each in nodes if not module.in_evaluation(each))
    }
    said = "this copies its batches, and Python waits"
    return tuple(Related(module.path, place, said) for place in places.values())


_OF_GRAPHS = ("torch_geometric.loader.DataLoader", "torch_geometric.data.DataLoader")
_PINNED = Argument("pin_memory", 7, bad=False, missing=True)

rule = Rule(
    code="TL102",
    summary="a DataLoader feeds a GPU from pageable memory",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.utils.data.DataLoader", _PINNED),
        calls(*_OF_GRAPHS, Argument("pin_memory", bad=False, missing=True)),
    ),
    unless=(_feeds_little, _yields_indices, _is_on_device, _is_chosen),
    message=_message,
    related=_copies,
    together="this loader does not pin its batches either",
    change=pass_argument("pin_memory", "True"),
    contexts=(Context.ACCELERATOR, Context.TRAINS),
    needs_gpu=True,
)

"""Take samples that are in memory without worker processes.

## What it does
Reports a `DataLoader` with worker processes over a `TensorDataset`, a tensor, an array or a list.

## Why it is slow
A worker has nothing to read and nothing to compute here: it takes rows out of memory, and passes
them to the training process, which costs more than to take them. 20,000 rows of 32 numbers in
batches of 64 took 46 ms without workers and 463 ms with two of them, measured on a CPU. In the
reports of others workers were 3 to 124 times slower.

## Example
```python
dataset = torch.utils.data.TensorDataset(features, labels)
loader = DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4)
```

## Use instead
```python
dataset = torch.utils.data.TensorDataset(features, labels)
loader = DataLoader(dataset, batch_size=64, shuffle=True)
```
It is faster still to take whole batches of rows instead of single ones:
`DataLoader(dataset, sampler=BatchSampler(RandomSampler(dataset), 64, False), batch_size=None)` took
14 ms for the same rows.

## When it is silent
With a `collate_fn`, which may take time; for datasets of your own classes; where the code does not
show that there are workers; in tests, and in programs that do not train.
It is a hint: large rows, such as photographs, take so long to put together that workers may pay.

## Fix safety
There is no fix: without workers the random numbers of the program run differently, and only a
measurement tells how large the rows must be.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- PyTorch issue 154318, and pull requests 181501 and 181520, with measurements
- PyTorch documentation, `torch.utils.data`, "Disable automatic batching"
"""

from torchlint.analysis.loading.dataset_classes import Cost, Dataset
from torchlint.analysis.loading.datasets import dataset_of
from torchlint.analysis.loading.loaders import has_workers
from torchlint.rule import Context, Match, Rule, Tier, because, calls


def _has_workers(match: Match) -> bool:
    return has_workers(match.call, match.module)


def _in_memory(match: Match) -> Dataset | None:
    """The dataset, if its samples are in memory and it is not a class of the project."""
    dataset = dataset_of(match.module.argument(match.call, "dataset", 0), match.module)
    if dataset.cost is Cost.MEMORY and dataset.reason:
        return dataset
    if dataset.indexed:
        own = "its dataset is of a class of your own, whose `__getitem__` may take time"
        return because(None, own)
    alone = "nothing shows that its samples are rows of tensors or items of a list"
    return because(None, alone)


def _collates(match: Match) -> bool:
    """Whether a collate function, or a dict that may contain one, can make work for the workers."""
    collate = match.module.argument(match.call, "collate_fn", 6)
    if collate is not None:
        return because(True, "{:code} may take time, which workers save", collate)
    starred = match.module.has_star_kwargs(match.call)
    return starred and because(True, "`**` of this call may pass a `collate_fn`, which takes time")


def _message(match: Match) -> str:
    reason = match.found(Dataset).reason
    return (
        f"Worker processes have no work here, since {reason}, and passing them on takes "
        "longer; load without workers, or take whole batches by their indices."
    )


rule = Rule(
    code="TL109",
    summary="worker processes pass on samples that are in memory",
    tier=Tier.HINT,
    finds=(calls("torch.utils.data.DataLoader", where=(_has_workers, _in_memory)),),
    unless=(_collates,),
    message=_message,
    contexts=(Context.TRAINS,),
)

"""Give each process of DDP its own part of the data.

## What it does
Reports a `DataLoader` with `shuffle=True` in a program with `DistributedDataParallel` in which no
file has a `DistributedSampler` or splits the data in another way.

## Why it is slow
Each process then goes over the whole dataset. With eight GPUs, an epoch takes as long as with one,
and every sample is seen eight times. If the processes have the same seed, they even compute the
same gradients at the same time, and average eight copies of them.

## Example
```python
loader = DataLoader(dataset, batch_size=64, shuffle=True, num_workers=8)
ddp_model = DistributedDataParallel(model, device_ids=[device.index])
```

## Use instead
```python
sampler = torch.utils.data.distributed.DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=64, sampler=sampler, num_workers=8)
ddp_model = DistributedDataParallel(model, device_ids=[device.index])
```
Call `sampler.set_epoch(epoch)` at the start of each epoch, or all epochs have the same order.

## When it is silent
In programs that mention a distributed sampler, shards, WebDataset or an `IterableDataset`; where
the dataset is made with the rank; with Lightning, Fabric, Accelerate and a Hugging Face `Trainer`,
which insert a sampler; in evaluation; in tests. It is a hint: with a seed for each process, one may
want larger epochs.

## Fix safety
There is no fix: the sampler needs the epoch, the learning rate may depend on the number of steps,
and batches per process may have to be smaller.

## How verify confirms it
It cannot: an epoch has fewer steps, and each of them takes the same time.

## References
- `torch.utils.data.distributed.DistributedSampler`
- PyTorch tutorial, "Distributed Data Parallel in PyTorch: Multi GPU training with DDP"
"""

import re

from torchlint.analysis.frameworks import frameworks
from torchlint.rule import Argument, Context, Effect, Match, Rule, Tier, because, calls

_PART = re.compile(r"rank|replica", re.IGNORECASE)
_SPLITS = (
    r"(?i)distributed_?\w{0,40}sampler|DistSampler|InfiniteSampler|num_replicas|split_dataset_by_node"
    r"|webdataset|\bwds\b|IterableDataset|\bshard"
)


def _is_a_part(match: Match) -> bool:
    """Whether the dataset is made with something that differs between processes."""
    module = match.module
    dataset = module.argument(match.call, "dataset", 0)
    bindings = module.flow.reaching(dataset)
    made = [dataset, *(each.value for each in bindings)]
    for each in made:
        if each is not None and _PART.search(module.source(each)):
            return because(True, "{} may differ from process to process", each)
    return False


rule = Rule(
    code="TL605",
    effect=Effect.LARGE,
    summary="each process of DDP goes over the whole dataset",
    tier=Tier.HINT,
    finds=(calls("torch.utils.data.DataLoader", Argument("shuffle", 2, bad=True)),),
    unless=(_is_a_part,),
    message="Each process of DDP shuffles the whole dataset; give each its part with a "
    "`DistributedSampler`.",
    change="the sampler needs the epoch, and batches may have to be smaller",
    contexts=(Context.TRAINS, Context.OUTSIDE_EVALUATION),
    program_has={"`DistributedDataParallel`": r"\b(?:DistributedDataParallel|DDP)\("},
    program_lacks={
        "a split of the data over the processes": _SPLITS,
        "a framework that splits the data itself": frameworks.owned("sampler"),
    },
)

"""Let the loader put batches into page-locked memory if a GPU takes them.

## What it does
Reports a `DataLoader` without `pin_memory=True` in a program that trains on a GPU.

## Why it is slow
The GPU can only read page-locked memory by itself. A batch in ordinary memory is first copied to
such a place, while Python waits. A pinned batch is copied by the GPU, and with
`batch.to(device, non_blocking=True)` Python goes on meanwhile.

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
Where Lightning, Accelerate or a Hugging Face `Trainer` makes or prepares the loaders; where
`**kwargs` may bring the argument; where a loader is only counted or a few batches are looked at; in
tests; in programs that do not train, or use no accelerator.
It is a hint: where a batch is small beside the step, the gain is within the noise.

## Fix safety
**Unsafe**: page-locked memory cannot be swapped out, so a machine with little memory may run short
of it. Batches of a class of your own stay as they are unless it has a `pin_memory` method.

## How verify confirms it
It measures `pin_memory=True`, which needs a GPU. A batch that is small beside the step leaves the
ratio UNRESOLVED around 1. The numbers are bitwise equal.

## References
- PyTorch documentation, `torch.utils.data`, "Memory pinning"
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
"""

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.loading.loader_reads import Reads, reads_of
from torchlint.rule import Applicability, Argument, Context, Match, Rule, Tier, calls, pass_argument


def _framework_loads(match: Match) -> bool:
    """Whether a framework that pins memory itself makes or prepares the loaders."""
    return frameworks.owns("pinned memory", match.module.imported)


def _feeds_nothing(match: Match) -> bool:
    """Whether the file only counts the loader, or looks at a few batches."""
    return reads_of(match.call, match.module) is Reads.NOTHING


def _message(match: Match) -> str:
    trains = reads_of(match.call, match.module) is Reads.OTHER
    return (
        "This loader feeds a GPU from pageable memory; with `pin_memory=True` the copies can "
        f"overlap with the {'training' if trains else 'evaluation'}."
    )


_PINNED = Argument("pin_memory", 7, bad=False, missing=True)

rule = Rule(
    code="TL102",
    name="dataloader-no-pin-memory",
    family="data",
    summary="a DataLoader feeds a GPU from pageable memory",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(calls("torch.utils.data.DataLoader", _PINNED),),
    unless=(_framework_loads, _feeds_nothing),
    message=_message,
    change=pass_argument("pin_memory", "True"),
    contexts=(Context.ACCELERATOR, Context.TRAINS, Context.OUTSIDE_EVALUATION),
    off_in_tests=True,
    needs_gpu=True,
)

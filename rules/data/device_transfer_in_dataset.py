"""Move batches to the GPU in the training loop, not samples in the dataset.

## What it does
Reports `.cuda()`, `.to(device)` and `device=` for an accelerator in `__getitem__` of a dataset, in
the functions that it calls, and in collate functions.

## Why it is slow
A batch is one copy; its samples are as many copies as there are samples, each with its own launch
and from memory that is not pinned. Worker processes cannot help: a forked process must not use CUDA
("Cannot re-initialize CUDA in forked subprocess"), and tensors on the GPU cannot be pinned. So the
loader stays in the training process, which alternates between loading and training.

## Example
```python
class Photos(Dataset):
    def __getitem__(self, index):
        image = torchvision.io.read_image(self.files[index])
        return image.to(device), self.labels[index]
```

## Use instead
```python
class Photos(Dataset):
    def __getitem__(self, index):
        return torchvision.io.read_image(self.files[index]), self.labels[index]


for images, labels in DataLoader(Photos(), batch_size=64, num_workers=4, pin_memory=True):
    train_step(model, images.to(device, non_blocking=True), labels)
```

## When it is silent
For the CPU, for types (`.to(torch.float32)`), for the device of another tensor (`.to(x.device)`),
in other classes that have items, and in tests.
It is a hint in a collate function, which copies the batch as a whole, and in a dataset that keeps
its tensors on the GPU: small data may be there as a whole, if nobody wants worker processes.

## Fix safety
There is no fix: the training loop must move the batch instead, and that loop may be in another
file.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on a GPU.

## References
- PyTorch documentation, `torch.utils.data`, "Multi-process data loading", which advises against
  CUDA tensors from workers
- PyTorch documentation, "Multiprocessing best practices: CUDA in multiprocessing"
"""

from enum import Enum

import libcst as cst

from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.loading.worker_processes import moves_to_device, puts_on_device
from torchlint.analysis.training.batches import collates
from torchlint.analysis.uses import method_name
from torchlint.rule import Effect, Match, Module, Rule, because, method, once, passes


def _moves(match: Match) -> bool:
    if moves_to_device(match.call, match.module):
        return True
    position = 0 if method_name(match.call) == "to" else None
    device = match.module.argument(match.call, "device", position)
    alone = "nothing shows that {:code} puts a tensor on a GPU"
    return because(False, alone, device or match.call)


def _makes(match: Match) -> bool:
    if not _moves(match):
        return False
    return method_name(match.call) != "to" or because(False, "`.to` moves what exists already")


class _Loaded(Enum):
    """What the code loads that moves it to the device."""

    SAMPLE = "sample"
    BATCH = "batch"


def _loads(match: Match) -> _Loaded | None:
    if makes_sample(match.node, match.module):
        return _Loaded.SAMPLE
    collated = _collates(match.module, match.module.function(match.node))
    alone = "no `__getitem__` of a dataset and no collate function of the file runs this"
    return _Loaded.BATCH if collated else because(None, alone)


def _moves_a_batch(match: Match) -> bool:
    whole = "a collate function copies the batch as a whole"
    return match.found(_Loaded) is _Loaded.BATCH and because(True, whole)


def _keeps_on_device(match: Match) -> bool:
    """Whether the dataset keeps tensors on the GPU, with those that it loads."""
    keeps = match.found(_Loaded) is _Loaded.SAMPLE and _class_keeps_on_device(
        match.module, match.module.class_(match.node)
    )
    return keeps and because(True, "the dataset keeps tensors on the GPU, perhaps all of its data")


@once
def _class_keeps_on_device(module: Module, class_: cst.ClassDef | None) -> bool:
    return any(puts_on_device(each, [], module) for each in filter(None, [class_]))


@once
def _collates(module: Module, function: cst.FunctionDef | None) -> bool:
    return any(collates(each, module) for each in filter(None, [function]))


def _message(match: Match) -> str:
    if match.found(_Loaded) is _Loaded.SAMPLE:
        return (
            "This copies single samples to the GPU, which no worker process can do; move the "
            "batch in the training loop."
        )
    return (
        "This copies the batch to the GPU while it is collated, which no worker process can do; "
        "move it in the training loop."
    )


rule = Rule(
    code="TL107",
    effect=Effect.LARGE,
    summary="a dataset moves single samples to the GPU",
    triggers=(r"__getitems?__|collate_fn[ \t]{0,9}=|\b(?:def|class) \w{0,80}[cC]ollat",),
    finds=(
        method("cuda", "to", where=(_moves, _loads), hint_if=(_moves_a_batch, _keeps_on_device)),
        passes("device", where=(_makes, _loads), hint_if=(_moves_a_batch, _keeps_on_device)),
    ),
    message=_message,
)

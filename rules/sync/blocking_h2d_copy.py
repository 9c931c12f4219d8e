"""Copy pinned batches in the background.

## What it does
Reports `images.to(device)` and `labels.cuda()` without `non_blocking=True` on each training step,
in a program whose loader has `pin_memory=True`.

## Why it is slow
The GPU reads pinned memory by itself, while Python continues. But `.to(device)` still waits for the
copy, and the copy takes its turn behind everything that the GPU has queued: usually the backward
pass and the optimizer of the step before. With `non_blocking=True` the copy is queued as well, and
Python can prepare the next kernels meanwhile. What the GPU does afterwards still sees the whole
batch, since it works in order.

## Example
```python
for images, labels in loader:
    images = images.to(device)
    labels = labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## When it is silent
If no loader of the program has `pin_memory=True`, or the one of this loop does not: from ordinary
memory `non_blocking=True` gains little. For whole batches, `batch.to(device)`, which may be objects
that do not take the argument; where Lightning, Accelerate or a `Trainer` moves the batches; in
evaluation and in tests. It is a hint: where Python waits for the GPU on each step anyway, as for
`loss.item()`, nothing is gained.

## Fix safety
**Unsafe**: the host memory of the batch must not be overwritten before the copy is done. Batches of
a `DataLoader` are not, unless the loader reuses its memory by itself.

## How verify confirms it
It measures the fix, which needs a GPU. A batch that is small compared with the step leaves the
ratio UNRESOLVED around 1. The numbers are bitwise equal.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
- PyTorch CUDA notes, "Use pinned memory buffers"
"""

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.batch_parts import is_part_of_batch
from torchlint.analysis.training.transfers import transfer_of
from torchlint.rule import (
    Applicability,
    Context,
    Match,
    Module,
    Rule,
    Tier,
    because,
    method,
    once,
    pass_argument,
)


def _moves_batch(match: Match) -> bool:
    """Whether a tensor of a batch is moved to a device."""
    if transfer_of(match.call, match.module) is None:
        return because(False, "nothing shows that this copies to a device")
    said = "nothing shows that {:code} is a tensor straight from a loader"
    return is_part_of_batch(match.receiver, match.module) or because(False, said, match.receiver)


def _says_whether_it_blocks(match: Match) -> bool:
    given = argument(match.call, "non_blocking")
    if given is not None:
        return because(True, "`non_blocking` is {:code} here", given)
    for arg in match.call.args:
        if isinstance(literal(arg.value), bool):
            return because(True, "{:code} may say whether Python waits", arg)
    return False


def _framework_moves(match: Match) -> bool:
    """Whether a framework that pins memory itself also moves the batches."""
    imported = match.module.imported
    moves = frameworks.owns("pinned memory", imported)
    return moves and because(
        True,
        "a framework moves the batches itself: the file imports {}",
        next(f"`{each}`" for each in imported if frameworks.owns("pinned memory", (each,))),
    )


def _loads_unpinned(match: Match) -> bool:
    loader = _unpinned(match.module)
    return loader is not None and because(True, "{} does not pin its batches", loader)


@once
def _unpinned(module: Module) -> cst.Call | None:
    """The first loader that the file makes, if none of them pins its batches."""
    calls = module.calls_by_name.get("torch.utils.data.DataLoader", ())
    return None if any(_may_pin(each, module) for each in calls) else next(iter(calls), None)


def _may_pin(call: cst.Call, module: Module) -> bool:
    given = module.argument(call, "pin_memory", 7)
    return module.has_star_kwargs(call) or (given is not None and literal(given) is not False)


def _message(match: Match) -> str:
    name = match.module.source(match.receiver)
    return (
        f"Python waits for the copy of `{name}`, behind all that the GPU has queued; pass "
        "`non_blocking=True`, since it is pinned."
    )


rule = Rule(
    code="TL206",
    summary="Python waits while a pinned batch is copied to the device",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(method("to", "cuda", where=(_moves_batch,)),),
    unless=(_says_whether_it_blocks, _loads_unpinned, _framework_moves),
    message=_message,
    change=pass_argument("non_blocking", "True"),
    contexts=(Context.HOT, Context.ACCELERATOR),
    program_has={
        "a pinned loader": r"pin_memory['\"]?\s*[=:][\s(]*(?:True|[\w.\[\]'\" =!]{0,40}cuda)"
    },
    needs_gpu=True,
)

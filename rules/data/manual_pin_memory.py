"""Copy a batch to the GPU directly, without pinning it by hand.

## What it does
Reports `x.pin_memory()` on every training step, where its result is only moved to the GPU.

## Why it is slow
`pin_memory()` copies the batch into page-locked memory while Python waits. A plain `x.to(device)`
does the same in small pieces by itself. So the batch is copied once more than needed; according to
PyTorch's own tutorial this can take twice as long as a straightforward `x.to(device)`. Pinning pays
where another thread does it, as a `DataLoader` with `pin_memory=True` has one.

## Example
```python
for images, labels in loader:
    images = images.pin_memory().to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images = images.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```
Better still, let the loader pin its batches, and pass `non_blocking=True` here.

## When it is silent
For tensors that are pinned once, outside of the step loop, or kept for other uses; in collate
functions and datasets; in threads and prefetchers, and under `with torch.cuda.stream(…)`, where the
copy overlaps with the step.
It is a hint: the extra copy of a small tensor costs next to nothing. With `non_blocking=True` it is
reported with `--pedantic` only: Python then does not wait for the work that the GPU has queued,
which may save more than the pinning costs.

## Fix safety
**Unsafe**: no value changes, but a copy with `non_blocking=True` from ordinary memory waits for the
work that the GPU has queued.

## How verify confirms it
It measures the copy without `pin_memory()`, which needs a GPU. The numbers are bitwise equal.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
- PyTorch documentation, `torch.Tensor.pin_memory`
"""

import re

import libcst as cst

from torchlint.analysis.training.batches import loads
from torchlint.analysis.uses import method_behind, method_name, reads_of_targets
from torchlint.rule import Applicability, Change, Context, Match, Rule, Tier, because, edits, method

_BACKGROUND = re.compile(r"thread|prefetch|preload|background|producer|worker", re.IGNORECASE)


def _moves(match: Match) -> list[cst.Call] | None:
    """`pinned.to(device)` or `pinned.cuda()` for each use of the pinned tensor, by its name or
    where it is pinned; None if it is used for something else."""
    module, moves = match.module, []
    named = reads_of_targets(module.parent(match.node), module)
    uses: list[cst.BaseExpression] = [*named] or [match.call]
    for use in uses:
        call = method_behind(use, module)
        if call is None or method_name(call) not in ("to", "cuda"):
            other = "the pinned tensor is used for more than `.to(…)` and `.cuda()`, in {:line}"
            return because(None, other, use)
        moves.append(call)
    return moves


def _waits(match: Match) -> bool:
    """Whether Python waits while the batch is moved."""
    for move in match.found(list):
        if match.module.argument(move, "non_blocking") is not None:
            return because(False, "Python continues during the copy, by `non_blocking` of {}", move)
    return True


def _goes_on(match: Match) -> bool:
    return not _waits(match) or because(False, "Python waits for the copy")


def _has_own_stream(match: Match) -> bool:
    """Whether the copy runs in a stream of its own, while the step runs."""
    for above in match.module.ancestors(match.node):
        for item in above.items if isinstance(above, cst.With) else ():
            made = item.item
            names = match.module.resolve(made.func) if isinstance(made, cst.Call) else ()
            if "torch.cuda.stream" in names:
                return because(True, "the copy overlaps with the step, under {}", above)
    return False


def _runs_in_background(match: Match) -> bool:
    """Whether a thread or a worker process pins the batch."""
    module, function = match.module, match.module.function(match.node)
    class_ = module.class_(match.node)
    names = [each.name.value for each in (class_, function) if each is not None]
    bases = module.definitions.bases(class_) if class_ is not None else []
    if loads(match.node, module):
        return because(True, "this runs where batches are loaded, perhaps in a worker process")
    named = next(filter(_BACKGROUND.search, names + bases), None)
    background = "by the name `{}`, this runs in the background, while the step runs"
    return named is not None and because(True, background, named)


def _without(match: Match) -> Change:
    module, assign = match.module, match.module.parent(match.node)
    left = module.source(match.receiver)
    if isinstance(assign, cst.Assign) and module.source(assign.targets[0].target) == left:
        return "Remove the line", edits.delete_statement(module, assign)
    return "Remove `pin_memory()`", edits.keep_receiver(module, match.call)


rule = Rule(
    code="TL110",
    summary="each batch is pinned by hand before it is copied to the GPU",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        method("pin_memory", where=(_moves, _waits)),
        method("pin_memory", where=(_moves, _goes_on), tier=Tier.PEDANTIC),
    ),
    unless=(_has_own_stream, _runs_in_background),
    message="`pin_memory()` copies the batch once more while Python waits; move it to the GPU "
    "directly, or let the loader pin its batches.",
    change=_without,
    contexts=(Context.HOT,),
    needs_gpu=True,
    in_tests=True,
)

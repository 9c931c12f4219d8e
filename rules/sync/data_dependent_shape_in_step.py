"""Keep the sizes of tensors independent of their values.

## What it does
Reports operations on each training step whose result has a size that depends on values:
`x[mask]`, `nonzero`, `torch.where` with one argument, `masked_select`, `argwhere`, `unique`,
`bincount`, `repeat_interleave` with a tensor of repeats, `one_hot` without `num_classes`. Also
`x[mask] = y` for a tensor `y`, since torch makes indices of the mask first.

## Why it is slow
The host has to allocate the result, so it waits until the GPU has counted the elements. Everything
that was queued is then finished, and the GPU is idle until the host has queued more, as after
`.item()`. `torch.compile` breaks the graph here, since it needs to know sizes.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    losses = F.cross_entropy(model(images), labels, reduction="none")
    loss = losses[labels > 0].mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    losses = F.cross_entropy(model(images), labels, reduction="none")
    known = (labels > 0).float()
    loss = (losses * known).sum() / known.sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
Losses of torch leave out elements themselves, by `ignore_index`. Where a fixed number is enough,
`topk` has a known size. For a mask that stays the same, take the indices once, before the loop:
`known = mask.nonzero().squeeze(1)`. `repeat_interleave` takes the size of its result as
`output_size`.

## When it is silent
For `x[mask] = 0`, a number, which does not wait; for arrays and for tensors on the CPU; in
evaluation; under `if step % 100 == 0` and similar conditions; in tests and documentation. It is a
hint, unless all that is made of the chosen elements is a sum, a mean or a loss, since the other
operations may have no substitute that is as fast; and where nothing shows on which device the
tensors are. A name such as `train_mask` or `visibility_filter` is taken for a mask.

## Fix safety
There is no fix: sums and means need other code than the chosen elements did.

## How verify confirms it
There is no fix to measure. Give it your own change, on a GPU: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch documentation, `torch.nonzero`: "causes host-device synchronization"
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- A thread in which masks were the cost: fairchem #2193
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.training.syncs import Operand, operand_at, tensor_at
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import ON_HOST, TENSORS, Kind
from torchlint.rule import (
    Context,
    Match,
    Module,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    method,
)

from ._boolean_masks import TRUTHS, is_mask, is_only_reduced, telling
from ._sample_loops import rounds

_NAMES = ("argwhere", "bincount", "masked_select", "nonzero", "unique", "unique_consecutive")
_MESSAGE = (
    "The size of this depends on values, so the host waits for the GPU on every step; keep all "
    "elements, and leave out what you do not need by a product with a mask or `torch.where`."
)
_WRITES = (
    "To put a tensor where a mask holds, its places are counted first, so the host waits for the "
    "GPU on every step; use `torch.where(mask, new, old)`."
)
_NEEDED = "the chosen elements are needed, and no operation is known to be as fast"
_SAID = "it is told the number of classes"


def _has_one_argument(match: Match) -> bool:
    chooses = "with three arguments it takes from two tensors, and its size is known"
    return len(match.call.args) == 1 or because(False, chooses)


def is_method(match: Match) -> bool:
    return not match.module.resolve(match.call.func)


def _operand(match: Match) -> Operand | None:
    """What is looked through: the tensor whose method it is, or the first argument."""
    given = match.receiver if is_method(match) else match.module.argument(match.call, "input", 0)
    return operand_at(given, match.module)


def _repeats(match: Match) -> Operand | None:
    """The tensor that says how often each element is repeated."""
    if match.module.argument(match.call, "output_size") is not None:
        return because(None, "`output_size` says how large the result is")
    position = 0 if is_method(match) else 1
    return operand_at(match.module.argument(match.call, "repeats", position), match.module)


def _counts_classes(match: Match) -> bool:
    given = match.module.argument(match.call, "num_classes", 1)
    return given is None or match.module.literal(given) == -1 or because(False, _SAID)


def _is_needed(match: Match) -> bool:
    """Whether code needs the chosen elements, and not only their sum, mean or loss."""
    chooses = method_name(match.call) == "masked_select"
    only = chooses and is_only_reduced(match.call, match.module)
    return not only and because(True, _NEEDED)


rule = Rule(
    code="TL215",
    summary="the size of a tensor depends on values on every training step",
    finds=(
        calls(*(f"torch.{name}" for name in _NAMES), where=(_operand,), hint_if=(_is_needed,)),
        calls("torch.where", where=(_has_one_argument, _operand), hint_if=(_is_needed,)),
        method(*_NAMES, where=(is_method, _operand), hint_if=(_is_needed,)),
        calls("torch.repeat_interleave", where=(_repeats,), hint_if=(_is_needed,)),
        method("repeat_interleave", where=(is_method, _repeats), hint_if=(_is_needed,)),
        calls(
            "torch.nn.functional.one_hot",
            message="Without `num_classes` the largest class is looked for, so the host waits for "
            "the GPU on every step; pass `num_classes`.",
            where=(_counts_classes, _operand),
        ),
    ),
    message=_MESSAGE,
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=Triggers(
        on_demand=(
            rf"\b(?:{'|'.join(_NAMES)}|where|one_hot|repeat_interleave)\(|[<>]|[=!]=|mask\]"
            rf"|\.(?:{'|'.join(sorted(TRUTHS))})\(|torch\.bool\b",
        )
    ),
    needs_gpu=True,
)


@rule.on(cst.Subscript)
def reads_by_a_mask(read: cst.Subscript, module: Module) -> Iterable[Reported]:
    index = read.slice[0].slice
    if not isinstance(index, cst.Index) or not is_mask(index.value, module):
        return ()
    target = module.parent(read)
    writes = isinstance(target, cst.AssignTarget)
    if isinstance(target, cst.AssignTarget) and not _is_given_a_tensor(target, module):
        return because((), "a number is filled in without a tensor whose size is unknown")
    operand = _of_mask(read, index.value, module)
    if operand is None:
        return ()
    needed = writes or not is_only_reduced(read, module)
    tier = because(Tier.HINT, _NEEDED) if needed else Tier.DEFAULT
    message = (_WRITES if writes else _MESSAGE) + rounds(read, module)
    return rule.report(module, read, message, tier=tier, operand=operand)


def _of_mask(read: cst.Subscript, mask: cst.BaseExpression, module: Module) -> Operand | None:
    """What is known of `x[mask]`; a guess where nothing is, and neither is on the host."""
    chosen = module.value(read.value)
    told = telling(read, mask, module)
    if chosen.only(ON_HOST) or module.value(mask).only(ON_HOST):
        return operand_at(told, module)
    known = tensor_at(told, module)
    other = mask if chosen.has(Kind.DEVICE) else read.value
    return known or tensor_at(other, module) or off_device(None, other, module)


def _is_given_a_tensor(target: cst.AssignTarget, module: Module) -> bool:
    """`x[mask] = y`: a tensor is put in by indices, which are made of the mask first."""
    assign = module.parent(target)
    given = module.value(assign.value) if isinstance(assign, cst.Assign) else None
    return given is not None and given.has(TENSORS) and given.only(TENSORS | Kind.PARAMETER)

"""Keep tensors on the device while training, and copy them to the host once, when they are needed.

## What it does
Reports `.cpu()`, `.to("cpu")`, `.numpy()`, `.tolist()` and `np.asarray(tensor)` that copy a device
tensor to the host on each training step, in the step loop or in a helper that it calls.

## Why it is slow
The copy waits until the GPU has finished everything in its queue, then moves the tensor over the
bus, and only then does Python continue. The work that follows is usually available in torch too,
and would run on the device without the wait.

## Example
```python
for points, target in loader:
    logits = model(points.to(device))
    loss = criterion(logits, target.to(device))
    loss.backward()
    optimizer.step()
    choice = logits.cpu().argmax(1)
    correct += (choice == target).sum()
```

## Use instead
```python
for points, target in loader:
    target = target.to(device)
    logits = model(points.to(device))
    loss = criterion(logits, target)
    loss.backward()
    optimizer.step()
    choice = logits.argmax(1)
    correct += (choice == target).sum()
```

## When it is silent
In tests and documentation; in evaluation, where collecting outputs on the host keeps the GPU's
memory free; for modules (`model.cpu()`); with `non_blocking=True`, for which Python does not wait;
under `if step % 100 == 0` and similar conditions; in `except` blocks; for actions and other input
of an environment; for replay buffers. If a function outside torch and NumPy uses the copy (a
matcher, a metric), it is a hint, since that function may need it on the host; so are the priorities
of a replay buffer, and the lengths that `pack_padded_sequence` needs there.

## Fix safety
There is no fix: what to do depends on what uses the copy, and the message names it.

## How verify confirms it
There is no fix to measure. Give it your own change, on a GPU: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.consumers import (
    consumer,
    is_action,
    is_priority,
    is_stored,
    needs_host_tensor,
)
from torchlint.analysis.training.syncs import Sync, operand_of, sync_of
from torchlint.rule import Context, Module, Reported, Rule, Tier, because

from ._rounds import for_each

rule = Rule(
    code="TL202",
    summary="a tensor is copied to the host on every training step",
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=(r"\.cpu\(|\.numpy\(|\.tolist\(|['\"]cpu['\"]|\.type\(|asarray\(|np\.array\(",),
    needs_gpu=True,
)

_PRIORITY = (
    "The replay buffer keeps priorities on the host, and this copy waits for the GPU on every "
    "step; copy them after the optimizer step, or set them one step later."
)
_LENGTHS = (
    "torch needs these numbers on the host, and this copy waits for the GPU on every step; keep "
    "them there, as the loader gives them, when the rest of the batch is moved."
)
_TENSOR_LIBRARIES = ("torch.", "numpy.", "builtins.", "torchvision.")


@rule.on(cst.Call)
def copies_to_the_host_each_step(call: cst.Call, module: Module) -> Iterable[Reported]:
    sync = sync_of(call, module)
    if sync is None or sync.scalar:
        return ()
    operand = operand_of(sync, module)
    if operand is None or is_action(sync, module) or is_stored(sync, module):
        return ()
    taker = consumer(sync, module)
    outsider = taker is not None and _is_outsider(taker, module)
    message, tier = _message(sync, taker, outsider), Tier.DEFAULT
    if needs_host_tensor(sync, module):
        message, tier = _LENGTHS, because(Tier.HINT, "torch takes these numbers on the host alone")
    elif is_priority(sync, module):
        message = _PRIORITY
        tier = because(Tier.HINT, "a replay buffer keeps priorities on the host")
    elif outsider:
        tier = because(Tier.HINT, "{} may need the copy on the host", taker)
    message += for_each(call, module)
    return rule.report(module, call, message, tier=tier, operand=operand)


def _is_outsider(taker: cst.Call, module: Module) -> bool:
    """Whether a function that is neither torch nor NumPy nor a collecting method takes it."""
    names = module.resolve(taker.func)
    if any(name.startswith(_TENSOR_LIBRARIES) for name in names):
        return False
    if isinstance(taker.func, cst.Attribute):
        return taker.func.attr.value not in ("append", "extend", "update", "format", "eq")
    return True


def _message(sync: Sync, taker: cst.Call | None, outsider: bool) -> str:
    name = dotted_text(taker.func) if taker is not None else ""
    fact = f"`{sync.how}` copies a tensor to the host on every step and waits for the GPU"
    if outsider and name:
        return f"{fact}; keep the work on the device unless `{name}` needs a host tensor."
    if name:
        return f"{fact} for `{name}`; do that on the device, or once after the loop."
    return f"{fact}; do what follows on the device, or copy once after the loop."

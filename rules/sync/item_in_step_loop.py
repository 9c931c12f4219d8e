"""Read numbers from the device when they are needed, not on every step.

## What it does
Reports `.item()`, `float(tensor)` and `int(tensor)`, and tensors in f-strings, `%` and `.format()`,
that run on each training step: in the step loop itself, or in a helper that the loop calls, in this
file or another.

## Why it is slow
The host queues work for the GPU and runs ahead of it. A number can only be read once everything
before it has finished, so each read empties the queue, and the GPU is idle until Python has queued
the next kernels. How much that costs depends on how far ahead the host would have been. On a CPU
it costs nothing, so the rule reports only code that uses an accelerator.

## Example
```python
running = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    running += loss.item()
print(running / len(loader))
```

## Use instead
```python
running = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    running += loss.detach().float()
running = float(running)
print(running / len(loader))
```

## When it is silent
In tests and documentation; in evaluation; under `if step % 100 == 0` and similar conditions; in
`except` blocks; in LBFGS closures; if the same number was read just before; if the host needs the
number to continue, such as an action for an environment or the check for early stopping, also with
a patience. Under a condition for one process (`if rank == 0`) and under `torch.no_grad()` inside
the loop it is a hint.

## Fix safety
A sum that the loop only adds to stays on the device and becomes a number after the loop. For
counts (`(a == b).sum()`) this is exact and **safe**. For float sums it is **unsafe**: they are
then added in float32, with a relative error of about 6e-6 after 100,000 steps. `.float()` is
needed: a bfloat16 sum stops growing after about a thousand steps. Other reads have no fix: guard
them, or append `loss.detach()` to a list and `torch.stack` it at the end.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.training.consumers import decides_on_the_host, is_action
from torchlint.analysis.training.syncs import Operand, formatted, is_read_again, operand_of, sync_of
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Context, Rule

from ._accumulator import sum_on_device

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Module, Reported

rule = Rule(
    code="TL201",
    name="item-in-step-loop",
    family="sync",
    summary="a number is read from the device on every training step",
    fix=Applicability.SAFE,
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=(r"\.item\(\)|\bfloat\(|\bint\(",),
    off_in_tests=True,
    needs_gpu=True,
)

_FORMATTED = (
    "Formatting a tensor reads its number, so the host waits for the GPU on every step; format it "
    "every few steps, or after the loop."
)
_TEXT = "the text is made on every step: put it under `if step % 100 == 0`"


@rule.on(cst.Call)
def reads_a_number_each_step(call: cst.Call, module: Module) -> Iterable[Reported]:
    sync = sync_of(call, module)
    if sync is None or not sync.scalar:
        return ()
    operand = operand_of(sync, module)
    if operand is None or is_action(sync, module) or decides_on_the_host(sync, module):
        return ()
    if is_read_again(sync, module):
        return ()
    read = f"`{sync.how}`" if sync.how.startswith(".") else f"`{sync.how[:-1]}…)` of a tensor"
    message = (
        f"{read} makes the host wait for the GPU on every step; keep the value on the device and "
        "read it every few steps or after the loop."
    )
    fix, withheld = sum_on_device(sync, module)
    return rule.report(module, call, message, fix=fix, withheld=withheld, operand=operand)


@rule.on(cst.FormattedStringExpression, cst.BinaryOperation, cst.Call)
def formats_a_number_each_step(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    for tensor in formatted(node, module):
        value = module.value(tensor)
        if value.has(Kind.DEVICE) and value.only(Kind.DEVICE | Kind.LIKELY):
            where = Operand(True, True, ())
            yield from rule.report(module, tensor, _FORMATTED, withheld=_TEXT, operand=where)

"""Read numbers from the device when they are needed, not on every step.

## What it does
Reports `.item()`, `float(tensor)` and `int(tensor)`, and tensors that are shown (in f-strings, `%`,
`.format()` and `print`, by `accelerator.print`, a logger, `add_scalar`, `wandb.log`,
`mlflow.log_metric` and a progress bar's `set_postfix`), where each training step does so: in the
step loop itself, or in a helper that the loop calls, in this file or another.

## Why it is slow
The host queues work for the GPU and runs ahead of it. A number can only be read once everything
before it has finished, so each read empties the queue, and the GPU is idle until Python has queued
the next kernels. How much that costs depends on how far ahead the host would have been. On a CPU
it costs nothing, so the rule reports only code that uses an accelerator. A loop within the step,
over parameters or samples, pays for each of its rounds; the message then says so.

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
number to continue, such as an action for an environment or an early-stopping check, with or without
patience.

Where nothing shows what `.item()` is called on, or on which device it is, the finding is a hint.

## Fix safety
Code that uses the number can often use the tensor instead; the fix then leaves it on the device:

- A sum that the loop only adds to becomes a number after the loop. For counts
  (`(a == b).sum()`) this is exact and **safe**. For float sums it is **unsafe**: they are then
  added in float32, with a relative error of about 6e-6 after 100,000 steps. `.float()` is needed:
  a bfloat16 sum stops growing after about a thousand steps.
- A list that the loop only fills gets `.detach()`ed tensors and becomes numbers after the loop, by
  one `torch.stack`. The numbers stay the same, so this is **safe**, but **unsafe** if the list
  grows over several loops: each tensor holds 512 bytes of the GPU's memory.
- A number that is only printed now and then (`f"{value:.3f}"` under `if step % 100 == 0`) is read
  there: **safe**.
- A coefficient (`alpha = log_alpha.exp().item()`, then `alpha * entropy`) needs no read at all:
  **unsafe**, since a number and a tensor may round differently in half precision.

There is no fix where the tensor could change in the meantime (`loss /= 4`, a parameter, a replayed
CUDA graph), and where other code may need the number: the message says what to do then.

## How verify confirms it
It measures each fix, which needs a GPU: on a CPU there is nothing to wait for, and the finding is
NOT MEASURABLE HERE. Losses are bitwise equal; a sum that is now added in float32 is equal up to
rounding.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

from collections.abc import Iterable, Sequence

import libcst as cst

from torchlint.analysis.training.consumers import decides_on_the_host, is_action
from torchlint.analysis.training.purposes import Purpose, purpose_of
from torchlint.analysis.training.syncs import (
    Operand,
    is_read_again,
    operand_of,
    reads_again,
    shown,
    sync_of,
    waited_before,
)
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Context, Module, Position, Related, Reported, Rule

from .._rounds import for_each
from .kept_numbers import fix_of

rule = Rule(
    code="TL201",
    summary="a number is read from the device on every training step",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=(
        r"\.item\(\)|\bfloat\(|\bint\(|add_scalars?\(|\.print\(|wandb\.log|log_metric|set_postfix",
    ),
    needs_gpu=True,
)

_INSTEAD = {
    Purpose.SIZE: "take it before the data is moved to the device, if it is known there, or read "
    "all such numbers at once by `.tolist()`",
    Purpose.CONDITION: "check it every few steps, or let torch decide on the device",
    Purpose.COEFFICIENT: "torch can compute with the tensor itself: `.detach()` takes its place",
    Purpose.SUM: "add it up on the device and read the sum every few steps or after the loop",
    Purpose.LIST: "append `.detach()`ed tensors, and `torch.stack` and read them after the loop",
    Purpose.RETURNED: "return it `.detach()`ed, so that the caller reads it when it is shown",
    Purpose.STORED: "store it `.detach()`ed, and read it every few steps, where it is shown",
    Purpose.LOGGED: "log it every few steps, or keep `.detach()`ed tensors and read them then",
    Purpose.TEXT: "print it every few steps",
    Purpose.SHOWN_RARELY: "it is only used now and then: read it there",
    Purpose.UNKNOWN: "keep the value on the device and read it every few steps or after the loop",
}
"""What to do instead, by what the number is for."""
_SHOWN = (
    "Showing a tensor reads its number, so the host waits for the GPU on every step; show it every "
    "few steps, or after the loop."
)
_TEXT = "it is shown on every step: put it under `if step % 100 == 0`"


@rule.on(cst.Call)
def reads_a_number_each_step(call: cst.Call, module: Module) -> Iterable[Reported]:
    sync = sync_of(call, module)
    if sync is None or not sync.scalar:
        return ()
    operand = operand_of(sync, module)
    if operand is None or is_action(sync, module) or decides_on_the_host(sync, module):
        return ()
    if is_read_again(sync.operand, call, module):
        return ()
    read = f"`{sync.how}`" if sync.how.startswith(".") else f"`{sync.how[:-1]}…)` of a tensor"
    purpose = purpose_of(sync, module)
    message = f"{read} makes the host wait for the GPU on every step; {_INSTEAD[purpose]}."
    message += for_each(call, module)
    waited = waited_before(call, module)
    if waited is not None:
        row = module.span(waited)[0].row
        message += f" `synchronize()` in line {row} waits before it, so both must go."
    again = [module.span(each)[0] for each in reads_again(sync, module)]
    if again:
        message += f" {_again(again)}"
    return rule.report(
        module,
        call,
        message,
        fix=fix_of(sync, purpose, module),
        related=tuple(Related(module.path, at, "the same number is read again") for at in again),
        operand=operand,
    )


def _again(places: Sequence[Position]) -> str:
    """`Lines 12 and 13 read it again, and wait in its place once it is gone.`"""
    rows = sorted({str(each.row) for each in places}, key=int)
    if len(rows) == 1:
        return f"Line {rows[0]} reads it again, and waits in its place once it is gone."
    listed = f"{', '.join(rows[:-1])} and {rows[-1]}"
    return f"Lines {listed} read it again, and wait in its place once it is gone."


@rule.on(cst.FormattedStringExpression, cst.BinaryOperation, cst.Call)
def shows_a_number_each_step(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    for tensor in _shown(node, module):
        value = module.value(tensor)
        if not value.has(Kind.DEVICE) or not value.only(Kind.DEVICE | Kind.LIKELY):
            off_device(None, tensor, module)
        elif not is_read_again(tensor, tensor, module):
            where = Operand(True, True, ())
            message = _SHOWN + for_each(tensor, module)
            yield from rule.report(module, tensor, message, withheld=_TEXT, operand=where)


def _shown(node: cst.CSTNode, module: Module) -> Iterable[cst.BaseExpression]:
    """What is shown, without what is certainly no tensor, unless names of such are all there is."""
    parts = [each for each in shown(node, module) if not isinstance(each, cst.BaseString)]
    if all(isinstance(each, cst.Name | cst.Attribute) for each in parts):
        known = [each for each in parts if module.value(each).only(Kind.HOST)]
        return [each for each in parts if each not in known] or known
    return [each for each in parts if not module.value(each).only(Kind.HOST)]

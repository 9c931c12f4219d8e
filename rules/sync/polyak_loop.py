"""Average all parameters in one call, not one by one on every step.

## What it does
Reports a loop over the parameters of a model that updates a moving average of each, on every
training step: for a target network, a momentum encoder, a teacher, or the weights to evaluate
with.

## Why it is slow
Each parameter takes two or more kernels, and Python starts them one after the other. A network with
300 parameters needs 600 kernels or more for one average, most of them so small that the GPU waits
for the next. The functions of torch for lists of tensors do the same with a few kernels for all
parameters together. Measured on a CPU for 400 small tensors: 5.7 times as fast.

## Example
```python
average = copy.deepcopy(model)
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
    with torch.no_grad():
        for kept, current in zip(average.parameters(), model.parameters()):
            kept.mul_(0.999).add_(current, alpha=1 - 0.999)
```

## Use instead
```python
average = copy.deepcopy(model)
update = torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
    update(list(average.parameters()), list(model.parameters()), 0)
```
`torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=update)` keeps the copy as well. Both need
torch 2.1.

## When it is silent
Under `if step % 100 == 0` and similar conditions; for a plain copy of all parameters; where the
weights do not add up to 1, as in an optimizer; for buffers; in tests and documentation; for a torch
before 2.1.

## Fix safety
**Unsafe**: `get_ema_multi_avg_fn` computes `average + (1 - decay) * (x - average)`, which rounds
differently. It also needs both lists to have the same length, dtypes and device. There is a fix
where the loop does nothing but one average of `zip(a.parameters(), b.parameters())`, or of names
that were given `list(a.parameters())`.

## How verify confirms it
It measures the fix, on a CPU too; losses of the trained network are bitwise equal as long as the
average takes no part in them.

## References
- PyTorch documentation, `torch.optim`: "Weight Averaging (SWA and EMA)"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.training.parameter_loops import goes_over_parameters
from torchlint.rule import Applicability, Context, Fix, Module, Reported, Rule, because, edits

from ._averages import averages, in_one_call, why_not_in_one_call

rule = Rule(
    code="TL216",
    summary="a moving average of the parameters is computed one by one on every training step",
    fix=Applicability.UNSAFE,
    contexts=(Context.HOT,),
    since=(2, 1),
    triggers=(r"parameters\(|state_dict\(", r"\+|add_\(|sub_\(|lerp"),
    may_change="the average rounds differently",
)


@rule.on(cst.For)
def averages_parameters_one_by_one(loop: cst.For, module: Module) -> Iterable[Reported]:
    if not goes_over_parameters(loop, module):
        return ()
    if not averages(loop, module):
        return because((), "nothing in the loop is known to be an average of two tensors")
    message = (
        "This loop averages the parameters one by one on every step; average them in one call, by "
        "`torch.optim.swa_utils.get_ema_multi_avg_fn`."
    )
    text = in_one_call(loop, module)
    if text is None:
        withheld = why_not_in_one_call(loop, module)
        return rule.report(module, loop, message, withheld=withheld)
    changes = (edits.replace_statement(module, loop, text), *edits.add_import(module, "torch"))
    fix = Fix(Applicability.UNSAFE, "Average all parameters in one call", changes)
    return rule.report(module, loop, message, fix=fix)

"""Let torch decide on the device, instead of asking a tensor for its truth on every step.

## What it does
Reports a decision that Python takes by a tensor on the device, on each training step:
`if mask.any():`, `if loss > 10:`, `assert (x > 0).all()`, `bool(tensor)`, `max(mask.sum(), 1)`.

## Why it is slow
`if` needs a Python bool, so the host waits until the GPU has computed the condition, as for
`.item()`, but nothing in the line says so. Each such place empties the queue of kernels that the
host had run ahead with; and `torch.compile` cannot continue across it, so the graph breaks there.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    if loss > 10:
        loss = loss / 10
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    loss = criterion(model(images), labels)
    loss = torch.where(loss > 10, loss / 10, loss)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## When it is silent
In tests and documentation; in evaluation; under `if step % 100 == 0` and similar conditions; where
the decision ends a loop, as in early stopping; for what the host knows anyway (`x is None`,
`x.shape[0] > 1`, `len(x)`). A check for numbers that are not finite, such as
`if torch.isnan(loss):` and `math.isfinite(loss)`, is a hint, also where it ends the loop: it costs
the same, but somebody wants it on every step.

## Fix safety
There is no fix: whether `torch.where`, a mask or a rarer check fits depends on the branches.

## How verify confirms it
There is no fix to measure. Give it your own change, on a GPU: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization", which lists "python
  control flow which depends on results of CUDA tensors"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.steps.guards import asks_for_identity, looks_for_broken
from torchlint.analysis.training.consumers import ends_a_loop
from torchlint.analysis.training.truths import operand_of_truth, truths
from torchlint.rule import Context, Module, Reported, Rule, Tier, Triggers, because

rule = Rule(
    code="TL204",
    summary="Python decides by a tensor of the device on every training step",
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=Triggers(
        on_demand=(
            r"\b(?:if|elif|assert|while)\b|\bbool\(|(?<![.\w])(?:max|min)\(",
            r"\.(?:any|all|sum|max|min|mean|norm|isnan|isinf|isfinite)\(",
        )
    ),
    needs_gpu=True,
)

_MESSAGE = (
    "Python needs this decision, so the host waits for the GPU on every step; let torch decide "
    "(`torch.where`, `.clamp()`, a mask), or decide every few steps."
)
_FINITE = (
    "This check makes the host wait for the GPU on every step; check every few steps, or let the "
    "gradient scaler skip such steps."
)
_WANTED = "it looks for numbers that are not finite, which may be worth a wait on every step"


@rule.on(cst.If, cst.IfExp, cst.Assert, cst.Call)
def decides_by_a_tensor_each_step(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    asked = truths(node, module)
    for truth in [each for each in asked if not asks_for_identity(each)] or asked:
        finite = looks_for_broken(truth)
        operand = operand_of_truth(truth, module)
        if operand is None or (ends_a_loop(truth, module) and not finite):
            continue
        tier = because(Tier.HINT, _WANTED) if finite else Tier.DEFAULT
        message = _FINITE if finite else _MESSAGE
        yield from rule.report(module, truth, message, tier=tier, operand=operand)

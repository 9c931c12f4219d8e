"""Let torch work on all gradients at once, not one by one in Python.

## What it does
Reports a loop over the parameters of a model that computes with each gradient on every training
step: `p.grad.norm()`, `p.grad.mul_()`, `p.grad.clamp_()`, `p.data.add_(p.grad, alpha=-lr)`.

## Why it is slow
Each parameter takes a kernel or more, and Python starts them one after the other, while the
functions of torch take lists of tensors and need a few kernels for all of them. `.item()` in such a
loop makes the host wait for the GPU once for each parameter. Measured on a CPU for 400 small
gradients: `clip_grad_norm_` is 1.7 times as fast as a loop that clips.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    for p in model.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 1)
    optimizer.step()
    optimizer.zero_grad()
```
`torch.nn.utils.clip_grad_norm_` returns the norm of all gradients as a tensor; with
`max_norm=float("inf")` it only computes it. `torch.optim.SGD` takes the place of an update by hand.

## When it is silent
Under `if step % 100 == 0` and similar conditions; in classes that inherit from an optimizer; where
the loop also exchanges the gradients between processes; in tests and documentation. It is pedantic,
since a loop over few parameters costs little, and a hint where each gradient is read by `.item()`
or `float()`.

## Fix safety
There is no fix: what takes the place of the loop depends on all that it does.

## How verify confirms it
There is no fix to measure. Give it your own change: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch documentation, `torch.nn.utils.clip_grad_norm_` and `clip_grad_value_`
"""

from torchlint.rule import Context, Match, Rule, Tier, method

from ._gradient_loops import (
    METHODS,
    computes_with_a_gradient,
    exchanges_gradients,
    is_an_optimizer,
    reads_numbers,
)


def _message(match: Match) -> str:
    reads = ", and waits for the GPU for each" if reads_numbers(match) else ""
    return (
        f"This loop computes with the gradients one by one on every step{reads}; "
        "`torch.nn.utils.clip_grad_norm_` and `torch._foreach_*` take all at once."
    )


rule = Rule(
    code="TL404",
    summary="a Python loop computes with the gradients one by one on every training step",
    tier=Tier.PEDANTIC,
    finds=(method(*METHODS, where=(computes_with_a_gradient,), hint_if=(reads_numbers,)),),
    unless=(exchanges_gradients, is_an_optimizer),
    message=_message,
    contexts=(Context.HOT,),
)

"""Let torch work on all gradients at once, not one by one in Python.

## What it does
Reports a loop over the parameters of a model that computes with each gradient on every training
step: `p.grad.norm()`, `p.grad.mul_()`, `p.grad.clamp_()`, `p.data.add_(p.grad, alpha=-lr)`. An
optimizer of your own that goes over `group["params"]` has such a loop as well.

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
Under `if step % 100 == 0` and similar conditions; where the loop also exchanges the gradients
between processes; in tests and documentation. It is pedantic, since a loop over few parameters
costs little, and a hint where each gradient is read by `.item()` or `float()`.

## Fix safety
There is no fix: what takes the place of the loop depends on all that it does.

## How verify confirms it
There is no fix to measure. Give it your own change: `torchlint verify train.py --with
change.patch`.

## References
- PyTorch documentation, `torch.nn.utils.clip_grad_norm_` and `clip_grad_value_`
"""

import libcst as cst

from torchlint.analysis.training.parameter_loops import parameter_loop
from torchlint.analysis.uses import method_name
from torchlint.rule import Context, Match, Module, Rule, Tier, because, method, once

_METHODS = ("norm", "vector_norm", "clamp_", "mul_", "div_", "add_", "sub_")
_EXCHANGES = frozenset({"all_reduce", "reduce", "broadcast", "all_gather"})


def _loop_with_gradients(match: Match) -> cst.CSTNode | None:
    """The loop over parameters in which a call is the first that computes with their gradients."""
    loop = parameter_loop(match.call, match.module)
    if loop is None:
        return because(None, "no loop around this goes over the parameters of a model")
    first = _first(match.module, loop)
    if first is None:
        return because(None, "nothing in {} computes with gradients", loop)
    said = "the loop is reported where it computes with gradients first: {}"
    return loop if first is match.call else because(None, said, first)


def _exchanges_gradients(match: Match) -> bool:
    for call in _calls_in_loop(match):
        if method_name(call) in _EXCHANGES:
            return because(True, "the loop exchanges gradients between processes: {}", call)
    return False


def _is_an_optimizer(match: Match) -> bool:
    """Whether a class that inherits from an optimizer does so in its step."""
    class_ = match.module.class_(match.call)
    bases = [] if class_ is None else match.module.definitions.bases(class_)
    return any(base.startswith("torch.optim.") for base in bases)


def _reads_numbers(match: Match) -> bool:
    """Whether the loop reads a number for each parameter."""
    for call in _calls_in_loop(match):
        if method_name(call) == "item" or match.module.calls(call, "builtins.float"):
            return because(True, "the loop also reads a number for each parameter: {}", call)
    return False


def _message(match: Match) -> str:
    reads = ", and waits for the GPU for each" if _reads_numbers(match) else ""
    if _is_an_optimizer(match):
        return (
            f"This optimizer updates the parameters one by one on every step{reads}; "
            "`torch._foreach_*` takes all at once, as the optimizers of torch do."
        )
    return (
        f"This loop computes with the gradients one by one on every step{reads}; "
        "`torch.nn.utils.clip_grad_norm_` and `torch._foreach_*` take all at once."
    )


rule = Rule(
    code="TL404",
    summary="a Python loop computes with the gradients one by one on every training step",
    tier=Tier.PEDANTIC,
    finds=(method(*_METHODS, where=(_loop_with_gradients,), hint_if=(_reads_numbers,)),),
    unless=(_exchanges_gradients,),
    message=_message,
    contexts=(Context.HOT,),
)


# loops over gradients -----------------------------------------------------------------------------


@once
def _first(module: Module, loop: cst.CSTNode) -> cst.Call | None:
    """The first call in a loop that computes with a gradient."""
    for call in module.calls_within(loop):
        if method_name(call) in _METHODS and _mentions_gradient(call, module):
            return call
    return None


def _mentions_gradient(call: cst.Call, module: Module) -> bool:
    return any(
        isinstance(part, cst.Name) and part.value in ("grad", "grads")
        for part in module.within(call)
    )


def _calls_in_loop(match: Match) -> list[cst.Call]:
    (loop,) = match.evidence
    assert isinstance(loop, cst.CSTNode)
    return match.module.calls_within(loop)

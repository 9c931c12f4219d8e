"""Free gradients between steps instead of filling them with zeros.

## What it does
Reports `zero_grad(set_to_none=False)` on an optimizer or module. If the project still supports
torch below 2.0, where that was the default, it also reports a plain `zero_grad()`.

## Why it is slow
Zeros are written to every gradient, and the next backward pass reads them again to add to them.
With `None` there is nothing to write, and the backward pass stores its result directly. Measured
on a CPU, backward and zeroing together take 1.04 to 1.25 times as long with zeros, most if the
batch is small compared with the weights. Without zeros, gradients also use no memory during the
forward pass.

## Example
```python
loss.backward()
optimizer.step()
optimizer.zero_grad(set_to_none=False)
```

## Use instead
```python
loss.backward()
optimizer.step()
optimizer.zero_grad()
```

## When it is silent
- A plain `zero_grad()` with torch 2.0 or newer: it already frees gradients, so adding
  `set_to_none=True` would change nothing.
- A value that is not a literal.
- Files that work on gradients by hand (`p.grad += g`, `p.grad.norm()` without a check for `None`),
  or capture CUDA graphs.
- Classes with their own `zero_grad`.

With FSDP, DeepSpeed or Accelerate, which may keep gradients in buffers of their own, it is a hint
without a fix.

## Fix safety
**Unsafe**: an optimizer skips parameters whose gradient is `None`, but updates those whose
gradient is zero. So with momentum or weight decay, a parameter that the loss does not depend on
gets other values. Code that reads `.grad` after `zero_grad` finds `None`.

## How verify confirms it
It measures `zero_grad()` without the argument, on the CPU as well as on a GPU. The numbers are
bitwise equal where every parameter gets a gradient on every step.

## References
- `torch.optim.Optimizer.zero_grad`
- PyTorch performance tuning guide, "Use parameter.grad = None"
"""

import libcst as cst

from torchlint.analysis.training import manual_gradients
from torchlint.rule import (
    Applicability,
    Argument,
    Change,
    Match,
    Module,
    Rule,
    because,
    edits,
    method,
    remove,
)

from ._zero_grad_owners import is_torchs

_FREES_BY_DEFAULT = (2, 0)
_NEEDS_TENSORS = (
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.make_graphed_callables",
)
_KEEP_GRADIENTS = ("torch.distributed.fsdp.", "deepspeed.", "accelerate.Accelerator")
"""They keep gradients in buffers of their own, which `set_to_none` may not reach."""


def _is_not_torchs(match: Match) -> bool:
    func = match.call.func
    return not isinstance(func, cst.Attribute) or not is_torchs(func.value, match.module)


def _needs_tensors(match: Match) -> bool:
    """Whether the file reads gradients, or wants them to stay where they are in memory."""
    graph = _call_of(_NEEDS_TENSORS, match.module)
    if graph is not None:
        return because(True, "CUDA graphs want gradients to stay where they are: {}", graph)
    return manual_gradients.reads(match.module)


def _is_kept_elsewhere(match: Match) -> bool:
    keeper = _call_of(_KEEP_GRADIENTS, match.module)
    if keeper is None:
        return False
    return because(True, "{} may keep gradients in buffers of its own", keeper)


def _call_of(names: tuple[str, ...], module: Module) -> cst.Call | None:
    """The first call in the file of something whose name begins so."""
    for name, calls in module.calls_by_name.items():
        if name.startswith(names):
            return calls[0]
    return None


def _message(match: Match) -> str:
    fact = "Gradients are filled with zeros, and backward then adds to them"
    if match.argument is None:
        oldest = ".".join(map(str, match.module.torch))
        fact = f"With torch {oldest}, which this project allows, gradients are filled with zeros"
    return f"{fact}; let `zero_grad` set them to None."


def _free(match: Match) -> Change | str:
    if _is_kept_elsewhere(match):
        return "FSDP, DeepSpeed and Accelerate may keep gradients in buffers of their own"
    argument = match.argument
    if argument is not None and match.module.torch >= _FREES_BY_DEFAULT:
        return remove(match)
    text = "set_to_none=True"
    if argument is None:
        return f"Pass `{text}`", edits.add_argument(match.module, match.call, text)
    return f"Pass `{text}`", edits.replace_argument(match.module, argument, text)


rule = Rule(
    code="TL401",
    summary="gradients are filled with zeros between steps instead of freed",
    fix=Applicability.UNSAFE,
    finds=(
        method(
            "zero_grad",
            Argument("set_to_none", 0, bad=False),
            hint_if=(_is_kept_elsewhere,),
        ),
        method(
            "zero_grad",
            Argument("set_to_none", 0, missing=True),
            until=_FREES_BY_DEFAULT,
            hint_if=(_is_kept_elsewhere,),
        ),
    ),
    unless=(_is_not_torchs, _needs_tensors),
    message=_message,
    change=_free,
    since=(1, 7),
    may_change="an optimizer skips parameters that got no gradient, instead of decaying them",
)

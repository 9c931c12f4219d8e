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
  capture CUDA graphs, or train with FSDP or DeepSpeed.
- Classes with their own `zero_grad`.

## Fix safety
**Unsafe**: an optimizer skips parameters whose gradient is `None`, but updates those whose
gradient is zero. So with momentum or weight decay, a parameter that the loss does not depend on
gets other values. Code that reads `.grad` after `zero_grad` finds `None`.

## References
- `torch.optim.Optimizer.zero_grad`
- PyTorch performance tuning guide, "Use parameter.grad = None"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import edits
from torchlint.analysis.training import gradients
from torchlint.ruleapi.rule import Applicability, Fix, Rule

from ._receiver import is_torchs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module
    from torchlint.ruleapi.rule import Said

rule = Rule(
    code="TL401",
    name="zero-grad-keeps-tensors",
    family="optimizer",
    summary="gradients are filled with zeros between steps instead of freed",
    fix=Applicability.UNSAFE,
    triggers=(r"\.zero_grad\(",),
    off_in_tests=True,
    may_change="an optimizer skips parameters that got no gradient, instead of decaying them",
)

_FREES_BY_DEFAULT = (2, 0)
_CAN_FREE = (1, 7)
_NEEDS_TENSORS = (
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.make_graphed_callables",
    "torch.distributed.fsdp.",
    "deepspeed.",
)


@rule.on(cst.Call)
def fills_with_zeros(call: cst.Call, module: Module) -> Iterable[Said]:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "zero_grad":
        return
    if not _keeps_tensors(call, module) or not is_torchs(call.func.value, module):
        return
    if gradients.reads(module) or _needs_tensors(module):
        return
    yield rule.finding(
        module,
        call,
        "Gradients are filled with zeros, and backward then adds to them; let `zero_grad` set "
        "them to None.",
        fix=_free(call, module),
    )


def _keeps_tensors(call: cst.Call, module: Module) -> bool:
    if module.has_star_args(call) or module.has_star_kwargs(call):
        return False
    if module.torch < _CAN_FREE:
        return False
    if not call.args:
        return module.torch < _FREES_BY_DEFAULT
    flag = module.argument(call, "set_to_none", 0)
    return flag is not None and module.literal(flag) is False


def _needs_tensors(module: Module) -> bool:
    """Whether something in the file wants gradients to stay where they are in memory."""
    return any(name.startswith(_NEEDS_TENSORS) for name in module.called)


def _free(call: cst.Call, module: Module) -> Fix:
    argument = module.argument_node(call, "set_to_none", 0)
    if argument is None:
        edit = edits.add_argument(module, call, "set_to_none=True")
    elif module.torch >= _FREES_BY_DEFAULT:
        edit = edits.remove_argument(module, call, argument)
    else:
        edit = edits.replace(module, argument, "set_to_none=True")
    return Fix(Applicability.UNSAFE, "Set gradients to None between steps", (edit,))

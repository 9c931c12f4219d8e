"""Free gradients between steps; do not fill them with zeros.

## What it does
Reports `zero_grad(set_to_none=False)` on an optimizer or module. If the project still supports
torch below 2.0, where that was the default, also a bare `zero_grad()`.

## Why it is slow
Zeros have to be written to every gradient, and the next backward pass then reads them again to
add to them. With `None` there is nothing to write, and backward stores its result directly.
Measured on a CPU: backward plus zeroing takes 1.04 to 1.25 times as long with zeros, most where
the batch is small for the size of the weights. Gradients also hold no memory during the forward
pass.

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
On a bare `zero_grad()` with torch 2.0 or newer: it frees already, so passing
`set_to_none=True` there changes nothing. Where the value is not a literal. Where the file works
on gradients by hand (`p.grad += g`, `p.grad.norm()` without a test for `None`), captures CUDA
graphs, or trains with FSDP or DeepSpeed. On classes with a `zero_grad` of their own.

## Fix safety
**Unsafe**: an optimizer skips parameters whose gradient is `None`, but steps those whose
gradient is zero, so with momentum or weight decay a parameter that the loss does not reach ends
up elsewhere. Code that reads `.grad` after `zero_grad` finds `None`.

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

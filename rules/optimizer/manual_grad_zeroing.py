"""Call `zero_grad` to free the gradients instead of zeroing each one in a loop.

## What it does
Reports a loop over parameters that only fills their gradients with zeros.

## Why it is slow
Each iteration launches a kernel that writes one gradient. That is hundreds of launches per step
for a typical network, and the backward pass then reads the zeros again to add to them.
`zero_grad()` sets all gradients to `None`, which launches nothing.

## Example
```python
for p in model.parameters():
    if p.grad is not None:
        p.grad.zero_()
loss.backward()
```

## Use instead
```python
model.zero_grad()
loss.backward()
```

## When it is silent
For `p.grad = None`, which is as fast as `zero_grad()`; for loops that do more, or that select
parameters by name; in meta-learning (`create_graph=True`); if gradients are created once and code
then adds to them by hand (`p.grad += g`).

## Fix safety
**Unsafe**: an optimizer skips parameters whose gradient is `None`, but updates those whose
gradient is zero, which matters with momentum or weight decay. There is no fix if the loop is not
over all parameters of one module or optimizer, if it contains comments, or if the file reads
gradients without checking for `None`.

## How verify confirms it
It measures `zero_grad()` in place of the loop, on the CPU as well as on a GPU. The numbers are
bitwise equal where every parameter gets a gradient on every step.

## References
- `torch.nn.Module.zero_grad`, `torch.optim.Optimizer.zero_grad`
- PyTorch performance tuning guide, "Use parameter.grad = None"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training import gradients
from torchlint.rule import Applicability, Fix, Module, Reported, Rule, because, edits

from ._receiver import is_torchs
from ._zeroing import sounds_like_parameters, zeroes_each

rule = Rule(
    code="TL402",
    summary="a loop zeroes each gradient separately",
    fix=Applicability.UNSAFE,
    triggers=(r"\.grad\b", r"zero_\(|fill_\(|zeros"),
    may_change="an optimizer skips parameters that got no gradient, instead of decaying them",
)

_FREES_BY_DEFAULT = (2, 0)
_CAN_FREE = (1, 7)


@rule.on(cst.For)
def zeroes_gradients_one_by_one(loop: cst.For, module: Module) -> Iterable[Reported]:
    if not zeroes_each(loop, module):
        return ()
    if not sounds_like_parameters(loop.iter, module):
        return because((), "{:code} is not known to be the parameters of a model", loop.iter)
    around = module.parent(module.parent(loop) or loop)
    if isinstance(around, cst.For) and zeroes_each(around, module):
        return because((), "the loop around it is reported, {}", around)
    if gradients.accumulates(module, besides=loop) or _differentiates_twice(module):
        return ()
    owner = _owner(loop)
    reason = _why_not(loop, owner, module)
    found = rule.finding(
        module,
        loop.iter,
        "This loop launches one kernel per parameter to write zeros; call `zero_grad()`, which "
        "sets the gradients to None.",
        fix=None if reason or owner is None else _one_call(loop, owner, module),
        withheld=reason,
    )
    return (found,)


def _differentiates_twice(module: Module) -> bool:
    """Whether the file differentiates through gradients, as meta-learning does."""
    twice = (
        arg
        for call in module.nodes(cst.Call)
        for arg in call.args
        if arg.keyword is not None
        and arg.keyword.value == "create_graph"
        and module.literal(arg.value) is True
    )
    first = next(twice, None)
    if first is None:
        return False
    return because(True, "the file differentiates through gradients: {}", first)


def _owner(loop: cst.For) -> cst.BaseExpression | None:
    """`model` of `model.parameters()`, `optimizer` of `optimizer.param_groups`."""
    source = loop.iter
    if isinstance(source, cst.Attribute) and source.attr.value == "param_groups":
        return source.value
    if not isinstance(source, cst.Call) or not isinstance(source.func, cst.Attribute):
        return None
    whole = source.func.attr.value in ("parameters", "named_parameters") and not source.args
    return source.func.value if whole else None


def _why_not(loop: cst.For, owner: cst.BaseExpression | None, module: Module) -> str | None:
    if owner is None or not dotted_text(owner):
        return "the loop is not over all parameters of one module or optimizer"
    function = module.function(loop)
    if function is not None and function.name.value == "zero_grad":
        return "this is the body of a `zero_grad`; set `p.grad = None` there"
    if not is_torchs(owner, module):
        return f"nothing shows that `{dotted_text(owner)}` has torch's own `zero_grad`"
    if gradients.reads(module, besides=loop):
        return "this file reads gradients without checking for None"
    if module.torch < _CAN_FREE:
        return "this project supports a torch version whose `zero_grad` cannot free gradients"
    return None


def _one_call(loop: cst.For, owner: cst.BaseExpression, module: Module) -> Fix:
    argument = "" if module.torch >= _FREES_BY_DEFAULT else "set_to_none=True"
    call = f"{dotted_text(owner)}.zero_grad({argument})"
    edit = edits.replace_statement(module, loop, call)
    return Fix(Applicability.UNSAFE, f"Call `{call}`", (edit,))

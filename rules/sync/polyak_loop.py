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
where the loop does nothing but one average of `zip(a.parameters(), b.parameters())`.

## How verify confirms it
It measures the fix, on a CPU too; losses of the trained network are bitwise equal as long as the
average takes no part in them.

## References
- PyTorch documentation, `torch.optim`: "Weight Averaging (SWA and EMA)"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.training.parameter_loops import goes_over_parameters
from torchlint.analysis.uses import method_name
from torchlint.rule import Applicability, Context, Fix, Rule, edits

from ._averages import average_of, averages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Module, Reported

rule = Rule(
    code="TL216",
    name="polyak-loop",
    family="sync",
    summary="a moving average of the parameters is computed one by one on every training step",
    fix=Applicability.UNSAFE,
    contexts=(Context.HOT,),
    since=(2, 1),
    triggers=(r"parameters\(|state_dict\(", r"\+|add_\(|sub_\(|lerp"),
    off_in_tests=True,
    may_change="the average rounds differently",
)

_ITSELF = frozenset({"data", "detach"})
_MORE = "the loop does more than one average of two lists of parameters"


@rule.on(cst.For)
def averages_parameters_one_by_one(loop: cst.For, module: Module) -> Iterable[Reported]:
    if not goes_over_parameters(loop, module) or not averages(loop, module):
        return ()
    message = (
        "This loop averages the parameters one by one on every step; average them in one call, by "
        "`torch.optim.swa_utils.get_ema_multi_avg_fn`."
    )
    text = _in_one_call(loop, module)
    if text is None:
        return rule.report(module, loop, message, withheld=_MORE)
    changes = (edits.replace(module, loop, text), *edits.add_import(module, "torch"))
    fix = Fix(Applicability.UNSAFE, "Average all parameters in one call", changes)
    return rule.report(module, loop, message, fix=fix)


def _in_one_call(loop: cst.For, module: Module) -> str | None:
    """The same average of all parameters, if the loop does nothing else."""
    lists = _zipped(loop, module)
    statement = loop.body.body[0] if len(loop.body.body) == 1 else None
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        statement = statement.body[0]
    changed, parts = _changed_by(statement, module)
    if lists.keys() != parts.keys() or changed not in parts or "#" in module.source(loop):
        return None
    (current,) = (code for name, code in lists.items() if name != changed)
    start = module.offsets(loop)[0]
    indent = module.text[edits.line_start(module, start) : start]
    call = f"torch.optim.swa_utils.get_ema_multi_avg_fn({parts[changed]})("
    return f"{call}\n{indent}    list({lists[changed]}), list({current}), 0\n{indent})"


def _zipped(loop: cst.For, module: Module) -> dict[str, str]:
    """By name: what a loop over `zip(a.parameters(), b.parameters())` takes each from."""
    names = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    if (
        not isinstance(loop.iter, cst.Call)
        or "builtins.zip" not in module.resolve(loop.iter.func)
        or loop.orelse is not None
    ):
        return {}
    return {
        _name_of(name.value): module.source(arg.value)
        for name, arg in zip(names, loop.iter.args, strict=False)
        if isinstance(arg.value, cst.Call) and method_name(arg.value) == "parameters"
    }


def _changed_by(statement: cst.CSTNode | None, module: Module) -> tuple[str, dict[str, str]]:
    """The name of the average that a statement updates, and the weights by the names."""
    value = getattr(statement, "value", None)
    changed: cst.BaseExpression | None = None
    if isinstance(statement, cst.Assign):
        changed = statement.targets[0].target
    elif isinstance(value, cst.Call) and method_name(value) == "copy_":
        assert isinstance(value.func, cst.Attribute)
        changed, value = value.func.value, module.argument(value, "src", 0)
    parts = average_of(value, module) if value is not None else None
    if parts is None:
        return "", {}
    weights = {_name_of(part.tensor): part.weight for part in parts}
    return _name_of(changed or parts[0].tensor), weights


def _name_of(tensor: cst.CSTNode) -> str:
    """`p` for `p.data` and `p.detach()`; empty for anything else that has no name."""
    while isinstance(tensor, cst.Attribute | cst.Call):
        if isinstance(tensor, cst.Attribute) and tensor.attr.value not in _ITSELF:
            return ""
        tensor = tensor.func if isinstance(tensor, cst.Call) else tensor.value
    return tensor.value if isinstance(tensor, cst.Name) else ""

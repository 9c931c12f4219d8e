"""Take `log_softmax` in one step.

## What it does
Reports the logarithm of a softmax: `torch.log(F.softmax(x, dim=1))`, `x.softmax(1).log()`,
`torch.log(self.softmax(x))`, also where the softmax has a name that nothing else reads.

## Why it is slow
The softmax writes a tensor that the logarithm reads and writes again, and the backward pass does so
once more. `log_softmax` does all of it in one kernel, from the same input. Measured on a CPU, it
takes a third of the time. It is also right where the other is not: for the scores 200 and 0, the
small probability underflows to 0 and its logarithm is -inf, with gradients of NaN, where
`log_softmax` gives -200.

## Example
```python
def loss_of(scores, labels):
    return F.nll_loss(torch.log(F.softmax(scores, dim=1)), labels)
```

## Use instead
```python
def loss_of(scores, labels):
    return F.nll_loss(F.log_softmax(scores, dim=1), labels)
```
`F.cross_entropy(scores, labels)` computes the same.

## When it is silent
Where the probabilities are used elsewhere too, as in an entropy; where something is done with them
first, such as a mean over several models; in `__init__`, in evaluation and in tests. It is a hint
where a constant is added or they are clamped, `torch.log(p + 1e-8)`, since that changes values near
0, and where nothing in the program trains.

## Fix safety
**Unsafe**: logarithms that were -inf become large negative numbers, and others are rounded in
another way. There is no fix where a constant is added, and where the softmax is a module of its own
or its result has a name.

## How verify confirms it
It measures `log_softmax`, on the CPU as well as on a GPU. The numbers are equal to rounding.

## References
- PyTorch documentation, `torch.nn.functional.log_softmax`: doing the two operations separately is
  slower and numerically unstable
"""

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Match,
    Rule,
    because,
    calls,
    edits,
    method,
)

from ._probabilities import may_take_log, path_to_softmax
from ._softmax import is_method


def _path(match: Match) -> list[cst.BaseExpression]:
    """From what the logarithm is taken of to the softmax that it is; empty for anything else."""
    taken = match.module.argument(match.call, "input", 0)
    return path_to_softmax(match.receiver if is_method(match) else taken, match.module)


def _is_of_softmax(match: Match) -> bool:
    alone = "what the logarithm is taken of is not known to be a softmax that nothing else reads"
    return bool(_path(match)) or because(False, alone)


def _is_shifted(match: Match) -> bool:
    """Whether a constant is added or the values are clamped, which changes those near 0."""
    shifts = (each for each in _path(match)[:-1] if not isinstance(each, cst.Name))
    shifted = next(shifts, None)
    if shifted is None:
        return False
    return because(True, "{:code} changes probabilities near 0 first", shifted)


def _initializes(match: Match) -> bool:
    function = match.module.function(match.node)
    initializes = function is not None and function.name.value == "__init__"
    return initializes and because(True, "`__init__` runs once")


def _change(match: Match) -> Change | str:
    """Call `log_softmax` with the same arguments in the place of the logarithm."""
    module, [softmax, *path] = match.module, _path(match)[::-1]
    assert isinstance(softmax, cst.Call)
    func = softmax.func.func if isinstance(softmax.func, cst.Call) else softmax.func
    if path:
        return "something stands between the softmax and the logarithm"
    if not isinstance(func, cst.Attribute) or dotted_text(func.value) == "self":
        return "the softmax has a name of its own here"
    start, end = module.offsets(softmax)
    at = module.offsets(func.attr)[0]
    name = "log_softmax" if func.attr.value == "softmax" else "LogSoftmax"
    text = module.text[start:at] + name + module.text[at + len(func.attr.value) : end]
    return f"Call `{name}`", edits.replace(module, match.call, text)


rule = Rule(
    code="TL309",
    summary="a logarithm of a softmax, in two steps",
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.log", where=(_is_of_softmax,), hint_if=(_is_shifted,)),
        method("log", where=(is_method, _is_of_softmax), hint_if=(_is_shifted,)),
    ),
    unless=(_initializes,),
    message="A logarithm of a softmax takes two steps, and is -inf where a probability underflows; "
    "call `log_softmax`.",
    change=_change,
    contexts=(Context.OUTSIDE_EVALUATION,),
    else_hint=(Context.TRAINS,),
    triggers=(r"[sS]oftmax\b",),
    may_change="logarithms of probabilities that underflow are finite, others round differently",
)
rule.narrow(may_take_log)

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

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name
from torchlint.rule import Applicability, Change, Context, Match, Rule, calls, edits, method

from ._softmax import is_method, softmax_of

if TYPE_CHECKING:
    from torchlint.rule import Module

_TINY: Final = re.compile(r"eps|tiny|small|delta", re.IGNORECASE)
_CLAMPS: Final = frozenset({"clamp", "clamp_min", "clip"})


def _path(match: Match) -> list[cst.BaseExpression]:
    """From what the logarithm is taken of to the softmax that it is; empty for anything else."""
    taken = match.module.argument(match.call, "input", 0)
    if is_method(match):
        taken = match.receiver
    path: list[cst.BaseExpression] = []
    while taken is not None:
        path.append(taken)
        if softmax_of(taken, match.module) is not None:
            return path
        taken = _before(taken, match.module)
    return []


def _is_of_softmax(match: Match) -> bool:
    return bool(_path(match))


def _before(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """`p` for `p + 1e-8` and `p.clamp(min=1e-8)`, and what a name was given that is read once."""
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        known = len(bindings) == 1 and bindings[0].how is How.ASSIGNMENT
        once = known and len(module.reads(bindings[0].node, node.value)) == 1
        return bindings[0].value if once else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return node.left if _is_tiny(node.right, module) else None
    if isinstance(node, cst.Call) and method_name(node) in _CLAMPS:
        assert isinstance(node.func, cst.Attribute)
        return node.args[0].value if module.resolve(node.func) else node.func.value
    return None


def _is_tiny(node: cst.BaseExpression, module: Module) -> bool:
    number = module.literal(node)
    return isinstance(number, float) or bool(_TINY.search(dotted_text(node)))


def _initializes(match: Match) -> bool:
    function = match.module.function(match.node)
    return function is not None and function.name.value == "__init__"


def _is_shifted(match: Match) -> bool:
    """Whether a constant is added or the values are clamped, which changes those near 0."""
    return any(not isinstance(each, cst.Name) for each in _path(match)[:-1])


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
    if "#" in module.text[module.offsets(match.call)[0] : start]:
        return "a comment stands in between"
    name = "log_softmax" if func.attr.value == "softmax" else "LogSoftmax"
    text = module.text[start:at] + name + module.text[at + len(func.attr.value) : end]
    return f"Call `{name}`", edits.replace(module, match.call, text)


rule = Rule(
    code="TL309",
    name="log-of-softmax",
    family="model",
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
    off_in_tests=True,
    may_change="logarithms of probabilities that underflow are finite, others round differently",
)

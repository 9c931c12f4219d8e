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
It measures `log_softmax`, on the CPU as well as on a GPU. The numbers are equal up to rounding.

## References
- PyTorch documentation, `torch.nn.functional.log_softmax`: doing the two operations separately is
  slower and numerically unstable
"""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Match,
    Module,
    Rule,
    Triggers,
    because,
    calls,
    edits,
    method,
)

from ._softmax import is_method, softmax_of

_TINY: Final = re.compile(r"eps|tiny|small|delta", re.IGNORECASE)
_CLAMPS: Final = frozenset({"clamp", "clamp_min", "clip"})
_LOG: Final = re.compile(rb"log\((?<=\blog\()")
_RECEIVER: Final = re.compile(rb"(\w{1,80})(?:\.cl\w{1,9}\([^()\n]{0,40}\))?\.$")
_ARGUMENT: Final = re.compile(rb"\s{0,40}([\w.]{1,80})")
_OF_SOFTMAX: Final = re.compile(
    rb"[sS]oftmax\b[^\n]{0,200}\)\.log\(|\blog\([^)]{0,200}[sS]oftmax\("
)
_SOFTMAX: Final = re.compile(rb"[sS]oftmax\b")
_NAMED: Final = re.compile(rb"[^=\n]{0,200}\b(\w{1,80})[ \t]{0,40}=(?!=)")


def _may_take_log(text: bytes) -> bool:
    """Whether a file may take the logarithm of a softmax, or of a name for one, as its text has
    it."""
    logs = list(_LOG.finditer(text))
    if not logs:
        return because(False, "the file takes no logarithm")
    lines = (text.rfind(b"\n", 0, found.start()) + 1 for found in _SOFTMAX.finditer(text))
    named = {found[1] for line in lines if (found := _NAMED.match(text, line)) is not None}
    receivers = (_RECEIVER.search(text[max(0, log.start() - 140) : log.start()]) for log in logs)
    arguments = (_ARGUMENT.match(text, log.end()) for log in logs)
    logged = (found[1].rpartition(b".")[2] for found in (*receivers, *arguments) if found)
    taken = not named.isdisjoint(logged) or _OF_SOFTMAX.search(text) is not None
    return taken or because(False, "the file takes no logarithm of what it calls a softmax")


def _is_of_softmax(match: Match) -> list[cst.BaseExpression]:
    """From what the logarithm is taken of to the softmax that it is; empty for anything else."""
    taken = match.module.argument(match.call, "input", 0)
    path = _path_to_softmax(match.receiver if is_method(match) else taken, match.module)
    alone = "what the logarithm is taken of is not known to be a softmax that nothing else reads"
    return path or because([], alone)


def _is_shifted(match: Match) -> bool:
    """Whether a constant is added or the values are clamped, which changes those near 0."""
    shifts = (each for each in match.found(list)[:-1] if not isinstance(each, cst.Name))
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
    module, [softmax, *path] = match.module, match.found(list)[::-1]
    assert isinstance(softmax, cst.Call)
    func = softmax.func.func if isinstance(softmax.func, cst.Call) else softmax.func
    if path:
        return "there is something between the softmax and the logarithm"
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
    may_change="logarithms of probabilities that underflow are finite, others round differently",
    triggers=Triggers((r"[sS]oftmax\b",), check=_may_take_log),
)


# from probabilities to the softmax ----------------------------------------------------------------


def _path_to_softmax(node: cst.BaseExpression | None, module: Module) -> list[cst.BaseExpression]:
    """From an expression to the softmax that it is, through names, tiny constants that are added
    and clamps; empty if it is not one."""
    path: list[cst.BaseExpression] = []
    while node is not None:
        path.append(node)
        if softmax_of(node, module) is not None:
            return path
        node = _before(node, module)
    return []


def _before(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """`p` for `p + 1e-8` and `p.clamp(min=1e-8)`, and what a name was given that is read once."""
    if isinstance(node, cst.Name):
        given = module.flow.given(node)
        made = None if given is None else module.flow.reaching(node)[0].node
        return given if made and len(module.reads(made, node.value)) == 1 else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return node.left if _is_tiny(node.right, module) else None
    if isinstance(node, cst.Call) and method_name(node) in _CLAMPS:
        given = module.argument(node, "input", 0)
        return given if module.resolve(node.func) else receiver(node)
    return None


def _is_tiny(node: cst.BaseExpression, module: Module) -> bool:
    number = module.literal(node)
    return (isinstance(number, float) and number < 0.01) or bool(_TINY.search(dotted_text(node)))

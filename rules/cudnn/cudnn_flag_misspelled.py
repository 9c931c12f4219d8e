"""Spell cuDNN's flags right: torch accepts any other name, and does nothing.

## What it does
Reports assignments to names beside cuDNN's flags, such as `torch.backends.cudnn.benchmarks`,
`torch.backends.benchmark`, `torch.cudnn.benchmark`, and `fastest`, which was a flag of Lua's Torch.
Also the statement `torch.backends.cudnn.benchmark == True`, which compares where it should assign.
It is a hint where the flag has that value by default.

## Why it is slow
Modules of torch accept new attributes. So `torch.backends.cudnn.benchmarks = True` raises no error
and sets no flag: the search for the fastest algorithm, for which somebody wrote the line, never
runs. Under `torch.cudnn` and `torch.backend`, which do not exist, Python raises an error.

## Example
```python
torch.backends.cudnn.benchmarks = True
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
```

## Use instead
```python
torch.backends.cudnn.benchmark = True
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
```

## When it is silent
For all flags that torch has, such as `torch.backends.cudnn.allow_tf32`; for a module of your own
that is called `cudnn`; for spellings that nobody is known to have used; in tests.

## Fix safety
**Unsafe**: the flag that was meant comes into effect for the first time. With `benchmark`, cuDNN
may choose other algorithms, which round differently, and if the shape of the inputs changes from
batch to batch, each new shape costs a search. If the same file also sets the flag by its right
name, the line is removed instead. There is no fix where the module with the flag has no name, as in
`from torch import cuda` with `cuda.benchmark = True`.

## How verify confirms it
It measures the right spelling, which needs a GPU. The numbers are equal to rounding.

## References
- PyTorch documentation, `torch.backends.cudnn`
- PyTorch performance tuning guide, "Enable cuDNN auto-tuner"
"""

from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from torchlint.rule import (
    Applicability,
    Change,
    Fix,
    Match,
    Module,
    Reported,
    Rule,
    because,
    edits,
    remove,
    sets,
)

from ._spellings import CUDNN, DEFAULTS, MEANT, names_set, spelled_right, wrong_name


class _Misspelled(NamedTuple):
    """The expression that an assignment sets, its wrong name, the flag, and the value."""

    target: cst.BaseExpression
    wrong: str
    flag: str
    value: object
    alone: bool


def _misspelled(match: Match) -> _Misspelled:
    assert isinstance(match.node, cst.Assign)
    targets = [each.target for each in match.node.targets]
    target = next(each for each in targets if wrong_name(each, match.module))
    wrong = wrong_name(target, match.module)
    value = match.module.literal(match.node.value)
    return _Misspelled(target, wrong, MEANT[wrong], value, len(targets) == 1)


def _keeps_default(match: Match) -> bool:
    """Whether the flag has this value anyway."""
    found = _misspelled(match)
    keeps = found.value is DEFAULTS[found.flag]
    return keeps and because(True, "`{}` is {} by default", found.flag, found.value)


def _is_set_too(match: Match) -> bool:
    """Whether the file also sets the flag by its right name."""
    return f"{CUDNN}.{_misspelled(match).flag}" in match.module.once(names_set)


def _message(match: Match) -> str:
    found = _misspelled(match)
    advice = "remove it" if _is_set_too(match) else f"set `{CUDNN}.{found.flag}`"
    return f"torch has no flag `{found.wrong}`, so this sets nothing; {advice}."


def _change(match: Match) -> Change | str:
    """Spell the flag as it is; without it if the file also does so."""
    found = _misspelled(match)
    if _is_set_too(match):
        return remove(match) if found.alone else "the line also assigns to other names"
    if found.flag == "enabled" and found.value is False:
        return "without cuDNN, convolutions are slow"
    right = spelled_right(found.target, match.module)
    if not right:
        return f"`{CUDNN}` has no name here"
    return f"Set `{right}`", edits.replace(match.module, found.target, right)


rule = Rule(
    code="TL302",
    summary="an assignment that reaches no flag of cuDNN",
    fix=Applicability.UNSAFE,
    finds=(sets(tuple(MEANT), hint_if=(_keeps_default,)),),
    message=_message,
    change=_change,
    triggers=(r"\b(?:cudnn|backends|torch\.cuda)\b",),
    needs_gpu=True,
    may_change="a flag comes into effect, and cuDNN may choose algorithms that round differently",
)


@rule.on(cst.Expr)
def compares_instead(statement: cst.Expr, module: Module) -> Iterable[Reported]:
    compared = statement.value
    flags = {f"{CUDNN}.{flag}" for flag in DEFAULTS}
    if not isinstance(compared, cst.Comparison) or flags.isdisjoint(module.resolve(compared.left)):
        return ()
    other = compared.comparisons[0]
    if not isinstance(other.operator, cst.Equal) or len(compared.comparisons) > 1:
        return because((), "only a comparison by `==` is a likely slip for an assignment")
    flag = module.source(compared.left)
    text = f"{edits.operand(module, compared.left)} = {edits.value(module, other.comparator)}"
    edit = edits.replace_statement(module, statement, text)
    message = f"This compares `{flag}` and sets nothing; assign with `=`."
    fix = Fix(Applicability.UNSAFE, f"Set `{flag}`", (edit,))
    return rule.report(module, statement, message, fix=fix)

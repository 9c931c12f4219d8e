"""Spell cuDNN's flags right: torch accepts any other name, and does nothing.

## What it does
Reports assignments to names that are not quite those of cuDNN's flags, such as
`torch.backends.cudnn.benchmarks`, `torch.backends.benchmark`, `torch.cudnn.benchmark`, and
`fastest`, which was a flag of Lua's Torch. Also the statement
`torch.backends.cudnn.benchmark == True`, which compares where it should assign. It is a hint where
the flag has that value by default.

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
It measures the right spelling, which needs a GPU. The numbers are equal up to rounding.

## References
- PyTorch documentation, `torch.backends.cudnn`
- PyTorch performance tuning guide, "Enable cuDNN auto-tuner"
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import (
    Applicability,
    Change,
    Match,
    Module,
    Reported,
    Rule,
    because,
    edits,
    once,
    remove,
    sets,
)

_CUDNN: Final = "torch.backends.cudnn"
_DEFAULTS: Final = {"benchmark": False, "deterministic": False, "enabled": True, "allow_tf32": True}
_MISSPELLED: Final = {
    "benchmark": "benchmarks benchmarking benchmark_mode Benchmark benchmar benchmak bechmark "
    "bencmark benckmark benchamrk benchmarck benmark enable_benchmark fastest",
    "deterministic": "Deterministic deterministics deterministic_mode determinism determinstic "
    "determistic deterministc determinitic determinisitc determinsitic deterministric",
    "enabled": "Enabled enable enbled enabeld is_enabled",
    "allow_tf32": "allow_TF32 allow_tf_32 allow_ft32 tf32 enable_tf32",
}
_NOWHERE: Final = ("backends", "backends.cuda", "backend.cudnn", "cuda", "cuda.cudnn", "cudnn")
_MEANT: Final = {
    **{f"{_CUDNN}.{name}": flag for flag, names in _MISSPELLED.items() for name in names.split()},
    **{f"torch.{place}.{flag}": flag for place in _NOWHERE for flag in list(_MISSPELLED)[:2]},
}
"""The flag that each wrong name means."""


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
    names = ((name, target) for target in targets for name in match.module.resolve(target))
    wrong, target = next(each for each in names if each[0] in _MEANT)
    value = match.module.literal(match.node.value)
    return _Misspelled(target, wrong, _MEANT[wrong], value, len(targets) == 1)


def _keeps_default(match: Match) -> bool:
    """Whether the flag has this value anyway."""
    found = match.found(_Misspelled)
    keeps = found.value is _DEFAULTS[found.flag]
    return keeps and because(True, "`{}` is {} by default", found.flag, found.value)


def _is_set_too(match: Match) -> bool:
    """Whether the file also sets the flag by its right name."""
    return f"{_CUDNN}.{match.found(_Misspelled).flag}" in _names_set(match.module)


def _message(match: Match) -> str:
    found = match.found(_Misspelled)
    advice = "remove it" if _is_set_too(match) else f"set `{_CUDNN}.{found.flag}`"
    return f"torch has no flag `{found.wrong}`, so this sets nothing; {advice}."


def _change(match: Match) -> Change | str:
    """Spell the flag as it is; without it if the file also does so."""
    misspelled = match.found(_Misspelled)
    if _is_set_too(match):
        return remove(match) if misspelled.alone else "the line also assigns to other names"
    if misspelled.flag == "enabled" and misspelled.value is False:
        return "without cuDNN, convolutions are slow"
    right = _spelled_right(misspelled)
    if not right:
        return f"`{_CUDNN}` has no name here"
    return f"Set `{right}`", edits.replace(match.module, misspelled.target, right)


rule = Rule(
    code="TL302",
    summary="an assignment that reaches no flag of cuDNN",
    fix=Applicability.UNSAFE,
    finds=(sets(tuple(_MEANT), where=(_misspelled,), hint_if=(_keeps_default,)),),
    message=_message,
    change=_change,
    triggers=(r"\b(?:cudnn|backends|torch\.cuda)\b",),
    needs_gpu=True,
    may_change="a flag comes into effect, and cuDNN may choose algorithms that round differently",
)


@rule.on(cst.Expr)
def compares_instead(statement: cst.Expr, module: Module) -> Iterable[Reported]:
    compared = statement.value
    flags = {f"{_CUDNN}.{flag}" for flag in _DEFAULTS}
    if not isinstance(compared, cst.Comparison) or flags.isdisjoint(module.resolve(compared.left)):
        return ()
    other = compared.comparisons[0]
    if not isinstance(other.operator, cst.Equal) or len(compared.comparisons) > 1:
        return because((), "only a comparison by `==` is a likely slip for an assignment")
    flag = module.source(compared.left)
    text = f"{edits.operand(module, compared.left)} = {edits.value(module, other.comparator)}"
    fix = f"Set `{flag}`", edits.replace_statement(module, statement, text)
    message = f"This compares `{flag}` and sets nothing; assign with `=`."
    return rule.report(module, statement, message, fix=fix)


# spellings ----------------------------------------------------------------------------------------


def _spelled_right(found: _Misspelled) -> str:
    """The expression with the name of the flag; empty if the module with it has no name there."""
    wrong = found.wrong.split(".")
    right = [*_CUDNN.split("."), found.flag]
    pairs = zip(wrong, right, strict=False)
    shared = next(index for index, (one, other) in enumerate(pairs) if one != other)
    kept = dotted_text(found.target).split(".")[: shared - len(wrong)]
    return ".".join([*kept, *right[shared:]]) if kept else ""


@once
def _names_set(module: Module) -> frozenset[str]:
    """The dotted names of all that a file assigns to."""
    targets = (each.target for assign in module.nodes(cst.Assign) for each in assign.targets)
    return frozenset(name for target in targets for name in module.resolve(target))

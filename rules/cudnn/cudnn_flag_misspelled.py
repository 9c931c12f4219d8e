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

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Applicability, Change, Fix, Match, Rule, edits, remove, sets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Module, Reported

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
"""The flag that each wrong name stands for."""


def _target(match: Match) -> cst.BaseExpression:
    assert isinstance(match.node, cst.Assign)
    targets = (each.target for each in match.node.targets)
    return next(each for each in targets if _wrong_name(each, match.module))


def _wrong_name(target: cst.BaseExpression, module: Module) -> str:
    return next((name for name in module.resolve(target) if name in _MEANT), "")


def _keeps_default(match: Match) -> bool:
    """Whether the flag has this value anyway."""
    assert isinstance(match.node, cst.Assign)
    flag = _MEANT[_wrong_name(_target(match), match.module)]
    return match.module.literal(match.node.value) is _DEFAULTS[flag]


def _flags_set(module: Module) -> frozenset[str]:
    """The dotted names of what the file assigns to."""
    targets = (each.target for assign in module.nodes(cst.Assign) for each in assign.targets)
    return frozenset(name for target in targets for name in module.resolve(target))


def _message(match: Match) -> str:
    wrong = _wrong_name(_target(match), match.module)
    right = f"{_CUDNN}.{_MEANT[wrong]}"
    advice = "remove it" if right in match.module.once(_flags_set) else f"set `{right}`"
    return f"torch has no flag `{wrong}`, so this sets nothing; {advice}."


def _change(match: Match) -> Change | str:
    """Spell the flag as it is; without it if the file also does so."""
    assert isinstance(match.node, cst.Assign)
    target = _target(match)
    wrong = _wrong_name(target, match.module).split(".")
    right = [*_CUDNN.split("."), _MEANT[".".join(wrong)]]
    if ".".join(right) in match.module.once(_flags_set):
        alone = len(match.node.targets) == 1
        return remove(match) if alone else "the line also assigns to other names"
    if right[-1] == "enabled" and match.module.literal(match.node.value) is False:
        return "without cuDNN, convolutions are slow"
    pairs = zip(wrong, right, strict=False)
    shared = next(index for index, (one, other) in enumerate(pairs) if one != other)
    kept = dotted_text(target).split(".")[: shared - len(wrong)]
    if not kept:
        return f"`{_CUDNN}` has no name here"
    written = ".".join([*kept, *right[shared:]])
    return f"Set `{written}`", edits.replace(match.module, target, written)


rule = Rule(
    code="TL302",
    name="cudnn-flag-misspelled",
    family="cudnn",
    summary="an assignment that reaches no flag of cuDNN",
    fix=Applicability.UNSAFE,
    finds=(sets(tuple(_MEANT), hint_if=(_keeps_default,)),),
    message=_message,
    change=_change,
    triggers=(r"\b(?:cudnn|backends|torch\.cuda)\b",),
    off_in_tests=True,
    needs_gpu=True,
    may_change="a flag comes into effect, and cuDNN may choose algorithms that round differently",
)


@rule.on(cst.Expr)
def compares_instead(statement: cst.Expr, module: Module) -> Iterable[Reported]:
    compared = statement.value
    if not isinstance(compared, cst.Comparison) or len(compared.comparisons) != 1:
        return ()
    [other] = compared.comparisons
    flags = {f"{_CUDNN}.{flag}" for flag in _DEFAULTS}
    if not isinstance(other.operator, cst.Equal) or flags.isdisjoint(module.resolve(compared.left)):
        return ()
    flag = module.source(compared.left)
    edit = edits.replace(module, compared, f"{flag} = {module.source(other.comparator)}")
    message = f"This compares `{flag}` and sets nothing; assign with `=`."
    fix = Fix(Applicability.UNSAFE, f"Set `{flag}`", (edit,))
    return rule.report(module, statement, message, fix=fix)

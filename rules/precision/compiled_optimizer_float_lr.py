"""Give a compiled optimizer its learning rate as a tensor.

## What it does
Reports an optimizer whose `step` is compiled and whose learning rate is a Python number that a
scheduler changes.

## Why it is slow
`torch.compile` may treat a number as a constant of the compiled code. Each new learning rate then
compiles `step` again, which takes seconds, until torch gives up and runs it uncompiled. With torch
2.13 on a CPU, SGD, RMSprop and Adadelta were compiled eight times for eight rates, and never again;
with `foreach=True`, so was Adam. Adam, AdamW, NAdam, RAdam, Adamax and Adagrad were compiled twice.
With a tensor, all of them were compiled once, and SGD with momentum twice.

## Example
```python
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1000)

@torch.compile
def update():
    optimizer.step()
```

## Use instead
```python
optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1000)

@torch.compile
def update():
    optimizer.step()
```

## When it is silent
If nothing in the file compiles `step` or no scheduler of torch gets the optimizer; if the rate is a
tensor; with `fused=True`, whose kernel takes the rate as an argument; if `**kwargs` may contain one
of these; in tests; if the project supports a torch older than 2.3.
It is a hint: a scheduler that acts once per epoch costs a few compilations only.

## Fix safety
**Unsafe**: a tensor has the rate in float32, so updates round differently. `foreach=True` refuses a
tensor for most optimizers, so there is no fix next to it.

## How verify confirms it
It measures `lr=torch.tensor(…)`, on the CPU as well as on a GPU. Compilations in the first steps
are warm-up, so what it sees is the compiled step next to the uncompiled one. Numbers are equal up
to rounding.

## References
- PyTorch recipe, "Running the compiled optimizer with an LR Scheduler"
- pytorch/pytorch#107076, pytorch/pytorch#120934
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.compiled import compiled_functions
from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import TENSORS
from torchlint.rule import (
    Applicability,
    Change,
    Effect,
    Fix,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    edits,
    once,
)

_OPTIMIZERS = tuple(
    f"torch.optim.{name}"
    for name in "Adadelta Adagrad Adam AdamW Adamax NAdam RAdam RMSprop SGD".split()
)
_MOST_USES = 50


def _has_plain_rate(match: Match) -> bool:
    """Whether the learning rate is a number, and no fused kernel takes it as an argument."""
    module, call = match.module, match.call
    if module.has_star_kwargs(call):
        return because(False, "`**` of this call may pass `lr`")
    if module.argument(call, "fused") is not None:
        return because(False, "`fused` is passed: such a kernel takes the rate as an argument")
    rate = module.argument(call, "lr", 1)
    if module.value(rate).has(TENSORS):
        return because(False, "{:code} is a tensor already", rate)
    return True


def _is_scheduled(match: Match) -> bool:
    """Whether a scheduler of torch gets the optimizer."""
    module = match.module
    taking = filter(None, (module.call_with(use) for use in _uses(match)))
    names = [name for call in taking for name in module.resolve(call.func)]
    scheduled = any(name.startswith("torch.optim.") for name in names)
    return scheduled or because(False, "no scheduler of torch is known to change its rate")


def _is_compiled(match: Match) -> bool:
    """Whether `step` is called in a compiled function, or is compiled itself."""
    module = match.module
    for use in _uses(match):
        step = module.parent(use)
        if not isinstance(step, cst.Attribute) or step.attr.value != "step":
            continue
        call = module.call_with(step)
        compiles = call is not None and module.calls(call, "torch.compile")
        if compiles or module.function(step) in compiled_functions(module):
            return True
    return because(False, "its `step` is not known to be compiled")


def _uses(match: Match) -> Iterable[cst.BaseExpression]:
    """Where the name or attribute of `self` is used that the optimizer is given to."""
    statement = match.module.parent(match.node)
    if not isinstance(statement, cst.Assign):
        return ()
    target = statement.targets[0].target
    if isinstance(target, cst.Name):
        return match.module.reads(statement, target.value)[:_MOST_USES]
    if not isinstance(target, cst.Attribute):
        return ()
    by_class = _attributes_of_self(match.module, target.attr.value)
    return by_class.get(match.module.class_(target), [])[:_MOST_USES]


@once
def _attributes_of_self(
    module: Module, name: str
) -> dict[cst.ClassDef | None, list[cst.BaseExpression]]:
    """Where each class of the file has `self.name`."""
    attributes: dict[cst.ClassDef | None, list[cst.BaseExpression]] = {}
    for word in module.spelled(name):
        attribute = module.parent(word)
        if dotted_text(attribute) == f"self.{name}":
            assert isinstance(attribute, cst.Attribute)
            attributes.setdefault(module.class_(attribute), []).append(attribute)
    return attributes


def _pass_tensor(match: Match) -> Change | str:
    module, call = match.module, match.call
    if module.argument(call, "foreach") is not None:
        return "`foreach=True` takes no tensor for a rate"
    rate = module.argument(call, "lr", 1)
    torch = module.names.imported_as("torch", call)
    if rate is None or torch is None:
        return "the rate is not written here"
    changes = edits.wrap(module, rate, f"{torch}.tensor")
    return Fix(Applicability.UNSAFE, f"Pass `{torch}.tensor({module.source(rate)})`", changes)


rule = Rule(
    code="TL511",
    effect=Effect.LARGE,
    summary="a new learning rate compiles the optimizer's step again",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(calls(*_OPTIMIZERS, where=(_has_plain_rate, _is_scheduled, _is_compiled)),),
    message="A new learning rate may compile the optimizer's step again, until torch gives up; "
    "pass it as a tensor.",
    change=_pass_tensor,
    since=(2, 3),
    triggers=(r"\bcompile\b", "lr_scheduler"),
    may_change="the learning rate is a float32 number",
)

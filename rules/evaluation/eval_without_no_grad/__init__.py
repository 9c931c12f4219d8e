"""Evaluate under `torch.no_grad()`.

## What it does
Reports a loop that evaluates a model while autograd records each operation, since nothing switches
gradients off: `model.eval()` does not.

## Why it is slow
Each forward pass builds a graph that no backward pass will use, and keeps the activations of all
layers until its output is gone. A batch then needs as much memory as in training, so the largest
one that fits is smaller. If the losses are summed up as tensors, the graphs of all batches stay.
On a CPU with torch 2.13, evaluation of small networks took 2 to 35 % longer.

## Example
```python
def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        total += loss.item()
    return total / len(loader)
```

## Use instead
```python
@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for images, labels in loader:
        loss = criterion(model(images.to(device)), labels.to(device))
        total += loss.item()
    return total / len(loader)
```
In a function that trains as well, put the loop under `with torch.no_grad():`.

## When it is silent
Under `torch.no_grad()`, `torch.inference_mode()` or `torch.set_grad_enabled()`, also around a call
of the function in any file of the program; under a decorator or a `with` that may do the same;
where the loop does a backward pass or names one, an attack, a saliency map or other work that
needs gradients; for modules whose parameters are frozen; in methods of modules; in tests.
It is a hint if a tensor of the loop leaves it and may be needed with its graph, and where only a
name says that the loop evaluates, that of its function or of a class such as `Evaluator`.

## Fix safety
**Unsafe**: no value changes, but a model that computes gradients in its `forward`, such as forces
from an energy, then raises an error. There is no fix if the function also trains, or for a loop
outside of functions.

## How verify confirms it
It measures the fix, on the CPU as well as on a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
- PyTorch performance tuning guide, "Disable gradient calculation for validation or inference"
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.steps.guards import snake
from torchlint.analysis.training.grad_modes import switched_off_calls
from torchlint.rule import (
    Applicability,
    Fact,
    Finding,
    Fix,
    Module,
    Project,
    Related,
    Reported,
    Rule,
    Triggers,
    because,
    edits,
)

from .evaluation_loops import evaluation_in, forward_passes
from .evaluation_text import CALLED_WITHOUT, EVALUATES, may_evaluate

rule = Rule(
    code="TL701",
    summary="an evaluation records graphs that no backward pass uses",
    fix=Applicability.UNSAFE,
    program_lacks={
        "a switch for all gradients": r"(?m)^[ \t]*torch\.(?:autograd\.)?set_grad_enabled\("
    },
    in_tests=True,
    triggers=Triggers((r"\btorch\b", (EVALUATES, CALLED_WITHOUT)), outline=may_evaluate),
)

_MESSAGE = "Autograd records graphs in this evaluation that no backward pass uses; {}."
_WRAP = "put the loop under `with torch.no_grad():`"
_DECORATE = "add `@torch.no_grad()` to the function"


class Function(NamedTuple):
    """The name of the function around the loop, and that of its class if that is called: what some
    file may call without gradients."""

    name: str
    of: str


@rule.on(cst.For, cst.While)
def evaluates_with_gradients(loop: cst.For | cst.While, module: Module) -> Iterable[Reported]:
    evaluation = evaluation_in(loop, module)
    if evaluation is None:
        return ()
    function = module.function(loop)
    fix = _decorated(function, module)
    return rule.report(
        module,
        loop.iter if isinstance(loop, cst.For) else loop.test,
        _MESSAGE.format(_WRAP if isinstance(fix, str) else _DECORATE),
        tier=evaluation.tier,
        fix=fix,
        needs=_called(function, module),
        related=tuple(
            Related(module.path, module.span(call)[0], "this forward pass records a graph")
            for call in forward_passes(loop, module)
        ),
    )


def _called(function: cst.FunctionDef | None, module: Module) -> Function:
    name = module.qualified_name(function).rpartition(".")[2]
    class_ = None if function is None else module.class_(function)
    if name != "__call__" or class_ is None:
        return Function(name, "")
    return Function(name, snake(class_.name.value).rpartition("_")[2])


def _decorated(function: cst.FunctionDef | None, module: Module) -> Fix | str:
    if function is None:
        return "the loop is outside of functions"
    if function.decorators:
        return "the function has other decorators"
    if function in module.loops.training_functions:
        return "the function also trains"
    edit = edits.insert_before(module, function, "@torch.no_grad()")
    assert edit is not None, "a function starts on a line of its own"
    changes = (*edits.add_import(module, "torch"), edit)
    return Fix(Applicability.UNSAFE, "Switch gradients off in the function", changes)


@rule.on_module
def records_calls_without_gradients(module: Module) -> Iterator[Fact]:
    for name, call in switched_off_calls(module).items():
        fact = Fact("called without gradients", module.path, name)
        yield because(fact, "{} runs without gradients", call)


@rule.settle(Function)
def is_called_with_gradients(
    finding: Finding, function: Function, project: Project
) -> Finding | None:
    files = project.programs(finding.path)
    for fact in project.facts("called without gradients", files):
        name = str(fact.value)
        if name == function.name or (function.of and function.of in name):
            return because(None, "`{}` is called without gradients, in {}", name, fact)
    return finding

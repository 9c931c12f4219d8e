"""Let DDP look for unused parameters only if there are some.

## What it does
Reports `find_unused_parameters=True` of `DistributedDataParallel`, of Lightning's `DDPStrategy` and
of Accelerate's `DistributedDataParallelKwargs`, and Lightning's strategy
`"ddp_find_unused_parameters_true"`.

## Why it is slow
After each forward pass DDP then walks the whole autograd graph from the outputs, to find the
parameters that will get no gradient. On each step the processes also tell each other which
parameters were used. Where the loss depends on every parameter, all of that finds nothing; DDP says
so once, in a warning of the first step.

## Example
```python
ddp_model = DistributedDataParallel(model, device_ids=[0], find_unused_parameters=True)
```

## Use instead
```python
ddp_model = DistributedDataParallel(model, device_ids=[0])
```
If the same parameters are unused on each step, `static_graph=True` looks for them only once.

## When it is silent
With `static_graph=True`; where an option decides; where the `forward` of the wrapped class in this
file has a condition; in programs with a discriminator, LayerDrop, experts, or layers that are
unfrozen later, whose steps leave out parameters; in tests; in programs that do not train.
It is a hint, since a model in another file may choose its layers on each step.

## Fix safety
**Unsafe**: if some parameter gets no gradient on some step, the next forward pass raises an error.
Otherwise no value changes.

## How verify confirms it
It measures the removed argument, also with one process on a CPU. The walk is a small part of a step
unless the model has many small operations. The numbers are bitwise equal.

## References
- `torch.nn.parallel.DistributedDataParallel`
- PyTorch performance tuning guide, "Match the order of layers in constructors and during the
  execution if using DistributedDataParallel(find_unused_parameters=True)"
- PyTorch pull request 50133, which added the warning
"""

import libcst as cst

from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Match,
    Module,
    Rule,
    Tier,
    because,
    configures,
    edits,
    once,
    remove,
)

_SUFFIX = "_find_unused_parameters_true"
_STARTS = ("ddp", "ddp_fork", "ddp_notebook", "ddp_spawn")
_SOME_UNUSED = (
    r"(?i)discriminator|adversarial|layer_?drop|\bmoe\b|experts?\b|unfreeze"
    r"|requires_grad(?:_\(|\s*=\s*)True"
)


def _is_static(match: Match) -> bool:
    static = match.module.literal(match.module.argument(match.call, "static_graph")) is True
    return static and because(True, "with `static_graph=True` DDP looks for them once")


def _chooses_layers(match: Match) -> bool:
    """Whether the wrapped class, if it is in this file, has a condition in its `forward`."""
    module, wrapped = match.module, match.module.argument(match.call, "module", 0)
    classes = filter(None, map(module.definitions.class_named, module.value(wrapped).classes))
    forwards = (module.definitions.methods(each).get("forward") for each in classes)
    for each in forwards:
        if each and _has_condition(module, each):
            return because(True, "the `forward` of the model chooses its layers, in {:line}", each)
    return False


@once
def _has_condition(module: Module, function: cst.FunctionDef) -> bool:
    tests = (node.test for node in module.within(function) if isinstance(node, cst.If | cst.IfExp))
    return any(module.literal(test) is not True for test in tests)


def _do_not_look(match: Match) -> Change | str:
    argument = match.argument
    assert argument is not None
    if match.module.literal(argument.value) is True:
        return remove(match)
    plain = match.module.source(argument.value).replace(_SUFFIX, "")
    return f"Pass {plain}", edits.replace(match.module, argument.value, plain)


rule = Rule(
    code="TL602",
    summary="DDP looks for unused parameters on every step",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        configures("unused parameters", True),
        configures(
            "strategy", *(f"ddp{how}{_SUFFIX}" for how in ("", "_spawn", "_fork", "_notebook"))
        ),
    ),
    unless=(_is_static, _chooses_layers),
    message="DDP walks the autograd graph on every step to look for unused parameters; remove "
    "this if each parameter gets a gradient.",
    change=_do_not_look,
    contexts=(Context.TRAINS,),
    program_lacks={"unused parameters": _SOME_UNUSED},
)

"""Compile once, before the training starts.

## What it does
Reports `torch.compile(…)` that is called on each training step: in the step loop, or in a function
that runs on each step, such as `training_step`.

## Why it is slow
`torch.compile` returns a new wrapper each time, which looks its compiled code up again. On a CPU
with torch 2.13, a call of a small layer took 0.1 ms through a wrapper that was kept, and 0.8 ms
through one made for each call. If the wrapper is given to the name that it was made from
(`model = torch.compile(model)`), the second step compiles the model once more, with its wrapper.

## Example
```python
for images, labels in loader:
    fast = torch.compile(model, mode="max-autotune")
    loss = criterion(fast(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
fast = torch.compile(model, mode="max-autotune")
for images, labels in loader:
    loss = criterion(fast(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## When it is silent
Under any condition, such as `if self.compiled is None`, and after an early `return`; in functions
under `functools.cache`; if what is compiled is made or chosen in the same round, as in a comparison
of models; for decorators; in loops that do not train; in tests; if the project supports a torch
older than 2.0.
It is a hint in `forward`, if no call from a training step to the module was found.

## Fix safety
There is no fix: the call must move to where the model is made, which may be another function.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against moved.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- `torch.compile`
- PyTorch documentation, "torch.compile Programming Model: Recompilation"
"""

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.steps.guards import leaves_round
from torchlint.rule import Context, Effect, Match, Module, Rule, because, calls, once

_GIVEN = frozenset({How.PARAMETER, How.DEFINITION, How.IMPORT})
_CACHES = frozenset({"functools.cache", "functools.lru_cache", "functools.cached_property"})


def _decorates(match: Match) -> bool:
    """A decorator runs where its function is defined, not where that is called."""
    decorates = isinstance(match.module.parent(match.node), cst.Decorator)
    return decorates and because(True, "a decorator runs once, where its function is defined")


def _is_kept(match: Match) -> bool:
    """Whether an earlier `return` or a cache keeps the call from running each time."""
    module = match.module
    function = module.function(match.node)
    decorators = function.decorators if function else ()
    for each in decorators:
        if not _CACHES.isdisjoint(module.resolve(_called(each))):
            return because(True, "{} keeps the result for later calls", each)
    for above in module.ancestors(match.node):
        leave = _first_leaves(module).get(above)
        if leave is not None and module.order(leave) < module.order(match.node):
            return because(True, "{} may end the round, or the function, before this", leave)
    return False


def _called(decorator: cst.Decorator) -> cst.BaseExpression:
    """`lru_cache` for `@lru_cache(maxsize=1)`."""
    named = decorator.decorator
    return named.func if isinstance(named, cst.Call) else named


@once
def _first_leaves(module: Module) -> dict[cst.CSTNode, cst.If]:
    """The first `if` of each block that ends the round of a loop, or the call of its function."""
    leaving = (each for each in module.nodes(cst.If) if leaves_round(each.body))
    placed = ((module.parent(each), each) for each in reversed(list(leaving)))
    return {block: each for block, each in placed if isinstance(block, cst.IndentedBlock)}


def _compiles_another(match: Match) -> bool:
    """Whether the model or an option is made in the same round, so that a new wrapper is needed."""
    module = match.module
    loop = module.step_loop(match.node)
    around = loop.node if loop else module.function(match.node)
    names = (each for each in module.within(match.node) if isinstance(each, cst.Name))
    own = module.small_statement(match.node)
    for name in names:
        for binding in module.flow.reaching(name):
            if (
                binding.how not in _GIVEN
                and binding.node is not own
                and around in (binding.node, *module.ancestors(binding.node))
            ):
                said = "{:code} is new in each round, from {:line}"
                return because(True, said, name, binding.node)
    return False


rule = Rule(
    code="TL507",
    effect=Effect.LARGE,
    summary="`torch.compile` is called on every training step",
    finds=(calls("torch.compile"),),
    unless=(_decorates, _is_kept, _compiles_another),
    message="`torch.compile` makes a new wrapper on every step; call it once, before the training.",
    contexts=(Context.HOT, Context.UNCONDITIONAL),
    since=(2, 0),
)

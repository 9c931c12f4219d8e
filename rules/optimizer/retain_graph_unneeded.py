"""Let the backward pass free the graph that nothing goes through again.

## What it does
Reports `loss.backward(retain_graph=True)` in a loop with no other backward pass, whose graph is
made anew on each step.

## Why it is slow
The backward pass frees the activations of each layer as soon as it has used them. With
`retain_graph=True` they all stay until the next loss takes the place of this one, which is after
the next forward pass has made its own. So the peak of memory rises, up to twice the activations,
and the largest batch that fits is smaller.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
If torch then says that the graph was freed, something goes from one step to the next, such as the
state of a recurrent network. Detach it: with `retain_graph=True`, each step goes back through all
steps before.

## When it is silent
With another backward pass in the loop or in a function that it calls; where tensors go from one
step to the next, or into the loop; in programs with `autograd.grad`, `create_graph` or recurrent
layers; in tests. It is a hint, since a model of another file may keep a state.

## Fix safety
**A suggestion**: if the graph is needed after all, the next backward pass raises an error.
Otherwise no value changes.

## How verify confirms it
It does not measure suggestions. `torch.cuda.max_memory_allocated()` shows the difference.

## References
- `torch.Tensor.backward`
- PyTorch documentation, "Autograd mechanics: saved tensors"
"""

from __future__ import annotations

import libcst as cst

from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Applicability, Argument, Match, Rule, Tier, method, remove

_NEEDS_GRAPH = r"autograd\.grad\b|\bcreate_graph\b|(?i:hidden)|\b(?:LSTM|GRU|RNN)(?:Cell)?\b"


def _is_only_one(match: Match) -> bool:
    """Whether the loop around does one backward pass on each round, and none in a function."""
    module, around = match.module, match.module.step_loop(match.node)
    if around is None:
        return False
    inside = set(module.calls_within(around.node))
    steps = module.loops.stepping_functions
    return len(inside.intersection(module.loops.backward_calls)) == 1 and not any(
        module.definitions.callee(call) in steps for call in inside
    )


def _comes_from_elsewhere(match: Match) -> bool:
    """Whether a tensor that the loop reads was computed before it, or in an earlier round."""
    module, around = match.module, match.module.step_loop(match.node)
    assert around is not None
    inside = set(module.within(around.node))
    return any(
        binding.node not in inside or module.order(binding.node) > module.order(name)
        for name in module.within(around.node.body)
        if isinstance(name, cst.Name)
        and not isinstance(module.parent(name), cst.Call)
        and module.value(name).has(TENSORS | Kind.LIKELY)
        for binding in module.flow.reaching(name)
    )


def _is_kept(match: Match) -> bool:
    """Whether the loop puts a tensor into an attribute or an item."""
    module, around = match.module, match.module.step_loop(match.node)
    assert around is not None
    return any(
        isinstance(each, cst.Assign)
        and isinstance(each.targets[0].target, cst.Attribute | cst.Subscript)
        and module.value(each.value).has(TENSORS | Kind.LIKELY)
        for each in module.within(around.node)
    )


rule = Rule(
    code="TL406",
    name="retain-graph-unneeded",
    family="optimizer",
    summary="the graph of a step is kept although nothing goes through it again",
    tier=Tier.HINT,
    fix=Applicability.SUGGEST,
    finds=(method("backward", Argument("retain_graph", 1, bad=True), where=(_is_only_one,)),),
    unless=(_comes_from_elsewhere, _is_kept),
    message="The activations of this step stay in memory until the next loss is there; remove "
    "`retain_graph=True` if nothing goes through the graph again.",
    change=remove,
    program_lacks={"another pass": _NEEDS_GRAPH},
    off_in_tests=True,
)

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

from torchlint.rule import Applicability, Argument, Match, Rule, Tier, because, method, remove

from ._kept_graphs import need_of_graph

_NEEDS_GRAPH = r"autograd\.grad\b|\bcreate_graph\b|(?i:hidden)|\b(?:LSTM|GRU|RNN)(?:Cell)?\b"


def _is_used_once(match: Match) -> bool:
    module, around = match.module, match.module.step_loop(match.node)
    if around is None:
        return because(False, "no loop around this trains on each round")
    need = module.once(need_of_graph, around.node)
    return need is None or because(False, need.sentence, need.place)


rule = Rule(
    code="TL406",
    summary="the graph of a step is kept although nothing goes through it again",
    tier=Tier.HINT,
    fix=Applicability.SUGGEST,
    finds=(method("backward", Argument("retain_graph", 1, bad=True), where=(_is_used_once,)),),
    message="The activations of this step stay in memory until the next loss is there; remove "
    "`retain_graph=True` if nothing goes through the graph again.",
    change=remove,
    program_lacks={"second derivatives, or states that go from step to step": _NEEDS_GRAPH},
)

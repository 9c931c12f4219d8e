"""Add up losses without the graphs that they were computed by.

## What it does
Reports a sum or a list that outlives the training step and gets the loss as it is, with its graph:
`total += loss`, `total = total + loss`, `losses.append(loss)`. A part of the loss counts too.

## Why it is slow
A tensor that was computed with gradients refers to its graph: one node for each operation, up to
the parameters. `backward()` frees the activations, but the nodes live as long as the tensor does. A
sum refers to the graphs of all its terms, so nothing is freed until the sum is, and each step takes
more memory than the one before. Measured on a CPU for a small network: 43 nodes after one step, 250
after ten, 1170 after fifty.

## Example
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss
print(total / len(loader))
```

## Use instead
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.detach()
print(total / len(loader))
```
`.item()` would free the graph too, but waits for the GPU on every step. If the loss is in half
precision, add `.float()`: a bfloat16 sum stops growing after about a thousand steps.

## When it is silent
For a sum that starts anew within the loop, since it is meant for one backward pass; where nothing
shows that the backward pass of this loss has already happened; with `retain_graph=True` and
`create_graph=True`; under `torch.no_grad()`; for a `deque`, and for lists that the loop empties;
under `if step % 100 == 0` and similar conditions; in functions that a framework calls on each step,
such as `training_step`, since another file may empty the list; in tests and documentation.

## Fix safety
**Unsafe**, since it changes what gradients could still flow through, though the numbers stay the
same to the last bit: a second backward pass through the sum would raise an error in nearly all
programs.

## How verify confirms it
It compares the numbers, which are bitwise equal, and measures the time of a step. What grows is
memory, so a short run shows little.

## References
- PyTorch FAQ, "My model reports cuda runtime error(2): out of memory": "Don't accumulate history
  across your training loop"
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Context, Fix, Module, Reported, Rule, because, edits

from ._kept_losses import added_to, outlives, with_graph

rule = Rule(
    code="TL203",
    summary="losses are added up, or kept in a list, together with their graphs",
    fix=Applicability.UNSAFE,
    contexts=(Context.HOT,),
    triggers=(r"\.append\(|\+",),
)


@rule.on(cst.AugAssign, cst.Assign, cst.Call)
def keeps_the_graph_of_each_loss(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    kept, step = added_to(node), module.step_loop(node)
    if kept is None:
        return ()
    if step is None:
        return _outside(node, module)
    off = module.loops.grad_off_around(node)
    if off is not None:
        return because((), "gradients are off here, under {}", off)
    losses = with_graph(kept.added, step.node, module)
    if not losses:
        if module.value(kept.added).only(Kind.HOST):
            return because((), "{:code} is a number, which keeps no graph", kept.added)
        said = (
            "nothing shows that {:code} is a loss that the loop in {:line} calls `backward()` for"
        )
        return because((), said, kept.added, step.node)
    if not outlives(kept.target, step.node, module):
        return ()
    text = f"{losses[0].value}.detach()"
    message = f"`{module.source(kept.target)}` keeps the graph of each step; give it `{text}`."
    changes = [edits.replace(module, each, f"{each.value}.detach()") for each in losses]
    fix = Fix(Applicability.UNSAFE, f"Add `{text}`", tuple(changes))
    return rule.report(module, node, message, fix=fix)


def _outside(node: cst.CSTNode, module: Module) -> tuple[()]:
    """Why nothing is reported outside of a training loop."""
    function = module.function(node)
    if function is None or not module.loops.is_step_hook(function):
        return because((), "no training loop is around this")
    said = (
        "a framework calls `{}` on each step; the rule follows only sums and lists of a loop that "
    )
    return because((), said + "the file writes out", function.name.value)

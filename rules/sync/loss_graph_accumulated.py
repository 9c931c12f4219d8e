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
For a sum that is started again within the loop, since it is meant for one backward pass; where
nothing shows that the backward pass of this loss has already happened; with `retain_graph=True` and
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

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Applicability, Context, Fix, Module, Reported, Rule, because, edits, once

_KEEPS_GRAPH = frozenset({"retain_graph", "create_graph"})
_EMPTIES = frozenset({"clear", "pop", "popleft"})


class _Kept(NamedTuple):
    """A sum or a list, and what it gets."""

    target: cst.BaseExpression
    added: cst.BaseExpression


rule = Rule(
    code="TL203",
    summary="losses are added up, or kept in a list, together with their graphs",
    fix=Applicability.UNSAFE,
    contexts=(Context.HOT,),
    triggers=(r"\.append\(|\+",),
)


@rule.on(cst.AugAssign, cst.Assign, cst.Call)
def keeps_the_graph_of_each_loss(node: cst.CSTNode, module: Module) -> Iterable[Reported]:
    kept, step = _added_to(node), module.step_loop(node)
    if kept is None:
        return ()
    if step is None:
        return _outside(node, module)
    off = module.evaluations.grad_off_around(node)
    if off is not None:
        return because((), "gradients are off here, under {}", off)
    losses = _with_graph(kept.added, step.node, module)
    if not losses:
        if module.value(kept.added).only(Kind.HOST):
            return because((), "{:code} is a number, which keeps no graph", kept.added)
        said = (
            "nothing shows that {:code} is a loss that the loop in {:line} calls `backward()` for"
        )
        return because((), said, kept.added, step.node)
    if not _outlives(kept.target, step.node, module):
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


# losses that are kept -----------------------------------------------------------------------------


def _added_to(node: cst.CSTNode) -> _Kept | None:
    """What `total += x`, `total = total + x` and `kept.append(x)` add to what."""
    if isinstance(node, cst.AugAssign):
        return _Kept(node.target, node.value) if isinstance(node.operator, cst.AddAssign) else None
    if isinstance(node, cst.Assign) and isinstance(node.value, cst.BinaryOperation):
        target, value = node.targets[0].target, node.value
        adds = isinstance(value.operator, cst.Add) and value.left.deep_equals(target)
        return _Kept(target, value.right) if adds else None
    if isinstance(node, cst.Call) and method_name(node) == "append" and len(node.args) == 1:
        return _Kept(receiver(node), node.args[0].value)
    return None


def _with_graph(added: cst.BaseExpression, loop: Loop, module: Module) -> list[cst.Name]:
    """The losses in a sum for which this loop does the backward pass. That is possible only once,
    so nobody needs their graphs any more."""
    done = _differentiated(module).get(loop, set())
    return [
        name
        for name in _terms(added, module)
        if all(id(binding.node) in done for binding in module.flow.reaching(name))
    ]


def _outlives(kept: cst.BaseExpression, loop: Loop, module: Module) -> bool:
    """Whether a sum or a list is there before the loop, and lasts until after it."""
    root = kept
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if not isinstance(root, cst.Name):
        return because(False, "nothing shows that {:code} lasts until after {}", kept, loop)
    renewed = _renewed(module, loop)
    new = renewed.get(root.value) or renewed.get(module.source(kept))
    said = "{:code} is reset, or drops what is old, in {:line}"
    return new is None or because(False, said, kept, new)


def _terms(added: cst.BaseExpression | None, module: Module) -> Iterator[cst.Name]:
    """The tensors of a sum, also those that are multiplied by a number."""
    if isinstance(added, cst.Name) and module.value(added).has(TENSORS | Kind.LIKELY):
        yield added
    if not isinstance(added, cst.BinaryOperation):
        return
    sides = [added.left, added.right]
    if isinstance(added.operator, cst.Multiply | cst.Divide):
        sides = [each for each in sides if not module.value(each).only(Kind.HOST)]
        sides = sides if len(sides) == 1 else []
    for side in sides:
        yield from _terms(side, module)


@once
def _differentiated(module: Module) -> dict[Loop, set[int]]:
    """By step loop: its assignments whose tensors take part in its backward passes."""
    losses: dict[Loop, set[int]] = {}
    for call in module.loops.backward_calls:
        step = module.step_loop(call)
        keeps = any(arg.keyword and arg.keyword.value in _KEEPS_GRAPH for arg in call.args)
        if step is not None and not keeps:
            known = losses.setdefault(step.node, set())
            _add_terms(_loss_of(call, module), known, step.node, module)
    return losses


def _add_terms(
    loss: cst.BaseExpression | None, known: set[int], loop: Loop, module: Module
) -> None:
    """Add the assignments of a loop that a loss is the sum of."""
    for name in _terms(loss, module):
        for node in (binding.node for binding in module.flow.reaching(name)):
            if id(node) not in known and loop in module.ancestors(node):
                known.add(id(node))
                if isinstance(node, cst.Assign):
                    _add_terms(node.value, known, loop, module)


def _loss_of(backward: cst.Call, module: Module) -> cst.BaseExpression | None:
    """`loss` of `loss.backward()`, `engine.backward(loss)`, `scaler.scale(loss).backward()`."""
    node: cst.BaseExpression | None = backward
    while isinstance(node, cst.Call):
        owner = receiver(node) if method_name(node) else None
        given = node.args[0].value if node.args else owner
        node = owner if module.value(owner).has(TENSORS) else given
    return node


@once
def _renewed(module: Module, loop: Loop) -> dict[str, cst.CSTNode]:
    """What is reset in a loop, by its text: what is set there, or emptied; a `deque` drops what
    is old by itself."""
    targets: list[cst.BaseExpression] = []
    for node in module.within(loop):
        if isinstance(node, cst.Assign) and _added_to(node) is None:
            targets += [each.target for each in node.targets]
        elif isinstance(node, cst.For):
            targets.append(node.target)
        elif isinstance(node, cst.Call) and method_name(node) in _EMPTIES:
            targets.append(receiver(node))
    for call in module.calls_by_name.get("collections.deque", ()):
        targets += assign_targets(module.parent(call))
    return {
        module.source(part): part
        for target in targets
        for part in module.within(target)
        if part is target or isinstance(module.parent(part), cst.Element)
    }

"""Turn the gradients of one model off while the other one is trained through it.

## What it does
Reports backward passes that compute gradients of a model which the next `zero_grad()` throws away,
where two models have an optimizer each and one is fed with the output of the other: the step of a
generator through its discriminator, that of an actor through its critic. It also reports the step
of a discriminator that goes back through the generator.

## Why it is slow
To train the generator, the backward pass must go through the discriminator. But it does not have to
compute the gradients of its weights, which is about half of the work of a backward pass. They are
stored, with `DistributedDataParallel` they are sent to the other processes, and then they are
zeroed, since the discriminator learns from other losses. The other way round, nothing of what the
backward pass does in the generator is used.

## Example
```python
optimizer_g = torch.optim.SGD(generator.parameters(), lr=0.1)
optimizer_d = torch.optim.SGD(discriminator.parameters(), lr=0.1)
for images, _ in loader:
    optimizer_d.zero_grad()
    fake = generator(torch.randn(64, 100, device=device))
    loss_d = (discriminator(fake.detach()) - discriminator(images.to(device))).mean()
    loss_d.backward()
    optimizer_d.step()
    optimizer_g.zero_grad()
    loss_g = -discriminator(fake).mean()
    loss_g.backward()
    optimizer_g.step()
```

## Use instead
```python
optimizer_g = torch.optim.SGD(generator.parameters(), lr=0.1)
optimizer_d = torch.optim.SGD(discriminator.parameters(), lr=0.1)
for images, _ in loader:
    optimizer_d.zero_grad()
    fake = generator(torch.randn(64, 100, device=device))
    loss_d = (discriminator(fake.detach()) - discriminator(images.to(device))).mean()
    loss_d.backward()
    optimizer_d.step()
    optimizer_g.zero_grad()
    discriminator.requires_grad_(False)
    loss_g = -discriminator(fake).mean()
    loss_g.backward()
    discriminator.requires_grad_(True)
    optimizer_g.step()
```

## When it is silent
In programs that turn gradients off or toggle optimizers; where the gradients are zeroed, or an
optimizer steps, in other functions; where one optimizer has the parameters of both models, or both
step after the same backward pass; in tests.
It is a hint: compared with a large generator, a small discriminator costs little.

## Fix safety
There is no fix: `requires_grad_(False)` must come before the forward pass of that loss, and code
that reads the gradients in between would miss them. No value changes otherwise.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_frozen.py` compares with your
own version.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
- pytorch-CycleGAN-and-pix2pix, `set_requires_grad`: "to avoid unnecessary calculations"
- OpenAI Spinning Up, which freezes the critics while it trains the policy
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Effect, Match, Module, Rule, Tier, because, method, once

_Route = frozenset["_Through"]
_Assignment = cst.Assign | cst.AugAssign | cst.AnnAssign
_CUTS = frozenset({"data", "detach", "item"})
"""Attributes and methods that no gradient passes."""
_LONGEST = 30
"""A loss that is computed with more models is left alone."""
_NOWHERE: _Route = frozenset()


class _Through(NamedTuple):
    """A backward pass from the result of `outer(x)`, or of `outer(inner(x))`, goes through it."""

    outer: str
    inner: str = ""


class _Wasted(NamedTuple):
    """A model whose gradients are zeroed before a step, and the one that a step follows for."""

    model: str
    trained: str
    is_outer: bool


def _throws_some_away(match: Match) -> list[_Wasted]:
    alone = "no model is known whose gradients from this are zeroed before a step uses them"
    return _wasted(match.call, match.module) or because([], alone)


def _message(match: Match) -> str:
    wasted: list[_Wasted] = match.found(list)
    names = " and ".join(f"`{each.model}`" for each in wasted)
    thrown = f"The gradients of {names} that this computes are zeroed before any step uses them"
    if wasted[0].is_outer:
        return f"{thrown}; call `requires_grad_(False)` on it for this loss."
    return f"{thrown}; detach its output before `{wasted[0].trained}` takes it."


rule = Rule(
    code="TL407",
    effect=Effect.LARGE,
    summary="a backward pass computes gradients that are zeroed before any step uses them",
    tier=Tier.HINT,
    finds=(method("backward", "manual_backward", where=(_throws_some_away,)),),
    message=_message,
    change="gradients must be off in the forward pass of this loss already",
    program_lacks={
        "gradients that are switched off": r"requires_grad_\((?!True\b|\))|"
        r"\.requires_grad\s*=(?!\s*True\b)|set_requires_grad|toggle_(?:optimizer|grad)|\bfreeze\("
    },
)


# two optimizers -----------------------------------------------------------------------------------


def _wasted(backward: cst.Call, module: Module) -> list[_Wasted]:
    """The models whose gradients from this backward pass are thrown away."""
    around = [module.function(backward), *module.loops.loops_around(backward)][-1]
    if around is None:
        return []
    wasted = {}
    for outer, inner in _routes(module, around).get(backward, ()):
        fates = [_is_zeroed(model, backward, around, module) for model in (outer, inner)]
        if fates == [True, False]:
            wasted[outer] = _Wasted(outer, inner, is_outer=True)
        elif fates == [False, True]:
            wasted[inner] = _Wasted(inner, outer, is_outer=False)
    return [wasted[model] for model in sorted(wasted)]


@once
def _optimizers(module: Module) -> dict[str, set[str]]:
    """For each model that the file gives an optimizer, as `model.parameters()`, the names of its
    optimizers."""
    optimizers: dict[str, set[str]] = defaultdict(set)
    for call in module.calls_by_method.get("parameters", ()):
        assign = module.enclosing(call, cst.Assign)
        if assign is not None and module.value(assign.value).has(Kind.OPTIMIZER):
            model = dotted_text(call.func).removesuffix(".parameters")
            optimizers[model] |= {dotted_text(each.target) for each in assign.targets}
    return optimizers


# where the optimizers zero and step --------------------------------------------------------


def _is_zeroed(model: str, backward: cst.Call, around: cst.CSTNode, module: Module) -> bool | None:
    """Whether the gradients of a model are zeroed before its optimizer steps again, in this round
    or the next; None if neither is to be seen."""
    at = module.order(backward)
    coming = []
    for name in {model, *_optimizers(module).get(model, ())}:
        events = _events(module, around).get(name, [])
        if events:
            order, zeroes = events[bisect_left(events, (at, False)) % len(events)]
            coming.append((order < at, order, zeroes))
    return min(coming)[2] if coming else None


@once
def _events(module: Module, around: cst.CSTNode) -> dict[str, list[tuple[int, bool]]]:
    """For each optimizer and model, where it zeroes gradients (True) and steps (False)."""
    events: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    steps = set(module.loops.optimizer_steps)
    for call in module.calls_within(around):
        zeroes = method_name(call) == "zero_grad"
        if zeroes or call in steps:
            owner = dotted_text(call.func).rpartition(".")[0]
            for name in {owner, *(dotted_text(arg.value) for arg in call.args)}:
                events[name].append((module.order(call), zeroes))
    return events


# which models a loss was computed with -----------------------------------------------------


@once
def _routes(module: Module, around: cst.CSTNode) -> dict[cst.CSTNode, _Route]:
    """For each backward pass in a loop or function, the models that it goes through."""
    routes_by_name: dict[str, _Route] = {}
    routes: dict[cst.CSTNode, _Route] = {}
    inside = module.within(around)
    backwards = set(module.loops.backward_calls).intersection(inside)
    for node in inside:
        if node in backwards:
            routes[node] = _route(node, routes_by_name, module)
        elif isinstance(node, _Assignment):
            route = _NOWHERE
            if node.value is not None and not module.evaluations.grad_is_off(node):
                route = _route(node.value, routes_by_name, module)
            for target in filter(None, _targets(node)):
                adds = isinstance(node, cst.AugAssign)
                routes_by_name[target] = (
                    route | routes_by_name.get(target, _NOWHERE) if adds else route
                )
    return routes


def _targets(node: _Assignment) -> Iterator[str]:
    """The names and attributes that an assignment changes."""
    targets = [node.target] if isinstance(node, cst.AugAssign) else assign_targets(node)
    for target in targets:
        if isinstance(target, cst.Tuple | cst.List):
            yield from (dotted_text(each.value) for each in target.elements)
        else:
            yield dotted_text(target)


def _route(node: cst.CSTNode, known: dict[str, _Route], module: Module) -> _Route:
    """The models that an expression is computed with, up to where gradients end."""
    through: set[_Through] = set()
    done: set[cst.CSTNode] = set()
    for part in module.within(node):
        if part in done:
            continue
        if isinstance(part, cst.Attribute) and part.attr.value in _CUTS:
            done.update(module.within(part))
        elif isinstance(part, cst.Call) and (model := _model_of(part, module)):
            done.update(module.within(part))
            inner = [each for arg in part.args for each in _route(arg.value, known, module)]
            through |= {_Through(model), *inner, *(_Through(model, each.outer) for each in inner)}
        else:
            through |= known.get(dotted_text(part), _NOWHERE)
    return frozenset(through) if len(through) <= _LONGEST else _NOWHERE


def _model_of(call: cst.Call, module: Module) -> str | None:
    """`netD` for `netD(x)` and `netD.score(x)`, if it is a model with an optimizer."""
    models = _optimizers(module)
    func = dotted_text(call.func)
    return next((each for each in (func, func.rpartition(".")[0]) if each in models), None)

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
In files that turn gradients off or toggle optimizers, also by a function that is called so; where
the gradients are zeroed, or an optimizer steps, in other functions; where one optimizer has the
parameters of both models, or both step after the same backward pass; in tests.
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

import re
from bisect import bisect_left
from collections import defaultdict
from typing import Final, NamedTuple

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.parameter_loops import parameter_loop
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Effect, Match, Module, Rule, Tier, because, method, once

from ._loss_routes import routes

_SWITCHES: Final = re.compile(
    r"requires_grad_?\((?!True\b|\))|set_requires_grad|toggle_(?:optimizer|grad)|freeze\w{0,40}\("
)


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


def _switches_gradients(match: Match) -> bool:
    """Whether the file turns gradients off for anything but a tensor, perhaps by a function of
    another file."""
    module = match.module
    found = _SWITCHES.search(module.text)
    if found is not None:
        return because(True, "the file switches gradients: `{}`", found.group())
    for name in module.spelled("requires_grad"):
        owner, target = module.parent(name), module.enclosing(name, cst.AssignTarget)
        assign = module.parent(target) if target is not None else None
        if (
            isinstance(assign, cst.Assign)
            and isinstance(owner, cst.Attribute)
            and module.literal(assign.value) is not True
            and (parameter_loop(name, module) or not module.value(owner.value).only(TENSORS))
        ):
            return because(True, "the file switches gradients, by {}", assign)
    return False


rule = Rule(
    code="TL407",
    effect=Effect.LARGE,
    summary="a backward pass computes gradients that are zeroed before any step uses them",
    tier=Tier.HINT,
    finds=(method("backward", "manual_backward", where=(_throws_some_away,)),),
    message=_message,
    change="gradients must be off in the forward pass of this loss already",
    unless=(_switches_gradients,),
)


# two optimizers -----------------------------------------------------------------------------------


def _wasted(backward: cst.Call, module: Module) -> list[_Wasted]:
    """The models whose gradients from this backward pass are thrown away."""
    around = [module.function(backward), *module.loops.loops_around(backward)][-1]
    if around is None:
        return []
    wasted = {}
    stepping, models = _steps_next(backward, around, module), frozenset(_optimizers(module))
    route = routes(module, around, models).get(backward, frozenset())
    inners = {each.inner for each in route}
    for outer, inner in route:
        fates = [_is_zeroed(model, backward, around, module) for model in (outer, inner)]
        trains_others = fates[0] and stepping and outer not in inners
        if fates == [True, False] or trains_others:
            wasted[outer] = _Wasted(outer, inner, is_outer=True)
        elif fates == [False, True]:
            wasted[inner] = _Wasted(inner, outer, is_outer=False)
    return [wasted[model] for model in sorted(wasted)]


@once
def _optimizers(module: Module) -> dict[str, set[str]]:
    """For each model that the file gives an optimizer, as `model.parameters()`, as a whole or in
    parts, the names of its optimizers."""
    optimizers: dict[str, set[str]] = defaultdict(set)
    for call in module.calls_by_method.get("parameters", ()):
        assign = module.enclosing(call, cst.Assign)
        if assign is not None and module.value(assign.value).has(Kind.OPTIMIZER):
            model = dotted_text(call.func).removesuffix(".parameters")
            while model not in ("", "self"):
                optimizers[model] |= {dotted_text(each.target) for each in assign.targets}
                model = model.rpartition(".")[0]
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


def _steps_next(backward: cst.Call, around: cst.CSTNode, module: Module) -> set[str]:
    """The optimizer that steps right after a backward pass, before any gradient is zeroed, if the
    file makes it of parameters that are not known to be a model's. With other names for it."""
    at, events = module.order(backward), _events(module, around)
    coming = [(*event, name) for name in events for event in events[name] if event[0] > at]
    first = min(coming, default=(0, True, ""))
    steps = {name for order, zeroes, name in coming if order == first[0] and not zeroes}
    return (steps & _made(module)).difference(*_optimizers(module).values())


@once
def _made(module: Module) -> frozenset[str]:
    """The names of the optimizers that the file makes."""
    made = (each for each in module.nodes(cst.Assign) if isinstance(each.value, cst.Call))
    return frozenset(
        dotted_text(target.target)
        for assign in made
        if module.value(assign.value).has(Kind.OPTIMIZER)
        for target in assign.targets
    )


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

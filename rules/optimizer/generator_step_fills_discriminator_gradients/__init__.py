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
For a model that the file turns gradients off for, by `requires_grad_(False)`, in a loop over its
parameters, or by a function such as `set_requires_grad` or `freeze`; where the gradients are
zeroed, or an optimizer steps, in another file; where one optimizer has the parameters of both
models, or both step after the same backward pass; in tests.
Calls of functions of the same file are followed. An optimizer that is made elsewhere belongs to the
model of the same name, `optims["d"]` to `nets.discriminator`.
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

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.uses import calls_of
from torchlint.rule import Effect, Match, Module, Related, Rule, Tier, because, method

from .._loss_routes import EACH, GradientEvent, events
from .gradient_switches import are_switched
from .model_optimizers import made, optimizers_of, wrapping

_MOST_ROUNDS = 6


class _Wasted(NamedTuple):
    """A model whose gradients are zeroed before a step, and the one that a step follows for."""

    model: str
    trained: str
    is_outer: bool
    forward: cst.Call


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


def _forward_passes(match: Match) -> tuple[Related, ...]:
    wasted: list[_Wasted] = match.found(list)
    said = "they must be off before this forward pass"
    starts = sorted({match.module.span(each.forward)[0] for each in wasted if each.is_outer})
    return tuple(Related(match.module.path, at, said) for at in starts)


rule = Rule(
    code="TL407",
    effect=Effect.LARGE,
    summary="a backward pass computes gradients that are zeroed before any step uses them",
    tier=Tier.HINT,
    finds=(method("backward", "manual_backward", where=(_throws_some_away,)),),
    message=_message,
    related=_forward_passes,
    change="gradients must be off in the forward pass of this loss already",
)


def _wasted(backward: cst.Call, module: Module) -> list[_Wasted]:
    """The models whose gradients from this backward pass are thrown away."""
    optimizers = optimizers_of(module)
    if not optimizers:
        return []
    stepping = frozenset(each for names in optimizers.values() for each in names)
    for around in _rounds(backward, module):
        happened = events(module, around, frozenset(optimizers), stepping)
        places = [at for at, each in enumerate(happened) if each.call is backward]
        wasted = [_wasted_at(at, happened, module) for at in places]
        if wasted and all(each == wasted[0] for each in wasted) and wasted[0]:
            return wasted[0]
    return []


def _rounds(backward: cst.Call, module: Module) -> Iterator[cst.CSTNode]:
    """The loop or function around a backward pass, and those that call it, nearest first."""
    calls: list[cst.Call] = [backward]
    seen: set[cst.CSTNode] = set()
    while calls and len(seen) < _MOST_ROUNDS:
        call = calls.pop(0)
        function = module.function(call)
        around = [function, *module.loops.loops_around(call)][-1]
        if around is not None and around not in seen:
            seen.add(around)
            yield around
            calls += calls_of(function, module) if function is not None else ()


def _wasted_at(at: int, happened: list[GradientEvent], module: Module) -> list[_Wasted]:
    wasted: dict[str, _Wasted] = {}
    route = happened[at].route
    inners, known = {each.inner for each in route}, optimizers_of(module)
    steps_next = _steps_next(at, happened, module)
    ran = {each.ran: each.call for each in happened[:at]}
    for outer, inner in route:
        fates = [_is_zeroed(each, at, happened, module) for each in (outer, inner)]
        trains_others = fates[0] and steps_next and outer not in inners
        if fates == [True, False] or trains_others:
            wasted[outer] = _Wasted(outer, inner, True, ran[outer])
        elif fates == [False, True] and outer not in wrapping(module):
            wasted[inner] = _Wasted(inner, outer, False, ran[inner])
    kept = (each for each in wasted if not are_switched({each, *known[each]}, module))
    return [wasted[model] for model in sorted(kept)]


# where the optimizers zero and step --------------------------------------------------------


def _is_zeroed(model: str, at: int, happened: list[GradientEvent], module: Module) -> bool | None:
    """Whether the gradients of a model are zeroed before its optimizer steps again, in this round
    or the next; None if neither is to be seen."""
    names = {EACH, model, *optimizers_of(module).get(model, ())} if model else {""}
    for each in [*happened[at + 1 :], *happened[:at]]:
        if not names.isdisjoint(each.names):
            return each.zeroes
    return None


def _steps_next(at: int, happened: list[GradientEvent], module: Module) -> bool:
    """Whether an optimizer steps right after a backward pass, before any gradient is zeroed, of
    parameters that are not known to be a model's."""
    coming = next((each for each in happened[at + 1 :] if each.names), None)
    if coming is None or coming.zeroes:
        return False
    known = set().union(*optimizers_of(module).values())
    return not coming.names.isdisjoint(made(module) - known)

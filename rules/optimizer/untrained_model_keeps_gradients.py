"""Turn the gradients off of a model that no optimizer trains.

## What it does
Reports a model that was switched to evaluation by `.eval()`, whose parameters no optimizer has, and
through which the backward pass of each training step goes: a pretrained generator whose input is
optimized, a network that measures a loss, a backbone under a new head, a teacher.

## Why it is slow
`.eval()` only switches layers such as dropout; gradients stay on. The backward pass computes the
gradient of each weight, about half of its work, keeps the activations that this needs, and adds
each to a `.grad` that nothing reads and nothing zeroes. Only the gradient of the input is needed,
and where the input needs none, the model needs no backward pass at all.

## Example
```python
generator = Generator(512).to(device)
generator.load_state_dict(torch.load(path))
generator.eval()
latent = torch.zeros(1, 512, device=device, requires_grad=True)
optimizer = torch.optim.Adam([latent], lr=0.1)
for step in range(1000):
    optimizer.zero_grad()
    loss = (generator(latent) - image).square().mean()
    loss.backward()
    optimizer.step()
```

## Use instead
```python
generator = Generator(512).to(device)
generator.load_state_dict(torch.load(path))
generator.eval().requires_grad_(False)
latent = torch.zeros(1, 512, device=device, requires_grad=True)
optimizer = torch.optim.Adam([latent], lr=0.1)
for step in range(1000):
    optimizer.zero_grad()
    loss = (generator(latent) - image).square().mean()
    loss.backward()
    optimizer.step()
```

## When it is silent
- Where the file freezes the model, switches it back by `.train()`, names its `parameters()`, or
  gives it to an object or function that may do so: a class, `freeze`, `prepare`, `build_optimizer`.
- For a model that the function was given, since its caller may have frozen it.
- Where the backward pass is not known to go through it: under `torch.no_grad()`, after `.detach()`,
  or where the loss is computed in another function.
- For classes that freeze their parameters in the same file; for losses and metrics, which mostly do
  that, as `lpips.LPIPS` does; in tests.

It is a hint: a class of another file may freeze its parameters too.

## Fix safety
There is no fix: a part of the model may be trained by what the file does not show.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version, on a CPU too. The numbers are bitwise equal.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation", which says
  that `model.eval()` does not
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.freezing import is_frozen
from torchlint.analysis.uses import is_variable, method_name
from torchlint.rule import Context, Effect, Module, Related, Reported, Rule, Tier, because, once

from ._loss_routes import routes

_TRAINS: Final = frozenset({"named_parameters", "parameters", "requires_grad_", "train"})
_TAKES: Final = re.compile(r"^[A-Z]|(?i:optim|freeze|grad|prepare|init|train|lora|peft|wrap)")
"""Functions that may freeze a model or let an optimizer have it."""
_FREEZE_THEMSELVES: Final = re.compile(r"(?i)loss|lpips|metric|percept")
"""Classes that are called so mostly freeze their network themselves."""


rule = Rule(
    code="TL408",
    effect=Effect.LARGE,
    summary="a backward pass computes gradients of a model that no optimizer trains",
    tier=Tier.HINT,
    contexts=(Context.TRAINS,),
    triggers=(r"\.eval\(\)", r"backward\("),
)


@rule.on(cst.Call)
def goes_through_an_untrained_model(call: cst.Call, module: Module) -> Iterable[Reported]:
    if method_name(call) != "eval" or call.args:
        return ()
    name = _model(call, module)
    backward = _through(module).get(name)
    function = module.function(call)
    if backward is None or function not in (None, module.function(backward)):
        said = "no backward pass of a step loop is known to go through {:code}"
        return because((), said, call)
    if not _is_untrained(call, name, module):
        return ()
    if call is not _switched(module)[name]:
        return because((), "the model is reported where it was switched to evaluation first")
    message = (
        f"No optimizer trains `{name}`, but the backward pass of each step computes the gradients "
        "of its parameters; call `requires_grad_(False)`."
    )
    at = module.span(backward)[0]
    passes = Related(module.path, at, "this backward pass goes through it")
    withheld = "whether a part of the model is trained elsewhere is not known"
    return rule.report(module, call, message, withheld=withheld, related=(passes,))


@once
def _switched(module: Module) -> dict[str, cst.Call]:
    """The models that a file switches to evaluation, each with the first such call."""
    calls: dict[str, cst.Call] = {}
    for call in module.calls_by_method.get("eval", ()):
        name = _model(call, module)
        if name and not call.args:
            calls.setdefault(name, call)
    return calls


def _model(call: cst.Call, module: Module) -> str:
    """`net` for `net.eval()`, and for `net = build().eval()`."""
    assert isinstance(call.func, cst.Attribute)
    if isinstance(call.func.value, cst.Name):
        return call.func.value.value
    assign = module.enclosing(call, cst.Assign)
    targets = assign_targets(assign) if assign is not None else []
    chained = assign is not None and any(call is each for each in _chain(assign.value))
    return dotted_text(targets[0]) if chained and isinstance(targets[0], cst.Name) else ""


def _chain(node: cst.BaseExpression) -> Iterator[cst.Call]:
    """The calls of `build().to(device).eval()`, the last first."""
    while isinstance(node, cst.Call):
        yield node
        node = node.func.value if isinstance(node.func, cst.Attribute) else node.func


@once
def _through(module: Module) -> dict[str, cst.Call]:
    """For each model that is switched to evaluation, the first backward pass of a step loop that
    goes through it."""
    models = frozenset(_switched(module))
    found: dict[str, cst.Call] = {}
    for backward in module.loops.backward_calls:
        loops = list(module.loops.loops_around(backward))
        if loops:
            for each in routes(module, loops[-1], models).get(backward, ()):
                for name in filter(None, each):
                    found.setdefault(name, backward)
    return found


def _is_untrained(call: cst.Call, name: str, module: Module) -> bool:
    """Whether nothing in a file trains or freezes a model that it makes itself."""
    function = module.function(call)
    for use in module.spelled(name, near=call):
        if not is_variable(use, module):
            continue
        for above in module.ancestors(use):
            if isinstance(above, cst.Attribute) and above.attr.value in _TRAINS:
                return because(False, "the model may be trained or frozen, by {}", above)
            if not isinstance(above, cst.Attribute | cst.Call):
                break
        taker = module.call_with(use)
        if taker is not None and _may_take(taker):
            return because(False, "{} may train or freeze the model", taker)
        if is_frozen(use, module):
            return because(False, "the model is frozen")
    made = [
        each.value
        for each in module.nodes(cst.Assign)
        if module.function(each) is function
        and any(dotted_text(target.target) == name for target in each.targets)
    ]
    if not made or not all(isinstance(each, cst.Call) for each in made):
        return because(False, "nothing shows what the model is")
    if any(_freezes_itself(part, module) for each in made for part in _chain(each)):
        return because(False, "such a model may freeze its parameters itself")
    return True


def _freezes_itself(made: cst.Call, module: Module) -> bool:
    """Whether a class is called like one that freezes its parameters, or does so in this file."""
    if _FREEZE_THEMSELVES.search(dotted_text(made.func).rpartition(".")[2]):
        return True
    names = module.resolve(made.func)
    classes = filter(None, map(module.definitions.class_named, names))
    return any("requires_grad" in module.source(each) for each in classes)


def _may_take(call: cst.Call) -> bool:
    """Whether a call that is given a model may give its parameters to an optimizer, or freeze
    them: not `DistributedDataParallel(model)`."""
    last = dotted_text(call.func).rpartition(".")[2]
    return bool(_TAKES.search(last)) and not last.endswith("DataParallel")

"""Which optimizers train which model, as far as a file shows."""

import re
from collections import defaultdict
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text, sounds_like_class
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, once

from .._loss_routes import stepped, text_of

_KINDS = re.compile(r"optimi[sz]ers?|optims?|opts?(?![a-z])|solver|(?<![a-z])net|model|_")
"""The parts of a name that only say what kind of object it is."""
_ROLES = {
    **dict.fromkeys(("d", "dis", "disc", "discr"), "discriminator"),
    **dict.fromkeys(("g", "gen"), "generator"),
}


@once
def optimizers_of(module: Module) -> dict[str, set[str]]:
    """For each model with an optimizer, as a whole or in parts, the names of its optimizers: those
    that are given `model.parameters()`, or else the one that is called like it. An object that is
    made with a model, such as a loss, has the optimizers of that model."""
    optimizers: dict[str, set[str]] = defaultdict(set)
    for model, names in _given(module):
        while model not in ("", "self"):
            optimizers[model] |= names
            model = model.rpartition(".")[0]
    for model, name in _named_alike(module, frozenset().union(*optimizers.values())):
        optimizers[model].add(name)
    for wrapper, model in _wrappers(module, frozenset(optimizers)):
        optimizers[wrapper] |= {model, *optimizers[model]}
    return optimizers


@once
def wrapping(module: Module) -> frozenset[str]:
    """The objects that may detach what they are given before a model of theirs takes it."""
    whole = {model for model, _ in _given(module)}
    whole |= {model for model, _ in _named_alike(module, frozenset())}
    return frozenset(optimizers_of(module)) - whole


@once
def made(module: Module) -> frozenset[str]:
    """The names of the optimizers that the file makes."""
    calls = (each for each in module.nodes(cst.Assign) if isinstance(each.value, cst.Call))
    return frozenset(
        text_of(target.target)
        for assign in calls
        if module.value(assign.value).has(Kind.OPTIMIZER)
        for target in assign.targets
    )


def _given(module: Module) -> Iterator[tuple[str, set[str]]]:
    """The models whose parameters are given to an optimizer, and its names."""
    for call in module.calls_by_method.get("parameters", ()):
        assign = module.enclosing(call, cst.Assign)
        if assign is not None and module.value(assign.value).has(Kind.OPTIMIZER):
            assert isinstance(call.func, cst.Attribute)
            yield text_of(call.func.value), {text_of(each.target) for each in assign.targets}


@once
def _named_alike(module: Module, known: frozenset[str]) -> list[tuple[str, str]]:
    """The models that are called in the file, with an optimizer of the same name:
    `nets.generator` and `optims.generator`, `net_d` and `optim_d`."""
    by_role: dict[str, set[str]] = defaultdict(set)
    for step in module.calls_by_method.get("step", ()):
        for text in stepped(step, module):
            if text not in known and (role := _role(text)):
                by_role[role].add(text)
    return [
        (model, name)
        for model in _called(module)
        for name in by_role.get(_role(model), ())
        if name != model
    ]


@once
def _called(module: Module) -> list[str]:
    """What is called, or has a method called: what may be a model."""
    texts = {text_of(call.func) for call in module.nodes(cst.Call)}
    parts = {part for text in texts for part in (text, text.rpartition(".")[0])}
    return sorted(part for part in parts if len(part) > 1 or part.isupper())


def _role(text: str) -> str:
    """`discriminator` for `netD`, `optimizer_d`, `self.discriminator.optimizer` and others."""
    for part in reversed(text.split(".")):
        role = _KINDS.sub("", part.lower())
        if role:
            return _ROLES.get(role, role)
    return ""


def _wrappers(module: Module, models: frozenset[str]) -> Iterator[tuple[str, str]]:
    """`loss` and `net_d` for `loss = AdversarialLoss(net_d)`."""
    for assign in module.nodes(cst.Assign):
        value = assign.value
        if not isinstance(value, cst.Call) or module.value(value).has(Kind.OPTIMIZER):
            continue
        if not sounds_like_class(dotted_text(value.func).rpartition(".")[2]):
            continue
        for arg in value.args:
            given = text_of(arg.value)
            for target in assign_targets(assign) if given in models else ():
                if text_of(target) not in ("", given):
                    yield text_of(target), given

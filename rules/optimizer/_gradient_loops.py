"""Loops over the parameters of a model that compute with their gradients."""

import libcst as cst

from torchlint.analysis.training.parameter_loops import parameter_loop
from torchlint.analysis.uses import method_name
from torchlint.rule import Match, Module, because

METHODS = ("norm", "vector_norm", "clamp_", "mul_", "div_", "add_", "sub_")
_EXCHANGES = frozenset({"all_reduce", "reduce", "broadcast", "all_gather"})


def computes_with_a_gradient(match: Match) -> bool:
    """Whether a call is the first in a loop over parameters that computes with their gradients."""
    loop = parameter_loop(match.call, match.module)
    if loop is None:
        return because(False, "no loop around this goes over the parameters of a model")
    first = match.module.once(_first, loop)
    if first is None:
        return because(False, "nothing in {} computes with gradients", loop)
    said = "the loop is reported where it computes with gradients first: {}"
    return first is match.call or because(False, said, first)


def _first(module: Module, loop: cst.CSTNode) -> cst.Call | None:
    """The first call in a loop that computes with a gradient."""
    for call in module.calls_within(loop):
        if method_name(call) in METHODS and _mentions_gradient(call, module):
            return call
    return None


def _mentions_gradient(call: cst.Call, module: Module) -> bool:
    return any(
        isinstance(part, cst.Attribute) and part.attr.value == "grad"
        for part in module.within(call)
    )


def _calls_in_loop(match: Match) -> list[cst.Call]:
    loop = parameter_loop(match.call, match.module)
    return [] if loop is None else match.module.calls_within(loop)


def exchanges_gradients(match: Match) -> bool:
    for call in _calls_in_loop(match):
        if method_name(call) in _EXCHANGES:
            return because(True, "the loop exchanges gradients between processes: {}", call)
    return False


def is_an_optimizer(match: Match) -> bool:
    """Whether a class that inherits from an optimizer does so in its step."""
    class_ = match.module.class_(match.call)
    bases = [] if class_ is None else match.module.definitions.bases(class_)
    optimizes = any(base.startswith("torch.optim.") for base in bases)
    return optimizes and because(True, "it is the step of an optimizer, {}", class_)


def reads_numbers(match: Match) -> bool:
    """Whether the loop reads a number for each parameter."""
    for call in _calls_in_loop(match):
        if method_name(call) == "item" or match.module.calls(call, "builtins.float"):
            return because(True, "the loop also reads a number for each parameter: {}", call)
    return False

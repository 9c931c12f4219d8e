"""Where gradients may be switched off: around a place, around its function, around its callers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.uses import calls_of
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_CALLERS_DEPTH = 3
_OTHER_CONTEXTS = re.compile(
    r"^(?:builtins\.open|torch\.(?!.*(?:grad|inference))[\w.]+|warnings\.\w+)$|\btqdm$|autocast$"
)
"""What people write after `with` that leaves gradients as they are."""
_OTHER_DECORATORS = re.compile(
    r"^(?:builtins\.\w+|hydra\.main|click\.\w+|functools\.wraps|typing\.\w+|abc\.\w+)$"
)


def may_be_off(node: cst.CSTNode, module: Module) -> bool:
    """Whether gradients may be off where `node` runs, as far as its file shows: under a `with` or
    a decorator that is not known to leave them on, after `torch.set_grad_enabled(…)`, or because
    the function is called like that."""
    return _is_switched(node, module, 0)


def switched_off_calls(module: Module) -> dict[str, cst.Call]:
    """The names of what a file calls with gradients off for certain, each with such a call."""
    calls: dict[str, cst.Call] = {}
    for call in module.nodes(cst.Call):
        if module.evaluations.grad_is_off(call) or _is_off_as_a_whole(call, module):
            calls.setdefault(dotted_text(call.func).rpartition(".")[2], call)
    return {name: calls[name] for name in sorted(calls.keys() - {"", "no_grad", "inference_mode"})}


def _is_off_as_a_whole(node: cst.CSTNode, module: Module) -> bool:
    function = module.function(node)
    decorators = () if function is None else function.decorators
    return any(module.evaluations.turns_grad_off(each.decorator) for each in decorators)


def _is_switched(node: cst.CSTNode, module: Module, depth: int) -> bool:
    for above in module.ancestors(node):
        if _may_switch(above, module):
            shown = above.decorators[0] if isinstance(above, cst.FunctionDef) else above
            return because(True, "gradients may be off under {}", shown)
    function = module.function(node)
    if function in _switching(module) or None in _switching(module):
        return because(True, "`torch.set_grad_enabled` may have switched gradients off")
    if function is not None and depth < _CALLERS_DEPTH:
        for call in calls_of(function, module):
            if _is_switched(call, module, depth + 1):
                said = "gradients may be off where the function is called, by {}"
                return because(True, said, call)
    return False


def _may_switch(above: cst.CSTNode, module: Module) -> bool:
    """Whether a `with`, or a decorator of a function, is not known to leave gradients on."""
    if isinstance(above, cst.With):
        return not all(_is_known(each.item, _OTHER_CONTEXTS, module) for each in above.items)
    if isinstance(above, cst.FunctionDef):
        return not all(
            _is_known(each.decorator, _OTHER_DECORATORS, module) for each in above.decorators
        )
    return False


def _is_known(node: cst.BaseExpression, known: re.Pattern[str], module: Module) -> bool:
    func = node.func if isinstance(node, cst.Call) else node
    names = module.resolve(func) or (module.source(func),)
    return all(known.search(name) for name in names)


@once
def _switching(module: Module) -> frozenset[cst.FunctionDef | None]:
    """The functions with a statement `torch.set_grad_enabled(…)`; None for the top level."""
    calls = module.calls_by_name.get("torch.set_grad_enabled", ())
    return frozenset(
        module.function(call) for call in calls if isinstance(module.parent(call), cst.Expr)
    )

"""Whether a wrapped model is only evaluated, as far as its file shows what is done with it."""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.training.loops import sounds_like_evaluation
from torchlint.analysis.uses import method_name, reads_after, receiving_parameter
from torchlint.project.calls import CALL_DEPTH
from torchlint.rule import Module

_MOVES = frozenset({"to", "cuda", "cpu", "half", "float", "eval", "requires_grad_"})
_NEITHER = _MOVES | {"state_dict", "load_state_dict", "share_memory"}
_ASK = ("builtins.isinstance", "builtins.hasattr", "builtins.print", "builtins.len")


def only_evaluated(call: cst.Call, module: Module) -> bool:
    """Whether a file uses the model that a call wraps, and each use evaluates: it is called under
    `torch.no_grad()` or in a function that evaluates, or given to such a function."""
    made = _moved(call, module)
    return _all_evaluate(reads_after(module.parent(made), module) or [made], module)


def _moved(call: cst.Call, module: Module) -> cst.Call:
    """`wrap(model).eval().to(device)` for the `wrap(model)` in it."""
    while True:
        attribute = module.parent(call)
        outer = module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
        if not isinstance(outer, cst.Call) or method_name(outer) not in _MOVES:
            return call
        call = outer


def _all_evaluate(uses: Iterable[cst.BaseExpression], module: Module, depth: int = 0) -> bool:
    """Whether some of these uses of a model evaluate, and none may do anything else with it."""
    judged = [_evaluates(use, module, depth) for use in uses]
    return True in judged and False not in judged


def _evaluates(use: cst.BaseExpression, module: Module, depth: int) -> bool | None:
    """Whether a use of a model evaluates it; None if it neither runs it nor gives it away."""
    parent = module.parent(use)
    if isinstance(parent, cst.Attribute):
        if parent.attr.value == "module":
            return _evaluates(parent, module, depth)
        return None if parent.attr.value in _NEITHER else _is_evaluation(parent, module)
    if isinstance(parent, cst.Call):
        return _is_evaluation(parent, module) or module.in_evaluation(parent)
    call = module.call_with(use)
    if call is None:
        return False
    if module.calls(call, *_ASK):
        return None
    return _is_evaluation(call, module) or _given_to_evaluation(use, call, module, depth)


def _is_evaluation(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs under `torch.no_grad()`, or in a function that evaluates."""
    function = module.function(node)
    return module.loops.grad_is_off(node) or (
        function is not None and module.loops.only_evaluates(function)
    )


def _given_to_evaluation(
    use: cst.BaseExpression, call: cst.Call, module: Module, depth: int
) -> bool:
    """Whether a model is an argument of a function that evaluates it."""
    function = module.definitions.callee(call)
    if function is None:
        return sounds_like_evaluation(_last_name(call.func))
    if module.loops.only_evaluates(function):
        return True
    received = receiving_parameter(call, use, function)
    return (
        received is not None
        and depth < CALL_DEPTH
        and module.once(_parameter_evaluated, received, depth + 1)
    )


def _parameter_evaluated(module: Module, received: cst.Param, depth: int) -> bool:
    return _all_evaluate(module.reads(received, received.name.value), module, depth)


def _last_name(func: cst.BaseExpression) -> str:
    name = func.attr if isinstance(func, cst.Attribute) else func
    return name.value if isinstance(name, cst.Name) else ""

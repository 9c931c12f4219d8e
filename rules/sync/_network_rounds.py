"""Networks that are called once for each part of a tensor, in a loop of Python."""

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import Binding, How
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

_Loop = cst.For | cst.ListComp | cst.GeneratorExp
_TRAINS = frozenset({"backward", "step"})


def network_rounds(call: cst.Call, module: Module) -> _Loop | None:
    """The loop around a call of a network that gives it one part of a tensor after the other, where
    no round needs what another has computed."""
    if not call.args or not _is_network(call.func, module):
        return None
    for above in module.ancestors(call):
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            return None
        if isinstance(above, _Loop):
            parts = [arg.value for arg in call.args]
            taken = any(_is_part(each, above, module) for each in parts)
            free = not any(_set_by(name, above, module) for name in _names(call.func, module))
            alone = not any(_is_carried(name, above, module) for name in _names(call, module))
            return above if taken and free and alone and not _trains(above, module) else None
    return None


def _is_network(func: cst.BaseExpression, module: Module) -> bool:
    """`self.encoder`, `self.encoders[0]`, `model`."""
    while isinstance(func, cst.Subscript):
        func = func.value
    value = module.value(func)
    held = value.element if value.has(Kind.CONTAINER) else value
    return held is not None and held.has(Kind.MODULE)


def _is_part(node: cst.BaseExpression, loop: _Loop, module: Module) -> bool:
    """`x[:, i]` where `i` counts the rounds, also by a name; `x` of `torch.stack([f(x) …])`."""
    made = origin_of(node, module)
    if isinstance(made, cst.Subscript):
        tensor = len(made.slice) > 1 or module.value(made.value).only(TENSORS)
        picks = (each.slice.value for each in made.slice if isinstance(each.slice, cst.Index))
        return tensor and any(_counts(each, loop, module) for each in picks)
    if isinstance(loop, cst.For) or not isinstance(node, cst.Name):
        return False
    stacked = module.call_with(loop)
    if stacked is None or not module.calls(stacked, "torch.stack"):
        return False
    return bool(_set_by(node, loop, module)) and not _is_call_of(loop.for_in.iter, "range", module)


def _counts(node: cst.BaseExpression, loop: _Loop, module: Module) -> bool:
    """Whether it is the number of the round: `for i in range(n)`, `for i, name in enumerate(x)`."""
    head = loop if isinstance(loop, cst.For) else loop.for_in
    given = _set_by(node, loop, module) if isinstance(node, cst.Name) else []
    return bool(given) and (
        _is_call_of(head.iter, "range", module)
        or (_is_call_of(head.iter, "enumerate", module) and given[0].path[:1] == (0,))
    )


def _is_call_of(node: cst.BaseExpression, builtin: str, module: Module) -> bool:
    return isinstance(node, cst.Call) and module.calls(node, f"builtins.{builtin}")


def _set_by(name: cst.Name, loop: _Loop, module: Module) -> list[Binding]:
    """What the head of a loop gives a name."""
    head = loop if isinstance(loop, cst.For) else loop.for_in
    given = module.flow.reaching(name)
    return [each for each in given if each.how is How.ITERATION and each.value is head.iter]


def _is_carried(name: cst.Name, loop: _Loop, module: Module) -> bool:
    """Whether one round sets what the next one reads."""
    inside = [loop in module.ancestors(each.node) for each in module.flow.reaching(name)]
    return any(inside) and not all(inside)


def _names(node: cst.CSTNode, module: Module) -> Iterator[cst.Name]:
    return (each for each in module.within(node) if isinstance(each, cst.Name))


def _trains(loop: _Loop, module: Module) -> bool:
    """Whether each round is a training step."""
    return any(method_name(call) in _TRAINS for call in module.calls_within(loop))

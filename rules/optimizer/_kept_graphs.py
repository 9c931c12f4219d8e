"""Whether the graph of a step can be needed after its backward pass."""

from typing import NamedTuple

import libcst as cst

from torchlint.analysis.training.loops import Loop
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

_MAY_HAVE_GRAPH = TENSORS | Kind.LIKELY


class Need(NamedTuple):
    """What may need the graph of a step after its backward pass: a sentence, and its place."""

    sentence: str
    place: cst.CSTNode


def need_of_graph(module: Module, loop: Loop) -> Need | None:
    """What may go through the graph of a round of a loop again; None if its only backward pass
    goes through a graph of the same round."""
    if set(module.calls_within(loop)).isdisjoint(module.loops.backward_calls):
        return Need("nothing in {} is known to be a backward pass", loop)
    for sentence, find in (
        ("the loop does another backward pass, by {}", _other_backward_pass),
        ("{:code} holds a tensor of an earlier round, or from before the loop", _earlier_tensor),
        ("the loop keeps a tensor, by {}", _kept_tensor),
    ):
        place = find(loop, module)
        if place is not None:
            return Need(sentence, place)
    return None


def _other_backward_pass(loop: Loop, module: Module) -> cst.Call | None:
    """A second backward pass of a loop, or a function of this file that does one."""
    inside = module.calls_within(loop)
    backward, steps = set(module.loops.backward_calls), module.loops.stepping_functions
    passes = [call for call in inside if call in backward]
    calls = (call for call in inside if module.definitions.callee(call) in steps)
    return passes[1] if len(passes) > 1 else next(calls, None)


def _earlier_tensor(loop: Loop, module: Module) -> cst.Name | None:
    """A tensor that a loop reads and that was computed before it, or in an earlier round."""
    inside = set(module.within(loop))
    for name in module.within(loop.body):
        if (
            isinstance(name, cst.Name)
            and not isinstance(module.parent(name), cst.Call)
            and module.value(name).has(_MAY_HAVE_GRAPH)
        ):
            for binding in module.flow.reaching(name):
                if binding.node not in inside or module.order(binding.node) > module.order(name):
                    return name
    return None


def _kept_tensor(loop: Loop, module: Module) -> cst.Assign | None:
    """Where a loop puts a tensor into an attribute or an item."""
    for each in module.within(loop):
        if (
            isinstance(each, cst.Assign)
            and isinstance(each.targets[0].target, cst.Attribute | cst.Subscript)
            and module.value(each.value).has(_MAY_HAVE_GRAPH)
        ):
            return each
    return None

"""Whether the graph of a step can be needed after its backward pass."""

import libcst as cst

from torchlint.analysis.training.loops import Loop
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module

_MAY_HAVE_GRAPH = TENSORS | Kind.LIKELY


def goes_through_once(module: Module, loop: Loop) -> bool:
    """Whether the only backward pass of a loop goes through a graph of the same round."""
    return (
        _has_one_backward_pass(loop, module)
        and not _reads_earlier_tensors(loop, module)
        and not _keeps_tensors(loop, module)
    )


def _has_one_backward_pass(loop: Loop, module: Module) -> bool:
    """Whether a loop does one backward pass on each round, and none in a function of this file."""
    inside = set(module.calls_within(loop))
    steps = module.loops.stepping_functions
    return len(inside.intersection(module.loops.backward_calls)) == 1 and not any(
        module.definitions.callee(call) in steps for call in inside
    )


def _reads_earlier_tensors(loop: Loop, module: Module) -> bool:
    """Whether a tensor that a loop reads was computed before it, or in an earlier round."""
    inside = set(module.within(loop))
    return any(
        binding.node not in inside or module.order(binding.node) > module.order(name)
        for name in module.within(loop.body)
        if isinstance(name, cst.Name)
        and not isinstance(module.parent(name), cst.Call)
        and module.value(name).has(_MAY_HAVE_GRAPH)
        for binding in module.flow.reaching(name)
    )


def _keeps_tensors(loop: Loop, module: Module) -> bool:
    """Whether a loop puts a tensor into an attribute or an item."""
    return any(
        isinstance(each, cst.Assign)
        and isinstance(each.targets[0].target, cst.Attribute | cst.Subscript)
        and module.value(each.value).has(_MAY_HAVE_GRAPH)
        for each in module.within(loop)
    )

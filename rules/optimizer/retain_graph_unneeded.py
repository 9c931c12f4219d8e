"""Let the backward pass free the graph that nothing goes through again.

## What it does
Reports `loss.backward(retain_graph=True)` in a loop with no other backward pass, whose graph is
made again on each step. Also where a state carries the graph of each step into the next one and
nothing detaches it: `out, state = net(x, state)` in the loop, or
`self.state = self.cell(x, self.state)` in a model of the same file.

## Why it is slow
The backward pass frees the activations of each layer as soon as it has used them. With
`retain_graph=True` they all stay until the next loss takes the place of this one, which is after
the next forward pass has made its own. So the peak of memory rises, up to twice the activations,
and the largest batch that fits is smaller. With a state that is never detached, each step goes back
through all steps before it: it takes longer than the last one, and its memory is never freed.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
If torch then says that the graph was freed, something goes from one step to the next, such as the
state of a recurrent network. Detach it: `state = state.detach()`, for each tensor of a tuple.

## When it is silent
With another backward pass in the loop or in a function that it calls; where tensors go from one
step to the next, or into the loop; in programs with `autograd.grad`, `create_graph` or recurrent
layers; in tests. It is a hint, since a model of another file may keep a state. A state must be the
result of a network, and nothing else may set it, apart from what sets it before the first step.

## Fix safety
**A suggestion**: if the graph is needed after all, the next backward pass raises an error.
Otherwise no value changes.

## How verify confirms it
It does not measure suggestions. `torch.cuda.max_memory_allocated()` shows the difference.

## References
- `torch.Tensor.backward`
- PyTorch documentation, "Autograd mechanics: saved tensors"
"""

from typing import NamedTuple

import libcst as cst

from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import (
    Applicability,
    Argument,
    Match,
    Module,
    Related,
    Rule,
    Tier,
    because,
    method,
    once,
    remove,
)

_NEEDS_GRAPH = r"autograd\.grad\b|\bcreate_graph\b|(?i:hidden)|\b(?:LSTM|GRU|RNN)(?:Cell)?\b"
_DETACHED = frozenset({"data", "detach", "detach_"})
_MAY_HAVE_GRAPH = TENSORS | Kind.LIKELY


class _Need(NamedTuple):
    """What may need the graph of a step after its backward pass: a sentence, and its place."""

    sentence: str
    place: cst.CSTNode


def _is_used_once(match: Match) -> bool:
    module, around = match.module, match.module.step_loop(match.node)
    if around is None:
        return because(False, "no loop around this trains on each round")
    need = _need_of_graph(module, around.node)
    return need is None or because(False, need.sentence, need.place)


def _carries_a_state(match: Match) -> cst.Assign | bool:
    """What sets a state that goes from step to step with its graph, by the state before."""
    module, around = match.module, match.module.step_loop(match.node)
    if around is None:
        return because(False, "no loop around this trains on each round")
    carried = _carried_by_name(around.node, module) or _carried_by_attribute(module)
    return carried or because(False, "no network is known to get its own result of the step before")


def _growing(match: Match) -> str:
    return (
        f"Each backward pass goes through all steps before, whose graph line {_row(match)} carries "
        "on; detach the state before each step, and remove `retain_graph=True`."
    )


def _row(match: Match) -> int:
    return match.module.span(match.found(cst.Assign))[0].row


def _where_it_is_set(match: Match) -> tuple[Related, ...]:
    return tuple(
        Related(match.module.path, match.module.span(each)[0], "this keeps the graph of each step")
        for each in match.evidence
        if isinstance(each, cst.Assign)
    )


rule = Rule(
    code="TL406",
    summary="the graph of a step is kept although nothing goes through it again",
    tier=Tier.HINT,
    fix=Applicability.SUGGEST,
    finds=(
        method(
            "backward",
            Argument("retain_graph", 1, bad=True),
            where=(_is_used_once,),
            program_lacks={"second derivatives, or states that go from step to step": _NEEDS_GRAPH},
        ),
        method(
            "backward",
            Argument("retain_graph", 1, bad=True),
            where=(_carries_a_state,),
            message=_growing,
            change="the state must be detached, and where is for you to say",
            tier=Tier.DEFAULT,
        ),
    ),
    message="The activations of this step stay in memory until the next loss is there; remove "
    "`retain_graph=True` if nothing goes through the graph again.",
    change=remove,
    related=_where_it_is_set,
)


# who needs the graph ------------------------------------------------------------------------------


@once
def _need_of_graph(module: Module, loop: Loop) -> _Need | None:
    """What may go through the graph of a round of a loop again; None if its only backward pass
    goes through a graph of the same round."""
    if set(module.calls_within(loop)).isdisjoint(module.loops.backward_calls):
        return _Need("nothing in {} is known to be a backward pass", loop)
    for sentence, find in (
        ("the loop does another backward pass, by {}", _other_backward_pass),
        ("{:code} holds a tensor of an earlier round, or from before the loop", _earlier_tensor),
        ("the loop keeps a tensor, by {}", _kept_tensor),
    ):
        place = find(loop, module)
        if place is not None:
            return _Need(sentence, place)
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


# states that carry the graph ----------------------------------------------------------------------


def _carried_by_name(loop: Loop, module: Module) -> cst.Assign | None:
    """`out, state = net(x, state)`, if nothing else in the loop sets the state."""
    inside = set(module.within(loop))
    for assign in module.nodes(cst.Assign):
        if not _is_of_a_network(assign.value, module):
            continue
        for read in module.within(assign.value):
            if isinstance(read, cst.Name):
                given = [each for each in module.flow.reaching(read) if each.node in inside]
                if given and all(each.value is assign.value for each in given):
                    return assign
    return None


def _carried_by_attribute(module: Module) -> cst.Assign | None:
    """`self.state = self.cell(x, self.state)`, if nothing else sets or detaches it after
    `__init__`."""
    sets: dict[str, list[cst.Assign]] = {}
    for assign in module.nodes(cst.Assign):
        function = module.function(assign)
        if function is None or function.name.value != "__init__":
            for name in _attributes(assign.targets[0].target):
                sets.setdefault(name, []).append(assign)
    for name, (assign, *others) in sets.items():
        reads = [each for each in module.nodes(cst.Attribute) if name in _attributes(each.value)]
        detached = any(each.attr.value in _DETACHED for each in reads)
        again = any(name in _attributes(each) for each in module.within(assign.value))
        if again and not (others or detached) and _is_of_a_network(assign.value, module):
            return assign
    return None


def _is_of_a_network(value: cst.BaseExpression, module: Module) -> bool:
    return isinstance(value, cst.Call) and module.value(value.func).has(Kind.MODULE)


def _attributes(node: cst.CSTNode) -> list[str]:
    """The name of an attribute, or those of the attributes in a tuple."""
    if isinstance(node, cst.Tuple | cst.List):
        return [name for each in node.elements for name in _attributes(each.value)]
    return [node.attr.value] if isinstance(node, cst.Attribute) else []

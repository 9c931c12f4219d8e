"""Losses that are added up or kept in lists, and whether their backward pass has happened."""

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.training.loops import Loop
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import Module, because

_KEEPS_GRAPH = frozenset({"retain_graph", "create_graph"})
_EMPTIES = frozenset({"clear", "pop", "popleft"})


class Kept(NamedTuple):
    """A sum or a list, and what it gets."""

    target: cst.BaseExpression
    added: cst.BaseExpression


def added_to(node: cst.CSTNode) -> Kept | None:
    """What `total += x`, `total = total + x` and `kept.append(x)` add to what."""
    if isinstance(node, cst.AugAssign):
        return Kept(node.target, node.value) if isinstance(node.operator, cst.AddAssign) else None
    if isinstance(node, cst.Assign) and isinstance(node.value, cst.BinaryOperation):
        target, value = node.targets[0].target, node.value
        adds = isinstance(value.operator, cst.Add) and value.left.deep_equals(target)
        return Kept(target, value.right) if adds else None
    if isinstance(node, cst.Call) and method_name(node) == "append" and len(node.args) == 1:
        assert isinstance(node.func, cst.Attribute)
        return Kept(node.func.value, node.args[0].value)
    return None


def with_graph(added: cst.BaseExpression, loop: Loop, module: Module) -> list[cst.Name]:
    """The losses in a sum for which this loop does the backward pass. That is possible only once,
    so nobody needs their graphs any more."""
    done = module.once(_differentiated).get(loop, set())
    return [
        name
        for name in _terms(added, module)
        if all(id(binding.node) in done for binding in module.flow.reaching(name))
    ]


def outlives(kept: cst.BaseExpression, loop: Loop, module: Module) -> bool:
    """Whether a sum or a list is there before the loop, and lasts until after it."""
    root = kept
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if not isinstance(root, cst.Name):
        return because(False, "nothing shows that {:code} lasts until after {}", kept, loop)
    renewed = module.once(_renewed, loop)
    new = renewed.get(root.value) or renewed.get(module.source(kept))
    said = "{:code} starts anew, or drops what is old, in {:line}"
    return new is None or because(False, said, kept, new)


def _terms(added: cst.BaseExpression | None, module: Module) -> Iterator[cst.Name]:
    """The tensors of a sum, also those that are multiplied by a number."""
    if isinstance(added, cst.Name) and module.value(added).has(TENSORS | Kind.LIKELY):
        yield added
    if not isinstance(added, cst.BinaryOperation):
        return
    sides = [added.left, added.right]
    if isinstance(added.operator, cst.Multiply | cst.Divide):
        sides = [each for each in sides if not module.value(each).only(Kind.HOST)]
        sides = sides if len(sides) == 1 else []
    for side in sides:
        yield from _terms(side, module)


def _differentiated(module: Module) -> dict[Loop, set[int]]:
    """By step loop: its assignments whose tensors take part in its backward passes."""
    found: dict[Loop, set[int]] = {}
    for call in module.loops.backward_calls:
        step = module.step_loop(call)
        keeps = any(arg.keyword and arg.keyword.value in _KEEPS_GRAPH for arg in call.args)
        if step is not None and not keeps:
            known = found.setdefault(step.node, set())
            _add_terms(_loss_of(call, module), known, step.node, module)
    return found


def _add_terms(
    loss: cst.BaseExpression | None, known: set[int], loop: Loop, module: Module
) -> None:
    """Add the assignments of a loop that a loss is the sum of."""
    left = [loss]
    while left:
        for name in _terms(left.pop(), module):
            for binding in module.flow.reaching(name):
                inside = loop in module.ancestors(binding.node)
                if inside and id(binding.node) not in known:
                    known.add(id(binding.node))
                    if isinstance(binding.node, cst.Assign):
                        left.append(binding.node.value)


def _loss_of(backward: cst.Call, module: Module) -> cst.BaseExpression | None:
    """`loss` of `loss.backward()`, `engine.backward(loss)`, `scaler.scale(loss).backward()`."""
    node: cst.BaseExpression | None = backward
    while isinstance(node, cst.Call):
        owner = node.func.value if isinstance(node.func, cst.Attribute) else None
        if module.value(owner).has(TENSORS):
            node = owner
        elif node.args:
            node = node.args[0].value
        else:
            node = owner
    return node


def _renewed(module: Module, loop: Loop) -> dict[str, cst.CSTNode]:
    """What starts anew in a loop, by its text: what is set there, or emptied; a `deque` drops what
    is old by itself."""
    targets: list[cst.BaseExpression] = []
    for node in module.within(loop):
        if isinstance(node, cst.Assign) and added_to(node) is None:
            targets += [each.target for each in node.targets]
        elif isinstance(node, cst.For):
            targets.append(node.target)
        elif isinstance(node, cst.Call) and method_name(node) in _EMPTIES:
            assert isinstance(node.func, cst.Attribute)
            targets.append(node.func.value)
    for call in module.calls_by_name.get("collections.deque", ()):
        made = module.parent(call)
        targets += [each.target for each in made.targets] if isinstance(made, cst.Assign) else []
    return {
        module.source(part): part
        for target in targets
        for part in module.within(target)
        if part is target or isinstance(module.parent(part), cst.Element)
    }

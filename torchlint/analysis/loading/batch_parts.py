"""Which expressions are tensors of a batch, as a loader gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.analysis.names import How
from torchlint.analysis.once import once
from torchlint.analysis.uses import method_name, passed_for, receiver
from torchlint.analysis.values.iteration import is_over_loader, unwrapped
from torchlint.analysis.values.kinds import ARRAYS, Kind

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding

_DEEPEST = 6
_ELSEWHERE = Kind.DEVICE | Kind.LIKELY | Kind.HOST | ARRAYS


def is_part_of_batch(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a tensor of a batch that nothing has moved or computed: `images` of
    `for images, labels in loader`, `batch["images"]`, `data["L"]` of what a function is given."""
    if module.value(node).has(_ELSEWHERE) and not _is_of_comprehension(node, module):
        return False
    if isinstance(node, cst.Subscript) and module.flow.is_parameter(node.value):
        key = node.slice[0].slice
        return isinstance(key, cst.Index) and isinstance(literal(key.value), str)
    return _is_batch(module, node, 0, True)


def _is_of_comprehension(node: cst.BaseExpression, module: Module) -> bool:
    """Whether a name is the variable of a comprehension: in a loop,
    `batch = [each.to(device) for each in batch]` seems to go over its own result."""
    return any(isinstance(each.node, cst.CompFor) for each in module.flow.reaching(node))


def is_whole_batch(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is what a loader gave, as a whole: a tensor, a dict, or any object."""
    if not isinstance(node, cst.Name | cst.Call) or module.value(node).has(_ELSEWHERE):
        return False
    return _is_batch(module, node, 0, False)


@once
def _is_batch(module: Module, node: cst.BaseExpression, depth: int, part: bool) -> bool:
    """Whether an expression is a batch of a loader, or a part of one.

    Args:
        part: the whole batch, whose type nobody knows, does not count.
    """
    if depth > _DEEPEST:
        return False
    if isinstance(node, cst.Subscript | cst.Attribute):
        return _is_batch(module, node.value, depth + 1, False)
    if isinstance(node, cst.Call):
        if method_name(node) in ("items", "values"):
            return _is_batch(module, node.func, depth + 1, False)
        return not part and _draws(node, module)
    bindings = module.flow.reaching(node)
    if len(bindings) > 1:  # in a loop, `batch = [each.to(device) for each in batch]` reaches itself
        above = set(module.ancestors(node))
        bindings = [
            each for each in bindings if each.how is How.ITERATION or each.node not in above
        ]
    return bool(bindings) and all(_gives_batch(each, module, depth, part) for each in bindings)


def _draws(call: cst.Call, module: Module) -> bool:
    """Whether a call draws the next batch: `next(batches)`, `loader.next()`."""
    if module.calls(call, "builtins.next") and call.args:
        batches = call.args[0].value
        return module.value(call).only(Kind.CPU) or is_over_loader(batches, module.values)
    named = method_name(call) in ("next", "__next__") and not call.args
    return named and is_over_loader(receiver(call), module.values)


def _gives_batch(binding: Binding, module: Module, depth: int, part: bool) -> bool:
    """Whether a name gets a batch or a part of it, by a loop over a loader or by an assignment."""
    if binding.how is How.PARAMETER:
        return not part and _is_passed_batch(module, binding, depth)
    source = unwrapped(binding.value, module.values)
    if source is None:
        return False
    if binding.how is How.ITERATION and _goes_over_loader(module, source, depth):
        return not part or len(binding.path) > _counts(source, module)
    if binding.how not in (How.ITERATION, How.ASSIGNMENT, How.UNPACKING):
        return False
    if binding.how is How.UNPACKING and isinstance(source, cst.Tuple | cst.List):
        index = binding.path[0] if binding.path else -1
        if len(binding.path) != 1 or not 0 <= index < len(source.elements):
            return False
        return _is_batch(module, source.elements[index].value, depth + 1, part)
    part = part and binding.how is How.ASSIGNMENT
    return _is_batch(module, source, depth + 1, part)


@once
def _is_passed_batch(module: Module, binding: Binding, depth: int) -> bool:
    """Whether all calls of a function in this file pass a whole batch for a parameter:
    `forward_pass(batch, model)`."""
    function = module.function(binding.node)
    if function is None or depth > _DEEPEST // 2:
        return False
    passed = passed_for(binding.name, function, module)
    return bool(passed) and all(
        isinstance(each, cst.Name)
        and not module.value(each).has(_ELSEWHERE)
        and _is_batch(module, each, depth + 1, False)
        for each in passed
    )


def _counts(source: cst.BaseExpression, module: Module) -> bool:
    """Whether a loop may get something in addition to the batch: `enumerate(loader)`,
    `zip(a, b)`."""
    if isinstance(source, cst.Call):
        return module.calls(source, "builtins.enumerate", "builtins.zip")
    return not is_over_loader(source, module.values)


@once
def _goes_over_loader(module: Module, source: cst.BaseExpression, depth: int) -> bool:
    """Whether a loop goes over a loader, perhaps by another name: `bar = enumerate(loader)`."""
    if depth > _DEEPEST or is_over_loader(source, module.values):
        return depth <= _DEEPEST
    if isinstance(source, cst.Call):
        return any(_goes_over_loader(module, arg.value, depth + 1) for arg in source.args)
    bindings = module.flow.reaching(source)
    calls = [each.value for each in bindings if isinstance(each.value, cst.Call)]
    made = [each for each in calls if not module.calls(each, "builtins.next")]
    return any(_goes_over_loader(module, each, depth + 1) for each in made)

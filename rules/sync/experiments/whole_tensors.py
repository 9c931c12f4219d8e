"""Compute with a whole tensor instead of one row or element after the other.

A loop of Python over a tensor makes a small tensor for each element, and calls torch once or more
for it: a microsecond or several, where one call for all elements takes as long as for one. Of
`torch.stack([f(row) for row in x])`, where `f` computes with each element by itself, the whole is
`f(x)`; of a loop that adds up `x[i].item()`, it is `x.sum().item()`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import STEPPING, Bench, Edit, Experiment, Module, Proposal, edits

_ELEMENTWISE = frozenset(
    "abs bool ceil clamp clip cos double exp expm1 float floor half int log log1p long neg relu "
    "round sigmoid sign sin sqrt square tanh".split()
)
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)

experiment = Experiment(
    "whole tensors are computed with, and not their rows",
    speeds=STEPPING,
    may_change="sums are rounded in another order",
)


def _is_elementwise(node: cst.BaseExpression, row: str, module: Module) -> bool:
    """Whether an expression does with a tensor what it does with each of its rows."""
    match node:
        case cst.Name():
            return node.value == row
        case cst.UnaryOperation(operator=cst.Minus()):
            return _is_elementwise(node.expression, row, module)
        case cst.BinaryOperation() if isinstance(node.operator, _OPERATORS):
            sides = (node.left, node.right)
            rows = [_is_elementwise(each, row, module) for each in sides]
            plain = [isinstance(module.literal(each), int | float) for each in sides]
            return any(rows) and all(map(any, zip(rows, plain, strict=True)))
        case cst.Call() if method_name(node) in _ELEMENTWISE:
            owner = receiver(node)
            numbers = all(isinstance(module.literal(arg.value), int | float) for arg in node.args)
            return owner is not None and numbers and _is_elementwise(owner, row, module)
    return False


def _is_tensor(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a tensor, and not a list of some."""
    value = module.value(node)
    return value.has(TENSORS) and not value.has(Kind.CONTAINER)


def _stacked(call: cst.Call, module: Module) -> Edit | None:
    """`torch.stack([row * 0.5 for row in x])` as `x * 0.5`."""
    rows = call.args[0].value if len(call.args) == 1 else None
    if not module.calls(call, "torch.stack") or not isinstance(
        rows, cst.ListComp | cst.GeneratorExp
    ):
        return None
    source = rows.for_in
    if not isinstance(source.target, cst.Name) or source.ifs or source.inner_for_in is not None:
        return None
    row = source.target.value
    if not _is_elementwise(rows.elt, row, module) or not _is_tensor(source.iter, module):
        return None
    start, end = module.offsets(rows.elt)
    whole, done = edits.operand(module, source.iter), []
    for each in (rows.elt, *module.within(rows.elt)):
        if isinstance(each, cst.Name) and each.value == row:
            at, until = module.offsets(each)
            done.append(module.text[start:at] + whole)
            start = until
    return edits.replace(module, call, "".join([*done, module.text[start:end]]))


def _added_up(loop: cst.For, module: Module) -> Edit | None:
    """`for i in range(len(x)): total += x[i].item()` as `total += x.sum().item()`."""
    body = loop.body.body if isinstance(loop.body, cst.IndentedBlock) else ()
    line = body[0] if len(body) == 1 else None
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if (
        loop.orelse is not None
        or not isinstance(loop.target, cst.Name)
        or not isinstance(small, cst.AugAssign)
        or not isinstance(small.operator, cst.AddAssign)
        or not isinstance(small.value, cst.Call)
        or method_name(small.value) != "item"
    ):
        return None
    element, source = receiver(small.value), loop.iter
    tensor: cst.BaseExpression | None = None
    if isinstance(element, cst.Name) and element.value == loop.target.value:
        tensor = source
    elif isinstance(element, cst.Subscript) and len(element.slice) == 1:
        index, counted = module.source(element.slice[0]), module.source(element.value)
        if index == loop.target.value and module.source(source) == f"range(len({counted}))":
            tensor = element.value
    if not isinstance(tensor, cst.Name | cst.Attribute) or not _is_tensor(tensor, module):
        return None
    start = module.offsets(loop)[0]
    code = f"{module.source(small.target)} += {module.source(tensor)}.sum().item()"
    return Edit(module.position(start), module.position(module.offsets(small)[1]), code)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    if not module.loops.anchors:
        return
    stacks = (_stacked(call, module) for call in module.nodes(cst.Call))
    sums = (_added_up(loop, module) for loop in module.nodes(cst.For))
    changes = [edit for edit in (*stacks, *sums) if edit is not None]
    yield Proposal("", "Compute with the whole tensor instead of its rows", changes)

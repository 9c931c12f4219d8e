"""The fix of item-in-step-loop: a sum that the loop only adds to can stay on the device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import UNKNOWN
from torchlint.analysis.training.guards import Guard
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Fix, edits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.literals import Literal
    from torchlint.analysis.names import Scope
    from torchlint.analysis.training.loops import Loop
    from torchlint.analysis.training.syncs import Sync
    from torchlint.rule import Module

Answer = tuple[Fix | None, str | None]
_NOT_A_SUM = (
    "the number is not only added to a sum: read it every few steps, or keep "
    "`.detach()`ed tensors and stack them after the loop"
)
_COUNTS = frozenset({"eq", "ne", "gt", "ge", "lt", "le", "equal", "isclose", "bool"})
_AS_TEXT = re.compile(r"%(?:\(\w*\))?[-#0 +]{0,9}[\d*]{0,9}(?:\.[\d*]{1,9})?[sra]")
_AS_IT_IS = re.compile(r"\{[^{}:]*\}")
"""Placeholders of `%` and `format` that would print a tensor as `tensor(0.5)`."""


def sum_on_device(sync: Sync, module: Module) -> Answer:
    """The fix for `total += loss.item()`, or why there is none."""
    update = _update_of(sync, module)
    if update is None or not isinstance(update.target, cst.Name):
        return None, _NOT_A_SUM
    name = update.target.value
    loop, start = module.once(_summing_loop, name, tuple(module.loops.loops_around(update)))
    if loop is None:
        return None, f"`{name}` does not start as a literal 0 right before the loop"
    scope = module.names.scope(update.target)
    reason = module.once(_other_use, name, loop, scope)
    if reason is not None:
        return None, reason
    exact = module.once(_exact, name, loop, scope)
    operand = _text_of(sync.operand, module, before_a_dot=not exact)
    if not exact:
        operand = f"{operand}.detach().float()"
    kind = "int" if exact and isinstance(start, int) else "float"
    after = edits.insert_after(module, loop, f"{name} = {kind}({name})")
    if after is None:
        return None, "no suitable place after the loop was found to turn the sum into a number"
    return (
        Fix(
            Applicability.SAFE if exact else Applicability.UNSAFE,
            f"Sum `{name}` on the device and read it once after the loop",
            (edits.replace(module, sync.call, operand), after),
        ),
        None,
    )


def _update_of(sync: Sync, module: Module) -> cst.AugAssign | None:
    """`total += x.item()` or `total += x.item() * n`, with n on the host."""
    if sync.how != ".item()":
        return None
    parent = module.parent(sync.call)
    if isinstance(parent, cst.BinaryOperation) and isinstance(
        parent.operator, (cst.Multiply, cst.Divide)
    ):
        other = parent.right if parent.left is sync.call else parent.left
        divided_by = isinstance(parent.operator, cst.Divide) and parent.right is sync.call
        if divided_by or not module.value(other).only(Kind.HOST):
            return None
        parent = module.parent(parent)
    if isinstance(parent, cst.AugAssign) and isinstance(parent.operator, cst.AddAssign):
        return parent
    return None


def _summing_loop(
    module: Module, name: str, around: tuple[Loop, ...]
) -> tuple[Loop | None, Literal]:
    """The nearest of these loops that a literal 0 precedes in its block, and that 0."""
    for loop in around:
        block = module.parent(loop)
        start: Literal = UNKNOWN
        for statement in getattr(block, "body", ()):
            if statement is loop:
                break
            for value in _assigned(statement, name):
                start = module.literal(value)
        if type(start) in (int, float) and start == 0:
            return loop, start
    return None, UNKNOWN


def _assigned(statement: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression]:
    """The values that the assignments of a line give a name."""
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    for part in parts:
        if not isinstance(part, cst.Assign):
            continue
        for target in part.targets:
            pairs: list[tuple[cst.BaseExpression, cst.BaseExpression]]
            pairs = [(target.target, part.value)]
            if isinstance(target.target, cst.Tuple) and isinstance(part.value, cst.Tuple):
                both = zip(target.target.elements, part.value.elements, strict=False)
                pairs = [(to.value, of.value) for to, of in both]
            yield from (of for to, of in pairs if isinstance(to, cst.Name) and to.value == name)


def _exact(module: Module, name: str, loop: Loop, scope: Scope) -> bool:
    """Whether every update of the sum in the loop adds a number that torch counts exactly."""
    nodes = (each.node for each in module.names.lookup_from(scope, name))
    return all(
        _counts(node)
        for node in nodes
        if isinstance(node, cst.AugAssign) and loop in module.ancestors(node)
    )


def _counts(update: cst.AugAssign) -> bool:
    """`right += (a == b).sum().item()`: adds a whole number that torch counts exactly."""
    call = update.value
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Attribute)
        and call.func.attr.value == "item"
        and _is_count(call.func.value)
    )


def _other_use(module: Module, name: str, loop: Loop, scope: Scope) -> str | None:
    """Why the sum must be a number inside the loop, or None if it may be a tensor."""
    bindings = module.names.lookup_from(scope, name)
    for binding in bindings:
        inside = loop in module.ancestors(binding.node)
        if inside and not isinstance(binding.node, cst.AugAssign):
            return f"`{name}` is also set inside the loop"
    for use in module.spelled(name, near=loop):
        if loop in module.ancestors(use) and not _only_named(use, module):
            reason = _why_a_number(use, loop, scope, module)
            if reason is not None:
                return f"`{name}` {reason}"
    return None


def _only_named(use: cst.Name, module: Module) -> bool:
    """`other.total`, `f(total=1)`: the same word for something else."""
    parent = module.parent(use)
    if isinstance(parent, cst.Arg):
        return parent.keyword is use
    return isinstance(parent, cst.Attribute) and parent.attr is use


def _why_a_number(use: cst.Name, loop: Loop, scope: Scope, module: Module) -> str | None:
    parent = module.parent(use)
    if isinstance(parent, cst.AugAssign) and parent.target is use:
        adds = isinstance(parent.operator, cst.AddAssign)
        return None if adds else "is changed inside the loop by more than additions"
    if module.names.scope(use) is not scope:
        return "is used by a function inside the loop"
    if module.loops.guard(use, loop) is not Guard.PERIODIC:
        return "is read on every step, so the wait would only move there"
    if not _formatted(use, module):
        return "is read inside the loop where it must be a number"
    return None


def _formatted(use: cst.Name, module: Module) -> bool:
    """Whether the use prints through a format that takes a 0-d tensor too: `{x:.3f}`, `%.3f`."""
    for above in module.ancestors(use):
        if isinstance(above, cst.FormattedStringExpression):
            return bool(above.format_spec) and not above.conversion
        if isinstance(above, cst.BinaryOperation) and isinstance(above.operator, cst.Modulo):
            text = module.literal(above.left)
            return isinstance(text, str) and not _AS_TEXT.search(text)
        if isinstance(above, cst.Call):
            func = above.func
            if isinstance(func, cst.Attribute) and func.attr.value == "format":
                text = module.literal(func.value)
                return isinstance(text, str) and not _AS_IT_IS.search(text)
            return False
        if isinstance(above, cst.BaseStatement):
            return False
    return False


def _is_count(operand: cst.BaseExpression) -> bool:
    """`(a == b).sum()` and `a.eq(b).sum()`: whole numbers, so the sum is exact."""
    if not isinstance(operand, cst.Call) or operand.args:
        return False
    func = operand.func
    if not isinstance(func, cst.Attribute) or func.attr.value not in ("sum", "count_nonzero"):
        return False
    counted = func.value
    while isinstance(counted, cst.Call) and isinstance(counted.func, cst.Attribute):
        if counted.func.attr.value in _COUNTS:
            return True
        if counted.func.attr.value not in ("cpu", "view", "reshape", "detach", "flatten"):
            return False
        counted = counted.func.value
    return isinstance(counted, cst.Comparison)


def _text_of(node: cst.BaseExpression, module: Module, *, before_a_dot: bool) -> str:
    """The text of an operand, in parentheses where needed."""
    text = module.source(node)
    simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    several_lines = bool(getattr(node, "lpar", ())) and len(text.splitlines()) > 1
    return f"({text})" if several_lines or (before_a_dot and not simple) else text

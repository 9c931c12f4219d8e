"""The fix of item-in-step-loop: a sum that the loop only adds to can stay on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.lint.finding import Applicability, Fix
from torchlint.syntax import edits
from torchlint.syntax.kinds import Kind
from torchlint.syntax.loops import Guard

if TYPE_CHECKING:
    from torchlint.syntax.loops import Loop
    from torchlint.syntax.module import Module
    from torchlint.syntax.syncs import Sync

Answer = tuple[Fix | None, str | None]
_NOT_A_SUM = (
    "the number goes elsewhere than into a sum: read it every few steps, or keep "
    "`.detach()`ed tensors and stack them after the loop"
)
_COUNTS = frozenset({"eq", "ne", "gt", "ge", "lt", "le", "equal", "isclose", "bool"})


def sum_on_device(sync: Sync, module: Module) -> Answer:
    """The fix for `total += loss.item()`, or why there is none."""
    update = _update_of(sync, module)
    if update is None or not isinstance(update.target, cst.Name):
        return None, _NOT_A_SUM
    name = update.target.value
    loop = _summing_loop(update, name, module)
    if loop is None:
        return None, f"`{name}` does not start as a literal 0 right before the loop"
    reason = _other_use(update, name, loop, module)
    if reason is not None:
        return None, reason
    exact = _is_count(sync.operand, module) and update.value is sync.call
    operand = module.source(sync.operand)
    if not exact:
        operand = f"{_primary(sync.operand, operand)}.detach().float()"
    kind = "int" if exact else "float"
    after = edits.insert_after(module, loop, f"{name} = {kind}({name})")
    if after is None:
        return None, "there is no place after the loop to turn the sum into a number"
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


def _summing_loop(update: cst.AugAssign, name: str, module: Module) -> Loop | None:
    """The outermost loop around the update that a literal 0 precedes in its block."""
    for loop in module.loops.loops_around(update):
        block = module.parent(loop)
        zero = False
        for statement in getattr(block, "body", ()):
            if statement is loop:
                break
            zero = _sets_to_zero(statement, name, module) or zero
        if zero:
            return loop
    return None


def _sets_to_zero(statement: cst.CSTNode, name: str, module: Module) -> bool:
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    for part in parts:
        if not isinstance(part, cst.Assign):
            continue
        for target in part.targets:
            pairs = [(target.target, part.value)]
            if isinstance(target.target, cst.Tuple) and isinstance(part.value, cst.Tuple):
                pairs = [
                    (to.value, of.value)
                    for to, of in zip(target.target.elements, part.value.elements, strict=False)
                ]
            for to, of in pairs:
                if isinstance(to, cst.Name) and to.value == name:
                    return module.literal(of) in (0, 0.0)
    return False


def _other_use(update: cst.AugAssign, name: str, loop: Loop, module: Module) -> str | None:
    """Why the sum must be a number inside the loop, or None if it need not."""
    scope = module.names.scope(update.target)
    bindings = module.names.lookup_from(scope, name)
    for binding in bindings:
        inside = loop in module.ancestors(binding.node)
        if inside and not isinstance(binding.node, cst.AugAssign):
            return f"`{name}` is also set inside the loop"
    for use in module.nodes(cst.Name):
        if use.value != name or loop not in module.ancestors(use):
            continue
        parent = module.parent(use)
        if isinstance(parent, cst.AugAssign) and parent.target is use:
            if not isinstance(parent.operator, cst.AddAssign):
                return f"`{name}` is changed inside the loop by more than additions"
            continue
        if isinstance(parent, (cst.Attribute, cst.Arg)) and getattr(parent, "keyword", None) is use:
            continue
        if isinstance(parent, cst.Attribute) and parent.attr is use:
            continue
        if module.names.scope(use) is not scope:
            return f"a function inside the loop uses `{name}`"
        if module.loops.guard(use, loop) is not Guard.PERIODIC:
            return f"`{name}` is read on every step, so the wait would only move there"
        if not _formatted(use, module):
            return f"`{name}` is read inside the loop where it must be a number"
    return None


def _formatted(use: cst.Name, module: Module) -> bool:
    """Whether the use prints through a format that takes a 0-d tensor too: `{x:.3f}`, `%.3f`."""
    for above in module.ancestors(use):
        if isinstance(above, cst.FormattedStringExpression):
            return bool(above.format_spec)
        if isinstance(above, cst.BinaryOperation) and isinstance(above.operator, cst.Modulo):
            text = module.literal(above.left)
            return isinstance(text, str) and "%s" not in text and "%r" not in text
        if isinstance(above, cst.Call):
            func = above.func
            if isinstance(func, cst.Attribute) and func.attr.value == "format":
                text = module.literal(func.value)
                return isinstance(text, str) and "{}" not in text
            return False
        if isinstance(above, cst.BaseStatement):
            return False
    return False


def _is_count(operand: cst.BaseExpression, module: Module) -> bool:
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


def _primary(node: cst.BaseExpression, text: str) -> str:
    """The text, in parentheses where `.detach()` would otherwise bind to a part of it."""
    simple = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
    if isinstance(node, simple) or getattr(node, "lpar", ()):
        return text
    return f"({text})"

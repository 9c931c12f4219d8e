"""The fixes of item-in-step-loop: code that uses the number uses the tensor on the device instead.

A sum, a list and what is only printed now and then can take a tensor; a sum and a list become
numbers after the loop. A coefficient of a tensor need not be a number at all.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.literals import UNKNOWN, Literal
from torchlint.analysis.names import Scope, dotted_text
from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.training.purposes import (
    Purpose,
    is_on_device,
    is_shown_rarely,
    uses_of,
)
from torchlint.analysis.training.syncs import Sync
from torchlint.analysis.uses import (
    is_variable,
    method_name,
    methods_called_on,
    occurrences,
    receiver,
)
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Fix, Module, edits, once

_WITHHELD = {
    Purpose.SIZE: "where the size is known on the host, this does not show",
    Purpose.CONDITION: "only you know how late the decision may come",
    Purpose.COEFFICIENT: "it is used where only a number may be sure to fit",
    Purpose.RETURNED: "what the callers do with the number is not looked at",
    Purpose.STORED: "what reads it later may need a number",
    Purpose.LOGGED: "only you know how often it is needed",
    Purpose.TEXT: "only you know how often it is needed",
    Purpose.SHOWN_RARELY: "move the read to where the number is used",
    Purpose.UNKNOWN: "what the number is for is not known",
}
_ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)
_NOT_KEPT = "the number is not only added to a sum or a list"
_ELSEWHERE = "is not a variable of this function, so other code may need numbers in it"
_COUNTS = frozenset({"eq", "ne", "gt", "ge", "lt", "le", "equal", "isclose", "bool"})
_SAME_TRUTHS = frozenset({"cpu", "view", "reshape", "detach", "flatten"})
_VIEWS = frozenset({"data", "detach", "flatten", "reshape", "squeeze", "view"})
_CAPTURED = re.compile(r"reduce-overhead|max-autotune(?!-no)|CUDAGraph|make_graphed_callables")
_AS_TEXT = re.compile(r"%(?:\(\w*\))?[-#0 +]{0,9}[\d*]{0,9}(?:\.[\d*]{1,9})?[sra]")
_AS_IT_IS = re.compile(r"\{[^{}:]*\}")
"""Placeholders of `%` and `format` that would print a tensor as `tensor(0.5)`."""


class _Keeper(NamedTuple):
    """A sum or a list that can hold tensors until its loop has ended."""

    name: str
    loop: Loop
    number: str
    """What makes numbers of it after the loop."""
    exact: bool
    """Whether the numbers are then the same to the last bit."""
    is_list: bool = False


def fix_of(sync: Sync, purpose: Purpose, module: Module) -> Fix | str:
    """The change that leaves the number on the device, or why there is none."""
    uses = uses_of(sync, module)
    named = uses[0] is not sync.call
    if purpose is Purpose.COEFFICIENT:
        fits = all(_fits_as_tensor(use, module) for use in uses)
    else:
        fits = purpose in (Purpose.SUM, Purpose.LIST, Purpose.SHOWN_RARELY)
    if not fits or sync.how not in (".item()", "float()"):
        return _WITHHELD.get(purpose, _NOT_KEPT)
    if named or purpose is Purpose.LIST:
        if _CAPTURED.search(module.text):
            return "the next replay of a CUDA graph overwrites the tensors of this step"
        if _may_change(sync.operand, sync.call, module):
            return "the tensor may be changed in place before the number is used"
    if purpose is Purpose.COEFFICIENT:
        edit = edits.replace(module, sync.call, _detached(sync, module))
        return Fix(Applicability.UNSAFE, "Compute with the tensor itself", (edit,))
    keepers: list[_Keeper] = []
    for use in uses:
        keeper = _keeper_of(use, module)
        if isinstance(keeper, str):
            if named and is_shown_rarely(use, module) and _formatted(use, module):
                continue
            return _WITHHELD.get(purpose, keeper)
        keepers.append(keeper)
    return _kept(sync, keepers, module)


def _kept(sync: Sync, keepers: list[_Keeper], module: Module) -> Fix | str:
    """The fix for a number that goes into sums and lists, or is printed now and then."""
    exact = all(each.exact for each in keepers)
    sums = not all(each.is_list for each in keepers)
    after = []
    for name, loop, number in dict.fromkeys(each[:3] for each in keepers):
        edit = edits.insert_after(module, loop, f"{name} = {number}")
        if edit is None:
            return "no suitable place after the loop was found to turn it into a number"
        after.append(edit)
    if any(each.is_list for each in keepers):
        after += edits.add_import(module, "torch")
    message = "Read it where it is printed"
    if keepers:
        name = f"`{keepers[0].name}`"
        kept = f"Keep tensors in {name}" if keepers[0].is_list else f"Sum {name} on the device"
        message = f"{kept} and read it once after the loop"
    if sums and exact:
        text = edits.value(module, sync.operand)
    else:
        text = _detached(sync, module) + ".float()" * sums
    applies = Applicability.SAFE if exact else Applicability.UNSAFE
    return Fix(applies, message, (edits.replace(module, sync.call, text), *after))


def _detached(sync: Sync, module: Module) -> str:
    text = edits.operand(module, sync.operand)
    return text if text.endswith(".detach()") else f"{text}.detach()"


def _keeper_of(use: cst.BaseExpression, module: Module) -> _Keeper | str:
    """The sum or list that a number goes into, or why it cannot take a tensor."""
    call = module.call_with(use)
    if call is not None and method_name(call) == "append":
        return _list_of(call, module)
    update = _update_of(use, module)
    if update is None:
        return _NOT_KEPT
    if not isinstance(update.target, cst.Name):
        return f"the sum {_ELSEWHERE}"
    name = update.target.value
    loop, start = _starting_loop(module, name, tuple(module.loops.loops_around(update)))
    if loop is None or type(start) not in (int, float):
        return f"`{name}` does not start as a literal 0 right before the loop"
    scope = module.names.scope(update.target)
    reason = _other_use(module, name, loop, scope)
    if reason is not None:
        return reason
    exact = _exact(module, name, loop, scope)
    kind = "int" if exact and isinstance(start, int) else "float"
    return _Keeper(name, loop, f"{kind}({name})", exact)


def _list_of(call: cst.Call, module: Module) -> _Keeper | str:
    """The list that `losses.append(…)` fills, if nothing in the loop reads it."""
    owner = receiver(call)
    if not isinstance(owner, cst.Name):
        return f"the list {_ELSEWHERE}"
    name = owner.value
    around = tuple(module.loops.loops_around(call))
    loop, start = _starting_loop(module, name, around)
    if loop is None or start != ():
        return f"`{name}` does not start as `[]` right before the loop"
    uses = [use for use in occurrences(owner, module) if loop in module.ancestors(use)]
    if len(uses) > 1:
        return f"`{name}` is used again inside the loop"
    number = f"torch.stack({name}).flatten().tolist() if {name} else []"
    return _Keeper(name, loop, number, exact=loop is around[0], is_list=True)


def _update_of(use: cst.BaseExpression, module: Module) -> cst.AugAssign | None:
    """`total += x` or `total += x * n`, with n on the host."""
    parent = module.parent(use)
    if isinstance(parent, cst.BinaryOperation):
        first = parent.left is use
        scales = isinstance(parent.operator, (cst.Multiply, cst.Divide) if first else cst.Multiply)
        if not scales or not module.value(parent.right if first else parent.left).only(Kind.HOST):
            return None
        parent = module.parent(parent)
    if isinstance(parent, cst.AugAssign) and isinstance(parent.operator, cst.AddAssign):
        return parent
    return None


def _fits_as_tensor(use: cst.BaseExpression, module: Module) -> bool:
    """Whether a coefficient is multiplied with a tensor, or printed now and then."""
    child, parent = use, module.parent(use)
    while isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, _ARITHMETIC):
        other = parent.right if parent.left is child else parent.left
        if is_on_device(other, module):
            return True
        if not module.value(other).only(Kind.HOST):
            return False
        child, parent = parent, module.parent(parent)
    return is_shown_rarely(use, module) and _formatted(use, module)


def _may_change(operand: cst.BaseExpression, read: cst.Call, module: Module) -> bool:
    """Whether a tensor that is kept could be changed in place before its number is used, as a
    parameter is by the optimizer, or `loss` by `loss /= 4`."""
    while isinstance(operand, cst.Call) and method_name(operand) in _VIEWS:
        operand = receiver(operand)
    if not isinstance(operand, cst.Name):
        return isinstance(operand, (cst.Attribute, cst.Subscript))
    made = [binding.node for binding in module.flow.reaching(operand)]
    if not all(isinstance(each, cst.Assign) and _is_new(each.value) for each in made):
        return True
    around = set(module.loops.loops_around(read))
    if not all(around.issubset(module.ancestors(each)) for each in made):
        return True
    calls = methods_called_on(operand, module)
    changes: list[cst.CSTNode] = [each for each in calls if method_name(each).endswith("_")]
    changes += [
        each
        for each in occurrences(operand, module)
        if isinstance(up := module.parent(each), cst.AugAssign) and up.target is each
    ]
    return any(around & set(module.ancestors(each)) for each in changes)


def _is_new(value: cst.BaseExpression) -> bool:
    """Whether an expression makes a tensor of its own, and no view of another."""
    if isinstance(value, cst.Call):
        return method_name(value) not in _VIEWS
    return isinstance(value, (cst.BinaryOperation, cst.UnaryOperation))


@once
def _starting_loop(
    module: Module, name: str, around: tuple[Loop, ...]
) -> tuple[Loop | None, Literal]:
    """The nearest of these loops that a literal 0 or `[]` precedes in its block, and that."""
    for loop in around:
        block = module.parent(loop)
        start: Literal = UNKNOWN
        for statement in getattr(block, "body", ()):
            if statement is loop:
                break
            for value in _assigned(statement, name):
                start = module.literal(value)
        if start == () or (type(start) in (int, float) and start == 0):
            return loop, start
    return None, UNKNOWN


def _assigned(statement: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression]:
    """The values that the assignments of a line give a name."""
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    for part in parts:
        value = getattr(part, "value", None)
        for target in assign_targets(part):
            pairs = [(target, value)]
            if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
                both = zip(target.elements, value.elements, strict=False)
                pairs += [(to.value, of.value) for to, of in both]
            yield from (of for to, of in pairs if of and dotted_text(to) == name)


@once
def _exact(module: Module, name: str, loop: Loop, scope: Scope) -> bool:
    """Whether every update of the sum in the loop adds a number that torch counts exactly."""
    nodes = (each.node for each in module.names.lookup_from(scope, name))
    return all(
        _counts(node.value, module)
        for node in nodes
        if isinstance(node, cst.AugAssign) and loop in module.ancestors(node)
    )


def _counts(added: cst.BaseExpression, module: Module) -> bool:
    """`(a == b).sum().item()`, or a name for it: a whole number that torch counts exactly."""
    if isinstance(added, cst.Name):
        made = [each.node for each in module.flow.reaching(added)]
        return bool(made) and all(
            isinstance(each, cst.Assign)
            and isinstance(each.value, cst.Call)
            and _counts(each.value, module)
            for each in made
        )
    if not isinstance(added, cst.Call) or method_name(added) != "item":
        return False
    return _is_count(receiver(added))


@once
def _other_use(module: Module, name: str, loop: Loop, scope: Scope) -> str | None:
    """Why the sum must be a number inside the loop, or None if it may be a tensor."""
    setting = [each.node for each in module.names.lookup_from(scope, name)]
    for node in setting:
        if not isinstance(node, cst.AugAssign) and loop in module.ancestors(node):
            return f"`{name}` is also set inside the loop"
    for use in module.spelled(name, near=loop):
        varies = is_variable(use, module) and loop in module.ancestors(use)
        reason = _why_a_number(use, scope, module) if varies else None
        if reason is not None:
            return f"`{name}` {reason}"
    return None


def _why_a_number(use: cst.Name, scope: Scope, module: Module) -> str | None:
    parent = module.parent(use)
    if isinstance(parent, cst.AugAssign) and parent.target is use:
        adds = isinstance(parent.operator, cst.AddAssign)
        return None if adds else "is changed inside the loop by more than additions"
    if module.names.scope(use) is not scope:
        return "is used by a function inside the loop"
    if not is_shown_rarely(use, module):
        if next(module.loops.loops_around(use), None) not in module.loops.step_loops:
            return "is also read in the loop around the steps, where it must be a number"
        return "is read on every step, so the wait would only move there"
    if not _formatted(use, module):
        return "is read inside the loop where it must be a number"
    return None


def _formatted(use: cst.BaseExpression, module: Module) -> bool:
    """Whether the use prints through a format that takes a 0-d tensor too: `{x:.3f}`, `%.3f`."""
    for above in module.ancestors(use):
        if isinstance(above, cst.FormattedStringExpression):
            return bool(above.format_spec) and not above.conversion
        if isinstance(above, cst.BinaryOperation) and isinstance(above.operator, cst.Modulo):
            text = module.literal(above.left)
            return isinstance(text, str) and not _AS_TEXT.search(text)
        if isinstance(above, cst.Call) and method_name(above) == "format":
            text = module.literal(receiver(above))
            return isinstance(text, str) and not _AS_IT_IS.search(text)
        if isinstance(above, cst.Call | cst.BaseStatement):
            break
    return False


def _is_count(operand: cst.BaseExpression) -> bool:
    """`(a == b).sum()` and `a.eq(b).sum()`: whole numbers, so the sum is exact."""
    if not isinstance(operand, cst.Call) or operand.args:
        return False
    if method_name(operand) not in ("sum", "count_nonzero"):
        return False
    counted = receiver(operand)
    while isinstance(counted, cst.Call) and method_name(counted) in _SAME_TRUTHS:
        counted = receiver(counted)
    compares = isinstance(counted, cst.Call) and method_name(counted) in _COUNTS
    return compares or isinstance(counted, cst.Comparison)

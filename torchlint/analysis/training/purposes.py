"""What a number that was read from the device is for: a sum, a text, a size, a decision."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Sync


class Purpose(Enum):
    """What the number is used for; of several uses, the one that needs it most."""

    SIZE = auto()
    """`x[:n]`, `range(n)`, `torch.zeros(n)`: the host must know it to continue."""
    CONDITION = auto()
    """`if n > 3`, `assert math.isfinite(n)`."""
    COEFFICIENT = auto()
    """`n * tensor`: torch could compute with the tensor that it was read from."""
    SUM = auto()
    """`total += n`."""
    LIST = auto()
    """`losses.append(n)`, `losses += [n]`."""
    RETURNED = auto()
    STORED = auto()
    """`log["loss"] = n`, `self.loss = n`."""
    LOGGED = auto()
    """`meter.update(n)`, `wandb.log({"loss": n})`: a call whose result nobody uses."""
    TEXT = auto()
    SHOWN_RARELY = auto()
    """It is only used under a condition such as `if step % 100 == 0`, and read on each step."""
    UNKNOWN = auto()


_MOST_NAMES = 3
_HOST_MATHS = frozenset(
    {f"builtins.{name}" for name in ("abs", "float", "int", "max", "min", "round", "sum", "bool")}
)
_SIZED = frozenset(
    {"builtins.range"} | {f"torch.{name}" for name in ("arange", "empty", "full", "ones", "zeros")}
)
_SIZED_METHODS = frozenset(
    {"expand", "new_empty", "new_zeros", "new_ones", "repeat", "reshape", "split", "topk", "view"}
)
_PASSED_ON = (
    cst.Arg,
    cst.Dict,
    cst.DictElement,
    cst.Element,
    cst.Index,
    cst.List,
    cst.Slice,
    cst.SubscriptElement,
    cst.Tuple,
    cst.UnaryOperation,
)
_DECISIONS = (cst.Comparison, cst.BooleanOperation, cst.If, cst.While, cst.Assert)


def uses_of(sync: Sync, module: Module) -> list[cst.BaseExpression]:
    """Where the number is used: where it is read, or what reads the name that is given to it."""
    return list(_named(sync.call, module)) or [sync.call]


def purpose_of(sync: Sync, module: Module) -> Purpose:
    """What the number that a sync reads is for."""
    return purpose_of_value(sync.call, module)


def purpose_of_value(value: cst.BaseExpression, module: Module) -> Purpose:
    """What the value of any expression is for."""
    uses = _named(value, module)
    if uses and all(is_shown_rarely(use, module) for use in uses):
        return Purpose.SHOWN_RARELY
    return _purpose(value, module, _MOST_NAMES)


def is_shown_rarely(use: cst.BaseExpression, module: Module) -> bool:
    """Whether a use is under `if step % 100 == 0` or the like."""
    return module.loops.guard(use, module.loops.judged_within(use)) is not None


def is_on_device(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a tensor on the device and can be nothing else."""
    return module.value(node).only(Kind.DEVICE)


def _named(node: cst.BaseExpression, module: Module) -> list[cst.Name]:
    """The reads of the name that an expression is given to by itself."""
    parent = module.parent(node)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        target = parent.targets[0].target
        return module.reads(parent, target.value) if isinstance(target, cst.Name) else []
    if isinstance(parent, cst.AnnAssign) and isinstance(parent.target, cst.Name):
        return module.reads(parent, parent.target.value)
    return []


def _purpose(node: cst.BaseExpression, module: Module, names: int) -> Purpose:
    """The purpose of a number, through arithmetic, containers and at most so many names."""
    child: cst.CSTNode = node
    for above in module.ancestors(node):
        if isinstance(above, cst.Subscript):
            return Purpose.UNKNOWN if child is above.value else Purpose.SIZE
        if isinstance(above, cst.FormattedStringExpression):
            return Purpose.TEXT
        if isinstance(above, _DECISIONS):
            return Purpose.CONDITION
        if isinstance(above, cst.Call):
            purpose = _of_argument(above, module)
        elif isinstance(above, cst.BinaryOperation):
            purpose = _of_operand(above, child, module)
        elif isinstance(above, cst.BaseSmallStatement):
            return _of_statement(above, child, module, names)
        elif isinstance(above, cst.IfExp):
            purpose = Purpose.CONDITION if child is above.test else None
        else:
            purpose = None if isinstance(above, _PASSED_ON) else Purpose.UNKNOWN
        if purpose is not None:
            return purpose
        child = above
    return Purpose.UNKNOWN


def _of_argument(call: cst.Call, module: Module) -> Purpose | None:
    """What a call takes a number for; None if what it makes of it decides."""
    names = module.resolve(call.func)
    method = method_name(call)
    if any(name in _HOST_MATHS or name.startswith("math.") for name in names):
        return None
    if method in _SIZED_METHODS or not _SIZED.isdisjoint(names):
        return Purpose.SIZE
    if "builtins.print" in names or method == "format":
        return Purpose.TEXT
    if method == "append":
        return Purpose.LIST
    statement = module.parent(call)
    if isinstance(statement, cst.Return):
        return Purpose.RETURNED
    return Purpose.LOGGED if isinstance(statement, cst.Expr) else Purpose.UNKNOWN


def _of_operand(node: cst.BinaryOperation, child: cst.CSTNode, module: Module) -> Purpose | None:
    other = node.right if child is node.left else node.left
    if isinstance(node.operator, cst.Modulo) and isinstance(module.literal(node.left), str):
        return Purpose.TEXT
    return Purpose.COEFFICIENT if is_on_device(other, module) else None


def _of_statement(
    statement: cst.BaseSmallStatement, child: cst.CSTNode, module: Module, names: int
) -> Purpose:
    if isinstance(statement, cst.Return):
        return Purpose.RETURNED
    if isinstance(statement, cst.AugAssign) and isinstance(child, cst.List):
        return Purpose.LIST
    if isinstance(statement, cst.AugAssign):
        adds = isinstance(statement.operator, cst.AddAssign | cst.SubtractAssign)
        return Purpose.SUM if adds else Purpose.UNKNOWN
    if isinstance(statement, cst.Assign | cst.AnnAssign) and child is statement.value:
        targets = assign_targets(statement)
        if any(isinstance(each, cst.Attribute | cst.Subscript) for each in targets):
            return Purpose.STORED
        uses = _named(child, module) if names else []
        found = {_purpose(use, module, names - 1) for use in uses}
        return next((each for each in Purpose if each in found), Purpose.UNKNOWN)
    return Purpose.UNKNOWN

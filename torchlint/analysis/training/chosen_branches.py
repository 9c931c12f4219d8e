"""Branches of a function that its callers choose by what they pass: `if mask is not None:`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.analysis.module import Module

Demand = tuple[str, str]
"""A parameter, and what must be true of it for code to run: `true`, `false`, `none`, `some`,
`given`, `tensor`, `array`, `no tensor`, `== 'mean'` or `!= 'mean'`."""
Given = tuple[str, str]
"""A parameter, and what a caller passes for it: see `passed`."""

ANYTHING = "?"
GIVEN = "given"
"""What `mask is None or mask.all()` demands: as `some`, and callers must be known."""
TENSOR, ARRAY, OBJECT, HOST = ":tensor", ":array", ":object", ":host"
_FALSE = frozenset({"None", "False", "0", "0.0", "''"})
_MOST_NAMES = 2
_BRANCHES = (cst.If, cst.IfExp)


def passed(node: cst.BaseExpression, module: Module) -> str:
    """What is known of an argument: the text of a literal, a word such as `:tensor` for its type,
    `$name` for a parameter that is passed on as it is, or `ANYTHING`."""
    if isinstance(node, cst.Name) and module.flow.is_parameter(node):
        return f"${node.value}"
    known = literal(node)
    if known is not UNKNOWN:
        return repr(known) if isinstance(known, bool | int | float | str | None) else OBJECT
    value = module.value(node)
    for kind, word in (
        (TENSORS, TENSOR),
        (ARRAYS, ARRAY),
        (Kind.MODULE | Kind.OPTIMIZER | Kind.LOADER | Kind.CONTAINER, OBJECT),
        (Kind.HOST, HOST),
    ):
        if value.only(kind):
            return word
    return ANYTHING


def demands(node: cst.CSTNode, module: Module) -> tuple[Demand, ...]:
    """What callers must pass for code in a function to run, as far as its conditions say so."""
    if module.function(node) is None:
        return ()
    demanded: dict[Demand, None] = {}
    child = node
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            break
        if isinstance(above, _BRANCHES) and child in (above.body, above.orelse):
            demanded |= dict.fromkeys(_said(above.test, module, truth=child is above.body))
        elif isinstance(above, cst.BooleanOperation) and child is above.right:
            whole = isinstance(above.operator, cst.And)
            for name, what in _said(above.left, module, truth=whole):
                demanded[name, GIVEN if what == "some" else what] = None
        for order, said in _after_leaving(module).get(above, ()):
            if order < module.order(child):
                demanded |= dict.fromkeys(said)
        child = above
    return tuple(demanded)


@once
def _after_leaving(
    module: Module,
) -> dict[cst.CSTNode | None, list[tuple[int, tuple[Demand, ...]]]]:
    """By block: the conditions in it that leave their function, their place, and what is true
    after them: `if mask is None: return x`."""
    demands: dict[cst.CSTNode | None, list[tuple[int, tuple[Demand, ...]]]] = defaultdict(list)
    for statement in module.nodes(cst.If):
        last = last_statement(statement.body)
        if statement.orelse is None and isinstance(last, cst.Return | cst.Raise):
            said = tuple(_said(statement.test, module, truth=False))
            if said:
                place = module.order(last)
                demands[module.parent(statement)].append((place, said))
    return demands


def _said(
    test: cst.BaseExpression, module: Module, *, truth: bool, names: int = 0
) -> Iterator[Demand]:
    """What the truth of a condition says about parameters of its function."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _said(test.expression, module, truth=not truth, names=names)
    elif isinstance(test, cst.BooleanOperation):
        if isinstance(test.operator, cst.And) is truth:
            yield from _said(test.left, module, truth=truth, names=names)
            yield from _said(test.right, module, truth=truth, names=names)
    elif isinstance(test, cst.Comparison):
        yield from _compared(test, module, truth=truth)
    elif isinstance(test, cst.Call):
        yield from _typed(test, module, truth=truth)
    elif isinstance(test, cst.Name):
        if module.flow.is_parameter(test):
            yield test.value, "true" if truth else "false"
            return
        bindings = module.flow.reaching(test)
        value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        if value is not None and names < _MOST_NAMES and isinstance(bindings[0].node, cst.Assign):
            yield from _said(value, module, truth=truth, names=names + 1)


def _compared(test: cst.Comparison, module: Module, *, truth: bool) -> Iterator[Demand]:
    """`mode == "mean"`, `mask is not None`."""
    if len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return
    asked = test.comparisons[0]
    literal_value = literal(asked.comparator)
    if literal_value is UNKNOWN or not module.flow.is_parameter(test.left):
        return
    name = test.left.value
    if isinstance(asked.operator, cst.Is | cst.IsNot) and literal_value is None:
        is_none = isinstance(asked.operator, cst.Is) is truth
        yield name, "none" if is_none else "some"
    elif isinstance(asked.operator, cst.Equal | cst.NotEqual):
        equal = isinstance(asked.operator, cst.Equal) is truth
        yield name, f"{'==' if equal else '!='} {literal_value!r}"


def _typed(test: cst.Call, module: Module, *, truth: bool) -> Iterator[Demand]:
    """`isinstance(data, np.ndarray)`, `torch.is_tensor(data)`."""
    name = test.args[0].value if test.args else None
    if not isinstance(name, cst.Name) or not module.flow.is_parameter(name):
        return
    asked = dotted_text(test.func).rpartition(".")[2]
    of = dotted_text(test.args[1].value).rpartition(".")[2] if len(test.args) == 2 else ""
    if asked == "is_tensor" or (asked == "isinstance" and of == "Tensor"):
        yield name.value, "tensor" if truth else "no tensor"
    elif asked == "isinstance" and of == "ndarray" and truth:
        yield name.value, "array"


# what callers pass -------------------------------------------------------------------------


def refused(wanted: Iterable[Demand], given: frozenset[Given] | None) -> bool:
    """Whether no caller passes what code demands.

    Args:
        given: what the callers pass; None if not all of them are known.
    """
    if given is None:
        return False
    for parameter, demand in wanted:
        known = [what for name, what in given if name == parameter]
        if known and all(_denies(demand, what) for what in known):
            return True
    return False


def _denies(demand: str, what: str) -> bool:
    """Whether an argument is certainly not what is demanded; to be an array, it must be known for
    one."""
    verb, _, of = demand.partition(" ")
    literal_ = what != ANYTHING and not what.startswith(":")
    if verb in ("==", "!="):
        return literal_ and (what == of) is (verb == "!=")
    if demand == "true":
        return what in _FALSE
    if demand == "false":
        return what == OBJECT or (literal_ and what not in _FALSE)
    if demand == "none":
        return what not in ("None", HOST, ANYTHING)
    if demand in ("some", GIVEN):
        return what == "None"
    if demand == "no tensor":
        return what == TENSOR
    if demand == "array":
        return what != ARRAY
    return literal_ or what in (ARRAY, HOST)  # a tensor

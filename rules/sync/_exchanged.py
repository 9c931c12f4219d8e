"""What the processes of a training exchange, and what becomes of it."""

import re
from bisect import bisect_right

import libcst as cst

from torchlint.analysis.training.guards import words
from torchlint.analysis.training.purposes import Purpose, is_shown_rarely, purpose_of_value
from torchlint.analysis.uses import method_name
from torchlint.rule import Match, Module, because

_OTHERS = ("torch.gather", "torch.distributed.nn.", "functools.")
_IN_PLACE = frozenset({"all_reduce", "reduce"})
_LOGGED = re.compile(r"(?:^|_)(?:loss|losses|acc\d?|accuracy|metrics?)(?:_|$)")
_SHOWN = frozenset(
    {Purpose.SUM, Purpose.LIST, Purpose.STORED, Purpose.LOGGED, Purpose.TEXT, Purpose.SHOWN_RARELY}
)
_NOT_KNOWN = frozenset({Purpose.RETURNED, Purpose.COEFFICIENT, Purpose.UNKNOWN})


def exchanges_a_metric(match: Match) -> bool:
    """Whether what the processes exchange is called a loss or a metric."""
    given = words(match.call.args[0].value) if match.call.args else []
    if not any(map(_LOGGED.search, given)):
        return because(False, "what it exchanges is not called a loss or a metric")
    names = match.module.resolve(match.call.func)
    other = any(each.startswith(_OTHERS) for each in names)
    return not other or because(False, "{:code} exchanges nothing to log", match.call.func)


def is_only_logged(match: Match) -> bool:
    if not _purposes(match) <= _SHOWN | _NOT_KNOWN:
        return because(False, "the result is used for more than logs")
    backward = _backward_later(match)
    return backward is None or because(False, "the backward pass needs the result, {}", backward)


def goes_elsewhere(match: Match) -> bool:
    elsewhere = not _purposes(match) <= _SHOWN
    return elsewhere and because(True, "nothing shows that the result is only logged")


def _purposes(match: Match) -> set[Purpose]:
    """What the result is for: of the call, or of the tensor that it changes in place."""
    module, result = match.module, _with_methods(match.call, match.module)
    if not isinstance(module.parent(result), cst.Expr):
        return {purpose_of_value(result, module)}
    changed = next(each for each in module.within(match.call.args[0]) if type(each) is cst.Name)
    orders, later = module.once(_uses, changed.value, module.function(match.call))
    return later[bisect_right(orders, module.order(changed))] or {Purpose.UNKNOWN}


def _uses(
    module: Module, name: str, function: cst.FunctionDef | None
) -> tuple[list[int], list[set[Purpose]]]:
    """Where a function uses a name, and what it uses the name for from each of these places on."""
    orders: list[int] = []
    later: list[set[Purpose]] = [set()]
    for use in reversed(module.spelled(name, near=function)):
        sets = isinstance(module.parent(use), cst.AssignTarget | cst.AugAssign)
        if module.function(use) is function and not sets:
            orders.append(module.order(use))
            later.append(later[-1] | {_purpose(use, module)})
    return orders[::-1], later[::-1]


def _purpose(use: cst.Name, module: Module) -> Purpose:
    if is_shown_rarely(use, module):
        return Purpose.SHOWN_RARELY
    return purpose_of_value(_with_methods(use, module), module)


def _with_methods(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`gather(x).mean().item()` for the call of `gather` in it."""
    parent = module.parent(node)
    while isinstance(parent, cst.Attribute | cst.Call):
        node, parent = parent, module.parent(parent)
    return node


def _backward_later(match: Match) -> cst.Call | None:
    """The backward pass that starts from the exchanged loss: from the result, or from what the call
    changes in place."""
    module, function = match.module, match.module.function(match.call)
    last = module.once(_last_backwards)
    statement = module.small_statement(match.call)
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    exchanged = [word for each in targets for word in words(each.target)]
    if not targets or method_name(match.call) in _IN_PLACE:
        exchanged += words(match.call.args[0].value)
    calls = (last.get((function, word)) for word in exchanged)
    return next((call for call in calls if call and _comes_later(call, match)), None)


def _comes_later(call: cst.Call, match: Match) -> bool:
    return match.module.order(call) > match.module.order(match.call)


def _last_backwards(module: Module) -> dict[tuple[cst.FunctionDef | None, str], cst.Call]:
    """By function and word: the last backward pass that mentions the word."""
    return {
        (module.function(call), word): call
        for call in sorted(module.loops.backward_calls, key=module.order)
        for word in words(call)
    }

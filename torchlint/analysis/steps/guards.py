"""What keeps code in a step loop from running on every step: the words of a condition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.names import dotted_text
from torchlint.source.tree import last_statement, within

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

_PERIODIC_WORDS = re.compile(
    r"(?:^|_)(?:log|logs|logging|print|verbose|debug|save|saving|best|every|interval|freq|"
    r"frequency|first|last|warmup|warmed|eval|evaluate|validate|val|test|plot|display|vis|"
    r"visuali[sz]e|report|snapshot|checkpoint|ckpt|dump|profile|summary|done|export|onnx|tracing|"
    r"scripting)(?:_|\d|$)",
    re.IGNORECASE,
)
_DUE_WORDS = re.compile(
    r"^_*(?:should|is_time|time_to|needs_(?!grad|input))|_(?:due|now|step|iteration|iter|round)$"
)
"""Functions that tell whether it is time for something."""
_COUNTER_WORDS = re.compile(
    r"^[ijktnT]$|(?:^|_)(?:it|iter|iters|iteration|iterations|step|steps|idx|index|tick|nimg|"
    r"epoch|epochs|count|counter|itr|batch|time|elapsed|t|n)(?:_|\d|$)|^i_\w+$|\w_i$|_idx$|_num$",
    re.IGNORECASE,
)
_CHOICES = frozenset({"optimizer_idx"})
"""What a framework counts within a step: Lightning's several optimizers, before its version 2."""
_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_PROGRESS_WORDS = re.compile(
    r"^i$|(?:^|_)(?:it|iter|iters|iteration|iterations|step|steps|epoch|epochs|itr|nimg)"
    r"(?:_(?:num|number|no|idx|index|count|counter))?$"
)
_INDEX_WORDS = re.compile(r"^i_\w+$|\w_i$|(?:^|_)(?:idx|index|tick|counter)$")
"""What counts rounds too, or names one thing of several."""
_END_WORDS = re.compile(
    r"(?:^|_)(?:next|last|prev|previous|total|max|end|final|num|len|length)(?:_|$)"
)
"""Bounds that move with the steps, or that the last of them reaches."""
_UNTIL_WORDS = re.compile(
    r"(?:^|_)(?:until|stop|end|total|final|max_(?:it|iters?|iterations?|steps?|epochs?))(?:_|$)"
)
"""Bounds up to which most steps are."""
_EXITS = frozenset({"sys.exit", "os._exit", "exit", "quit"})
_BROKEN_WORDS = re.compile(r"^(?:isnan|isfinite|isinf|is_nan|nan|inf)$")


class Rarity(NamedTuple):
    """What shows that a condition holds on few steps.

    Args:
        kind: `every so many`, `broken`, `word`, `due` or `counted`.
        word: the name in the condition that shows it, if one does.
    """

    kind: str
    word: str = ""


def rarity(
    test: cst.BaseExpression, inner: frozenset[str] = frozenset(), *, truth: bool = True
) -> Rarity | None:
    """What shows that the condition of an `if` holds on few steps: every so many, when logging,
    when something broke. One that holds in one process only is not one of these: the others wait
    for it when gradients are averaged.

    Args:
        inner: names that take all of their values on each step, as those of a loop over parameters
            do, so that they say nothing about steps.
        truth: whether the code runs where the condition holds, or where it does not.
    """
    joins = cst.And if truth else cst.Or
    deciding = [part for part in _parts_of(test, joins) if usual_truth(part) is not truth]
    divided = (each for part in deciding for each in _remainders(part))
    if any(not inner.issuperset(words(each)) for each in divided):
        return Rarity("every so many")
    if _found_broken(test, truth=truth):
        return Rarity("broken")
    for word in _mentioned(test):
        if word not in inner and _PERIODIC_WORDS.search(snake(word)):
            return Rarity("word", word)
    for name in _called(test):
        if _DUE_WORDS.search(snake(name)):
            return Rarity("due", name)
    counters = (_counter_asked_for(part, inner) for part in deciding)
    counter = next(filter(None, counters), "")
    return Rarity("counted", counter) if counter else None


def usual_truth(test: cst.BaseExpression) -> bool | None:
    """What a condition is on nearly all steps, if numbers that are written out decide that:
    `step % 100 != 0` and `step != 0` hold, `step % 100 == 0` does not; else None."""
    if _is_not(test):
        usual = usual_truth(test.expression)
        return None if usual is None else not usual
    if isinstance(test, cst.BooleanOperation):
        sides = usual_truth(test.left), usual_truth(test.right)
        decides = isinstance(test.operator, cst.Or)  # one side that holds is enough, or that fails
        if decides in sides:
            return decides
        return None if None in sides else not decides
    if not isinstance(test, cst.Comparison):
        return _usually_left(test)
    if len(test.comparisons) != 1:
        return None
    operator, number = test.comparisons[0].operator, _number(test.comparisons[0].comparator)
    equals = isinstance(operator, cst.Equal)
    if number is None or not (equals or isinstance(operator, cst.NotEqual | cst.GreaterThan)):
        return None
    if _counts_steps(test.left):
        return None if isinstance(operator, cst.GreaterThan) else not equals
    left = _usually_left(test.left)
    if number and (isinstance(operator, cst.GreaterThan) or left is False):
        return None
    return None if left is None else left is not equals


def _usually_left(test: cst.BaseExpression) -> bool | None:
    """Whether a division mostly leaves something: `step % 100`, but not `step % 1`. None for
    others, and for `step % 2`, which does so in half of the cases."""
    if not isinstance(test, cst.BinaryOperation) or not isinstance(test.operator, cst.Modulo):
        return None
    divisor = _number(test.right)
    return None if divisor is None or divisor < 1 or divisor == 2 else divisor > 2


def _counts_steps(node: cst.BaseExpression) -> bool:
    name = snake(dotted_text(node).rpartition(".")[2])
    return any(each.search(name) for each in (_PROGRESS_WORDS, _INDEX_WORDS))


def _number(node: cst.BaseExpression) -> int | None:
    known = literal(node)
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def _counter_asked_for(test: cst.BaseExpression, inner: frozenset[str]) -> str:
    """The counter of steps that a condition compares, but not `step > 0`, nor
    `step < refine_until`; empty for others."""
    if not _compares(test) or _holds_from_then_on(test) or _holds_for_long(test):
        return ""
    mentioned = (word for word in _mentioned(test) if word not in inner | _CHOICES)
    return next((word for word in mentioned if _COUNTER_WORDS.search(snake(word))), "")


def _parts_of(
    test: cst.BaseExpression, operator: type[cst.BaseBooleanOp]
) -> list[cst.BaseExpression]:
    """The parts of a condition that `and`, or `or`, joins."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, operator):
        return [*_parts_of(test.left, operator), *_parts_of(test.right, operator)]
    return [test]


def _found_broken(test: cst.BaseExpression, *, truth: bool = True) -> bool:
    """Whether a condition holds where numbers are not finite: not `torch.isfinite(x).all()`, which
    holds on nearly all steps."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not | cst.BitInvert):
        return _found_broken(test.expression, truth=not truth)
    if isinstance(test, cst.BooleanOperation):
        return _found_broken(test.left, truth=truth) or _found_broken(test.right, truth=truth)
    if isinstance(test, cst.Call) and isinstance(test.func, cst.Attribute) and not test.args:
        return _found_broken(test.func.value, truth=truth)  # `(~torch.isfinite(x)).any()`
    found = [word for word in words(test) if _BROKEN_WORDS.search(word)]
    return any((word == "isfinite") is not truth for word in found)


def _remainders(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What is divided in a condition: `step` of `step % 100 == 0`."""
    return [
        each.left
        for each in within(test)
        if isinstance(each, cst.BinaryOperation) and isinstance(each.operator, cst.Modulo)
    ]


def asked_for(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The parts of a condition between `and`, `or` and `not`, in source order."""
    return [part for part, _ in asked_truths(test)]


def asked_truths(test: cst.BaseExpression) -> list[tuple[cst.BaseExpression, bool]]:
    """The parts of a condition as `asked_for`, and whether it asks that they hold, or do not."""
    left, truths = [(test, True)], []
    while left:
        part, truth = left.pop()
        if isinstance(part, cst.BooleanOperation):
            left += (part.right, truth), (part.left, truth)
        elif _is_not(part):
            left.append((part.expression, not truth))
        else:
            truths.append((part, truth))
    return truths


def looks_for_broken(test: cst.BaseExpression) -> bool:
    """Whether a condition looks for numbers that are not finite."""
    return any(_BROKEN_WORDS.search(word) for word in words(test))


def _mentioned(test: cst.BaseExpression) -> list[str]:
    """The names in a condition, without those that it only compares with None: a
    `log_writer` that is there is so on every step."""
    found = [
        word for part in asked_for(test) if not asks_for_identity(part) for word in words(part)
    ]
    return [word for word in found if word != "count_nonzero"]


def asks_for_identity(test: cst.BaseExpression) -> bool:
    """`x is None`, `x is not y`."""
    return isinstance(test, cst.Comparison) and all(
        isinstance(each.operator, cst.Is | cst.IsNot) for each in test.comparisons
    )


def _holds_from_then_on(test: cst.BaseExpression) -> bool:
    """`epoch >= args.warm_epochs`, `step > 0`: false at first, and then true to the end."""
    bound = _bound_of_progress(test, cst.GreaterThan, cst.GreaterThanEqual)
    return bound is not None and not any(map(_END_WORDS.search, map(snake, words(bound))))


def _holds_for_long(test: cst.BaseExpression) -> bool:
    """`step < args.refine_until`, `it < max_steps`: true at first, and for many steps."""
    bound = _bound_of_progress(test, cst.LessThan, cst.LessThanEqual)
    return bound is not None and any(map(_UNTIL_WORDS.search, map(snake, words(bound))))


def _bound_of_progress(
    test: cst.BaseExpression, *operators: type[cst.BaseCompOp]
) -> cst.BaseExpression | None:
    """What a condition compares a count of steps or epochs with, if it calls nothing."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    compared = test.comparisons[0]
    progress = dotted_text(test.left).rpartition(".")[2]
    if not isinstance(compared.operator, operators) or not _PROGRESS_WORDS.search(snake(progress)):
        return None
    calls = any(isinstance(node, cst.Call) for node in within(compared.comparator))
    return None if calls else compared.comparator


def compares_progress(test: cst.BaseExpression) -> bool:
    """Whether a condition compares a count of steps or epochs: `step > warmup`, `2 <= epoch`."""
    compared = (each for each in within(test) if isinstance(each, cst.Comparison))
    return any(
        _PROGRESS_WORDS.search(snake(dotted_text(side).rpartition(".")[2]))
        for each in compared
        if isinstance(each.comparisons[0].operator, _ORDERS)
        for side in (each.left, each.comparisons[0].comparator)
    )


def skips_most(test: cst.BaseExpression) -> bool:
    """Whether a condition to `continue` holds on most steps: `step % 100`, `not time_to_log`.
    One that only skips a warm-up, `step < 500`, leaves the rest of the loop hot."""
    return bool(_remainders(test)) or any(
        isinstance(node, (cst.Not, cst.NotEqual)) for node in within(test)
    )


def leaves_round(body: cst.BaseSuite) -> bool:
    """Whether a block ends the round of its loop, or the call of its function."""
    return isinstance(last_statement(body), cst.Continue | cst.Return)


def leaves_function(statement: cst.CSTNode | None) -> bool:
    """Whether a statement ends the call of its function: `return`, `sys.exit()`."""
    if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
        return dotted_text(statement.value.func) in _EXITS
    return isinstance(statement, cst.Return)


def branch_taken(condition: cst.If | cst.IfExp) -> cst.CSTNode | None:
    """The branch that always runs, as in `if True:`; None if the test decides or it has none."""
    known = literal(condition.test)
    if known is UNKNOWN:
        return None
    return condition.body if known else condition.orelse


def outside_training(condition: cst.If | cst.IfExp) -> cst.CSTNode | None:
    """The branch that only evaluation takes: that of `if not self.training` or of
    `if phase == "val"`, or the `else` of `if self.training`."""
    if any(map(_asks_for_training, _parts_of(condition.test, cst.Or))):
        return condition.orelse
    if any(map(_asks_for_evaluation, _parts_of(condition.test, cst.And))):
        return condition.body
    return None


def perhaps_outside_training(condition: cst.If | cst.IfExp) -> cst.CSTNode | None:
    """The branch that training takes only if another part of the condition says so: the `else` of
    `if self.use_vae and self.training`."""
    if not isinstance(condition.test, cst.BooleanOperation):
        return None
    if any(map(_asks_for_training, _parts_of(condition.test, cst.And))):
        return condition.orelse
    if any(
        _is_not(part) and _asks_for_training(part.expression)
        for part in _parts_of(condition.test, cst.Or)
    ):
        return condition.body
    return None


def _asks_for_evaluation(test: cst.BaseExpression) -> bool:
    if _is_not(test):
        return _asks_for_training(test.expression)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    compared = test.comparisons[0]
    return (
        isinstance(compared.operator, cst.Equal)
        and literal(compared.comparator) in ANY.evaluation_modes
    )


def _is_not(test: cst.BaseExpression) -> TypeGuard[cst.UnaryOperation]:
    return isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)


def _asks_for_training(test: cst.BaseExpression) -> bool:
    return dotted_text(test).rpartition(".")[2] in ("training", "is_training", "is_train", "train")


def words(node: cst.CSTNode) -> list[str]:
    """Every name that is mentioned in the code."""
    return [each.value for each in within(node) if isinstance(each, cst.Name)]


def _called(node: cst.CSTNode) -> Iterator[str]:
    """The last part of the name of each function that the code calls."""
    for each in within(node):
        if isinstance(each, cst.Call):
            yield dotted_text(each.func).rpartition(".")[2]


def _compares(test: cst.CSTNode) -> bool:
    """Whether a condition compares numbers, rather than texts, or asking `is None` or `in`."""
    numeric = (
        cst.Equal,
        cst.NotEqual,
        cst.LessThan,
        cst.LessThanEqual,
        cst.GreaterThan,
        cst.GreaterThanEqual,
    )
    return any(
        isinstance(node, cst.ComparisonTarget)
        and isinstance(node.operator, numeric)
        and not isinstance(node.comparator, cst.SimpleString)
        for node in within(test)
    )


def snake(name: str) -> str:
    """`isMainProcess` → `is_main_process`, so that words can be found in it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

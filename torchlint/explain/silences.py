"""Why code does not run on each training step, and why other contexts do not hold, in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.steps.guards import outside_training, rarity, snake
from torchlint.analysis.steps.guards import words as names_in
from torchlint.ruleapi.contexts import Context

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.steps.loops import Loop
    from torchlint.explain.code_words import CodeWords

NEEDS: Final = {
    Context.HOT: "code that runs on each training step",
    Context.LOADING: "code that loads samples or batches",
    Context.PER_BATCH: "code that runs for each batch or sample",
    Context.OUTSIDE_EVALUATION: "code that does not evaluate and is not under `torch.no_grad()`",
    Context.UNCONDITIONAL: "code that no condition decides about",
    Context.ENTRY: "a script that is run",
    Context.ACCELERATOR: "a program that uses an accelerator, such as by `.to(device)`",
    Context.TRAINS: "a program that trains a model",
}
_PURPOSES: Final = {
    r"log|logs|logging|print|verbose|report|summary|display|dump": "is for logging",
    r"debug|profile|tracing|scripting": "is for debugging",
    r"save|saving|snapshot|checkpoint|ckpt|export|onnx": "is for saving",
    r"best": "is for a new best result",
    r"eval|evaluate|validate|val|test": "is for evaluation",
    r"plot|vis|visuali[sz]e": "is for pictures",
    r"every|interval|freq|frequency": "holds every so many steps",
}
"""What a condition is for by one of its words; another means the first or the last steps."""
_EPOCHS: Final = re.compile(r"epoch|epochs", re.IGNORECASE)


class Silence(NamedTuple):
    """What keeps code from running on each step: a guard, as `Loops.guard` returns it, of the code
    or of the `loop` around it; or what shows that a model evaluates there."""

    guard: cst.CSTNode | None = None
    evaluation: cst.CSTNode | None = None
    loop: Loop | None = None


def silence_at(node: cst.CSTNode, module: Module) -> Silence | None:
    """Why code does not run on each step although what is around it may; None if nothing in its
    own file shows that."""
    loops = module.loops
    around = loops.judged_within(node)
    guard = loops.guard(node, around)
    if guard is not None:
        return Silence(guard)
    shown = module.evaluations.evaluation_around(node, inside=around)
    if shown is not None:
        return Silence(evaluation=shown)
    if around is not None and around not in loops.step_loops:
        guard = loops.guard(around, None)
        if guard is not None:
            return Silence(guard, loop=around)
    return None


def why_not_each_step(node: cst.CSTNode, words: CodeWords) -> str:
    """The same in a sentence, empty for None; code in a function that evaluates has one too."""
    silence = silence_at(node, words.module)
    loops, function = words.module.loops, words.module.function(node)
    in_evaluation = function is not None and words.module.evaluations.is_evaluation(function)
    if in_evaluation and loops.step_loop(node) is None and (silence is None or silence.loop):
        silence = Silence(evaluation=function)
    if silence is None:
        return ""
    if silence.evaluation is not None:
        return _evaluates(silence.evaluation, words)
    assert silence.guard is not None
    if silence.loop is None:
        return _guarded(silence.guard, node, words)
    why = _guarded(silence.guard, silence.loop, words)
    return f"the loop around it, in {words.line(silence.loop)}, is not run on each step: {why}"


def why_context_denies(context: Context, node: cst.CSTNode, words: CodeWords) -> str:
    """Why another context does not hold at a node, as far as its file decides that."""
    module = words.module
    if context is Context.OUTSIDE_EVALUATION:
        function = module.function(node)
        if function is not None and module.evaluations.is_evaluation(function):
            return _evaluates(function, words)
        off = module.evaluations.grad_off_around(node)
        if off is not None:
            return f"gradients are off here, under {words.quoted(off)}"
    if context is Context.UNCONDITIONAL:
        above = next(module.conditions(node), None)
        if isinstance(above, cst.ExceptHandler):
            return f"this runs only after an error, under {words.quoted(above)}"
        if above is not None:
            return f"this runs only under a condition, {words.quoted(above)}"
    if context is Context.ENTRY:
        return (
            "nothing shows that this file is run as a script: it has no `if __name__ == "
            '"__main__":`, reads no command line and trains nothing at its top level'
        )
    if context is Context.ACCELERATOR:
        return "a condition lets this run only where there is no accelerator"
    return f"the rule is about {NEEDS[context]}"


# guards ------------------------------------------------------------------------------------


def _guarded(guard: cst.CSTNode, node: cst.CSTNode, words: CodeWords) -> str:
    """Why code runs only now and then, by what `Loops.guard` returns for it."""
    if isinstance(guard, cst.ExceptHandler):
        return f"this runs only after an error ({words.quoted(guard)})"
    if isinstance(guard, cst.FunctionDef):
        return f"this is in a closure that the optimizer calls, {words.quoted(guard)}"
    test, above = _test_of(guard), list(words.module.ancestors(node))
    skips = guard not in above
    in_else = getattr(guard, "orelse", None) in (node, *above)
    rare = None
    if test is not None:
        rare = words.module.loops.rare_part(test, truth=not (skips or in_else))
    if test is None or rare is None:
        return f"the loop ends after this, below {words.quoted(guard)}, so it runs once"
    period = _period(test, rare, words, skips=skips or in_else)
    if in_else:
        only = f" {period}" if period else ""
        return f"this runs only{only} in the `else` of {words.quoted(guard)}"
    if skips:
        others = "the others" if period else "this on most steps"
        only = f"this runs only {period}: " if period else ""
        return f"{only}{words.quoted(guard)} skips {others}"
    if period:
        return f"this runs only {period} ({words.line(guard)})"
    return f"this runs only under {words.quoted(guard)}{_purpose(rare)}"


def _test_of(guard: cst.CSTNode) -> cst.BaseExpression | None:
    if isinstance(guard, cst.If | cst.IfExp):
        return guard.test
    return guard.left if isinstance(guard, cst.BooleanOperation) else None


def _period(
    test: cst.BaseExpression, rare: cst.BaseExpression, words: CodeWords, *, skips: bool
) -> str:
    """`every 50 steps` for code under `step % 50 == 0`, or after a `continue` under `step % 50`;
    empty for other conditions.

    Args:
        test: the condition.
        rare: it, or what a name or call in it refers to.
        skips: the code runs where the condition does not hold.
    """
    if rare is not test:
        negated = isinstance(test, cst.UnaryOperation)
        asked = test.expression if isinstance(test, cst.UnaryOperation) else test
        if isinstance(asked, cst.BooleanOperation):
            return ""
        skips = skips is not negated
    division = _once_in(rare, negated=skips)
    number = "1" if division is None else words.module.source(division.right)
    if division is None or number == "1":
        return ""
    unit = "epochs" if any(map(_EPOCHS.search, names_in(division.left))) else "steps"
    return f"every {number if number.isdigit() else f'`{number}`'} {unit}"


def _once_in(test: cst.BaseExpression, *, negated: bool) -> cst.BinaryOperation | None:
    """The `step % 50` of a condition that holds in one of so many cases, or does not hold in one of
    them if it is `negated`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _once_in(test.expression, negated=not negated)
    if isinstance(test, cst.BooleanOperation):
        both = isinstance(test.operator, cst.And) is not negated
        sides = (_once_in(each, negated=negated) for each in (test.left, test.right))
        return next(filter(None, sides), None) if both else None
    holds_for_one = negated
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        equal = isinstance(test.comparisons[0].operator, cst.Equal)
        if not equal and not isinstance(test.comparisons[0].operator, cst.NotEqual):
            return None
        holds_for_one, test = equal is not negated, test.left
    divides = isinstance(test, cst.BinaryOperation) and isinstance(test.operator, cst.Modulo)
    return test if divides and holds_for_one and isinstance(test, cst.BinaryOperation) else None


def _purpose(rare: cst.BaseExpression) -> str:
    """What a condition is for, as the end of a sentence."""
    purpose = rarity(rare) or rarity(rare, truth=False)
    assert purpose is not None
    if purpose.kind == "broken":
        return ", which looks for numbers that are not finite"
    if purpose.kind == "due":
        return f", where `{purpose.word}` tells when it is time"
    if purpose.kind == "word":
        told = (is_for for word, is_for in _PURPOSES.items() if _has_word(word, purpose.word))
        is_for = next(told, "is for the first or the last steps")
        return f", which by the word `{purpose.word}` {is_for}"
    return ", which holds on some steps only"


def _has_word(alternatives: str, name: str) -> bool:
    return re.search(rf"(?:^|_)(?:{alternatives})(?:_|\d|$)", snake(name)) is not None


# evaluation --------------------------------------------------------------------------------


def _evaluates(shown: cst.CSTNode, words: CodeWords) -> str:
    """Why code evaluates, by what `Evaluations.evaluation_around` returns for it."""
    if isinstance(shown, cst.FunctionDef):
        return _function_evaluates(shown, words)
    if isinstance(shown, cst.With):
        return f"the loop around this evaluates: it is under {words.quoted(shown)}"
    if isinstance(shown, cst.If | cst.IfExp):
        branch = "the branch" if outside_training(shown) is shown.body else "the `else` branch"
        return f"this is in {branch} of {words.quoted(shown)} that only evaluation takes"
    return f"the model evaluates here, since {words.quoted(shown)}"


def _function_evaluates(function: cst.FunctionDef, words: CodeWords) -> str:
    name, sign = function.name.value, words.module.evaluations.sign_of_evaluation(function)
    if isinstance(sign, cst.Decorator):
        return f"`{name}` evaluates: it goes over a loader under {words.quoted(sign)}"
    if sign is function.name or sign is None:
        return f"`{name}` evaluates, by its name ({words.line(function)})"
    return f"`{name}` evaluates: it begins with {words.quoted(sign)}"

"""How often code that loads samples runs: for each of them, if a setting says so, or seldom."""

import re
from collections.abc import Iterator
from enum import Enum

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.loading.sample_code import loads_samples
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.steps.guards import snake
from torchlint.analysis.uses import calls_of
from torchlint.rule import Module, once

from .unfilled_caches import never_filled

_KEEPS = re.compile(r"cache|memo", re.IGNORECASE)
_RATE = re.compile(r"(?:^|_)(?:sr|fs|rate|freq|frequency|samplerate)\d?$")
_DRAWS = re.compile(r"^(?:random|np\.random|numpy\.random|torch)\.|\.(?:rand|random|uniform)$")


class Often(Enum):
    """How many samples a call is made for."""

    ALL = "all"
    SOME = "some"
    """A setting, or chance, decides."""
    FEW = "few"
    """It is kept for later, or runs where a file is missing and the like."""


@once
def how_often(call: cst.Call, module: Module) -> Often:
    """How many of the samples that a dataset loads a call in its code is made for."""
    found = Often.ALL
    for above in conditions_of(call, module):
        if isinstance(above, cst.ExceptHandler) or not _is_setting(above.test, module):
            return Often.FEW
        found = Often.SOME
    return found


def conditions_of(
    call: cst.Call, module: Module
) -> Iterator[cst.If | cst.IfExp | cst.ExceptHandler]:
    """What decides about a call, and about all calls of the function that it is in."""
    for above in module.conditions(call):
        tested = None if isinstance(above, cst.ExceptHandler) else above.test
        if not any(each is tested for each in (call, *module.ancestors(call))):
            yield above  # what is asked in a test itself is asked for each sample
    function = module.function(call)
    if function is None or function.name.value == "__getitem__":
        return
    outside = [
        list(module.conditions(each))
        for each in calls_of(function, module)
        if module.function(each) is not function and loads_samples(each, module)
    ]
    if outside and all(outside):
        yield from outside[0]


def _is_setting(test: cst.BaseExpression, module: Module) -> bool:
    """Whether a condition stays the same for the whole run, asks what samples of the dataset
    consist of, as `if "mask" in sample` and `if suffix == ".npy"`, or is one of chance."""
    if isinstance(test, cst.BooleanOperation):
        return _is_setting(test.left, module) and _is_setting(test.right, module)
    if isinstance(test, cst.UnaryOperation):
        return _is_setting(test.expression, module)
    if isinstance(test, cst.Comparison):
        sides = [test.left, *(each.comparator for each in test.comparisons)]
        first = test.comparisons[0]
        if isinstance(first.operator, cst.Is) and module.literal(first.comparator) is None:
            return False
        if never_filled(test.left, module) or all(map(_is_rate, sides)):
            return True
        if isinstance(first.operator, cst.In) and isinstance(module.literal(test.left), str):
            return not _KEEPS.search(module.source(first.comparator))
        if isinstance(module.literal(sides[-1]), str):
            return True
        return all(_is_same(each, module) for each in sides)
    return _is_same(test, module)


def _is_rate(node: cst.BaseExpression) -> bool:
    """Whether it is a rate of sounds, which are mostly alike in a dataset."""
    return bool(_RATE.search(snake(dotted_text(node).rpartition(".")[2])))


def _is_same(node: cst.BaseExpression, module: Module) -> bool:
    if isinstance(node, cst.Call):
        if module.calls(node, "builtins.len") and len(node.args) == 1:
            return isinstance(node.args[0].value, cst.Attribute) and _is_same(
                node.args[0].value, module
            )
        return bool(_DRAWS.search(dotted_text(node.func)))
    if isinstance(node, cst.Attribute):
        text = dotted_text(node)
        if text[:1].isupper():  # a member of an enum
            return True
        return text.startswith(("self.", "args.", "opt.", "cfg.", "config.")) and not (
            _KEEPS.search(text.rpartition(".")[2]) and "use" not in text
        )
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return all(_is_default(each, module) for each in bindings)
    return literal(node) is not UNKNOWN


def _is_default(binding: Binding, module: Module) -> bool:
    """Whether a name is a parameter that callers may leave out, or one of the whole file."""
    if binding.how is How.PARAMETER:
        return binding.value is not None
    return module.function(binding.node) is None

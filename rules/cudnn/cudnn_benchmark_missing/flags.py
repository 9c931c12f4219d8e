"""What a file sets for cuDNN: benchmark mode, or determinism."""

import re
from collections.abc import Iterator
from enum import Enum

import libcst as cst

from torchlint.analysis.literals import UNKNOWN
from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import words
from torchlint.rule import Module

from .._options_off_by_default import only_on_request, under_option

_CUDNN = "torch.backends.cudnn"
_DETERMINISTIC_CALLS = frozenset(
    {"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"}
)
_ASKS_FOR_GPU = re.compile(
    r"^(?:(?:use|with|has|no)_?)?(?:cuda|gpus?|gpu_ids?|device|devices|torch|is_available|available|"
    r"device_count|backends|cudnn|type|args|opts?|cfg|config|hparams|self)$"
)


class FlagChoice(str, Enum):
    """What the code sets for cuDNN's search for the fastest algorithm."""

    ON = "on"
    OFF = "off"
    OFF_BY_NAME = "off by name"
    """Off by a function that is called after determinism: whether one runs it is up to others."""
    OFF_SOMETIMES = "off sometimes"
    """Off only in some runs, perhaps in most."""
    OFF_ON_REQUEST = "off on request"
    """Off only in runs with an option that is off by default, such as `--seed`."""


def choices(module: Module) -> Iterator[tuple[FlagChoice, cst.CSTNode]]:
    """Every place in the file that makes a choice, and the choice."""
    for assign in module.nodes(cst.Assign):
        for target in assign.targets:
            flag = _flag(target.target, module)
            if flag is not None:
                yield from ((each, assign) for each in _decided(flag, assign.value, assign, module))
    for call in module.nodes(cst.Call):
        yield from ((each, call) for each in _by_call(call, module))


def _flag(target: cst.BaseExpression, module: Module) -> str | None:
    """The cuDNN flag that an assignment sets."""
    if not isinstance(target, cst.Attribute):
        return None
    names = module.resolve(target)
    if f"{_CUDNN}.{target.attr.value}" in names:
        return target.attr.value
    if not names and dotted_text(target).endswith(f"cudnn.{target.attr.value}"):
        return target.attr.value
    return None


def _by_call(call: cst.Call, module: Module) -> Iterator[FlagChoice]:
    names = module.resolve(call.func)
    if f"{_CUDNN}.flags" in names or f"{_CUDNN}.set_flags" in names:
        for flag, position in (("benchmark", 1), ("deterministic", 3)):
            value = module.argument(call, flag, position)
            if value is not None:
                yield from _decided(flag, value, call, module)
    elif "builtins.setattr" in names and len(call.args) == 3:
        owner, name, value = (arg.value for arg in call.args)
        known = module.literal(name)
        if _CUDNN in module.resolve(owner) and isinstance(known, str):
            yield from _decided(known, value, call, module)
    elif not _DETERMINISTIC_CALLS.isdisjoint(names):
        mode = module.argument(call, "mode", 0) or module.argument(call, "debug_mode", 0)
        yield from _decided("deterministic", mode, call, module)
    elif "seed" in dotted_text(call.func).lower():
        value = module.argument(call, "deterministic")
        if value is not None and module.literal(value) is not UNKNOWN:
            yield from _decided("deterministic", value, call, module)


def _decided(
    flag: str, value: cst.BaseExpression | None, node: cst.CSTNode, module: Module
) -> Iterator[FlagChoice]:
    value_of_flag = module.literal(value)
    if flag == "benchmark" and value_of_flag is not False:
        yield FlagChoice.ON
    elif flag in ("benchmark", "enabled", "deterministic"):
        slows = bool(value_of_flag) if flag == "deterministic" else value_of_flag is False
        if slows and only_on_request(node, module):
            return
        if slows and under_option(node, module):
            yield FlagChoice.OFF_ON_REQUEST
        elif slows and not _sometimes(node, module):
            yield FlagChoice.OFF_BY_NAME if _is_of_determinism(node, module) else FlagChoice.OFF
        elif slows or value_of_flag is UNKNOWN:
            yield FlagChoice.OFF_SOMETIMES


def _is_of_determinism(node: cst.CSTNode, module: Module) -> bool:
    function = module.function(node)
    return function is not None and "determin" in function.name.value.lower()


def _sometimes(node: cst.CSTNode, module: Module) -> bool:
    """Whether `node` is under an `if`, or every call of its function is."""
    if _under_condition(node, module):
        return True
    function = module.function(node)
    if function is None:
        return False
    own = ":" + module.qualified_name(function)
    calls = [call for call in module.nodes(cst.Call) if own in module.resolve(call.func)]
    return bool(calls) and all(_under_condition(call, module) for call in calls)


def _under_condition(node: cst.CSTNode, module: Module) -> bool:
    return any(
        isinstance(above, cst.If)
        and not all(_ASKS_FOR_GPU.search(word.lower()) for word in words(above.test))
        for above in module.conditions(node)
    )

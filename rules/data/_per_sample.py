"""What keeps a call in a dataset from running for each sample."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import calls_of
from torchlint.rule import Module, because, once

_KEEPS = re.compile(r"cache|memo|store", re.IGNORECASE)


def is_kept(call: cst.Call, module: Module) -> bool:
    """Whether a cache or an attribute keeps what a call returns."""
    parent, function = module.parent(call), module.function(call)
    if isinstance(parent, cst.Assign):
        target = parent.targets[0].target
        kept = not isinstance(target, cst.Name | cst.Tuple) and not _is_of_sample(target, module)
        return kept and because(True, "what is read is kept in {:code}", target)
    for each in () if function is None else function.decorators:
        named = each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator
        if "cache" in dotted_text(named):
            return because(True, "{} keeps what was read for later calls", each)
    return False


def _is_of_sample(target: cst.BaseExpression, module: Module) -> bool:
    """`sample["image"]`, of a name that the function makes or gets."""
    if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name):
        return False
    bindings = module.flow.reaching(target.value)
    inside = any(module.function(each.node) is module.function(target) for each in bindings)
    return inside and not _KEEPS.search(target.value.value)


def is_rare(call: cst.Call, module: Module) -> bool:
    """Whether a condition may keep the call, or one of the method that it is in, from running."""
    for above in module.conditions(call):
        return because(True, "this runs only under a condition, {}", above)
    function = module.function(call)
    decides = None if function is None else _condition_of(module, function)
    return decides is not None and because(True, "this is called only under {}", decides)


@once
def _condition_of(module: Module, function: cst.FunctionDef) -> cst.CSTNode | None:
    """What decides about a call of a function."""
    others = (each for each in calls_of(function, module) if module.function(each) is not function)
    found = (above for each in others for above in module.conditions(each))
    return next(found, None)

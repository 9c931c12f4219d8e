"""Batch norms that a parameter chooses: `norm_layer(8)` with `norm_layer=nn.BatchNorm2d`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How, is_super
from torchlint.analysis.once import once
from torchlint.analysis.torch_api import BATCH_NORMS
from torchlint.analysis.uses import calls_of, method_name, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """The classes that a parameter can be, all of them batch norms.

    `sure` says that this file shows what is passed for it: no call leaves that open, and there is
    a call.
    """

    parameter: str
    names: frozenset[str]
    sure: bool


def choice_of(func: cst.BaseExpression, module: Module) -> Choice | None:
    """What a parameter that is called can be; None if it is not a parameter, or may be anything but
    a batch norm."""
    param = _parameter(func, module)
    return None if param is None else _choice(module, param, 0)


def _parameter(node: cst.BaseExpression, module: Module) -> cst.Param | None:
    bindings = module.names.lookup(node) if isinstance(node, cst.Name) else []
    if len(bindings) != 1 or bindings[0].how is not How.PARAMETER or bindings[0].starred:
        return None
    param = bindings[0].node
    return param if isinstance(param, cst.Param) else None


@once
def _choice(module: Module, param: cst.Param, depth: int) -> Choice | None:
    function = module.function(param)
    if function is None or depth > _DEEPEST or _asks_which(param, module):
        return None
    names = set() if param.default is None else set(module.resolve(param.default))
    if param.default is not None and (not names or not names.issubset(BATCH_NORMS)):
        return None
    position = _position(param, function)
    calls = list(_calls(function, module))
    sure = bool(calls) and not _is_inherited(function, module)
    for call in calls:
        passed = module.argument(call, param.name.value, position)
        if passed is None:
            sure = sure and not module.has_star_args(call) and not module.has_star_kwargs(call)
            continue
        given = _given(passed, module, depth)
        if given is None:
            return None
        names |= given.names
        sure = sure and given.sure
    return Choice(param.name.value, frozenset(names), sure) if names else None


def _given(passed: cst.BaseExpression, module: Module, depth: int) -> Choice | None:
    param = _parameter(passed, module)
    if param is not None:
        return _choice(module, param, depth + 1)
    names = frozenset(module.resolve(passed))
    return Choice("", names, sure=True) if names and names.issubset(BATCH_NORMS) else None


def _asks_which(param: cst.Param, module: Module) -> bool:
    """Whether the function looks at what it got, as in `norm_layer == nn.InstanceNorm2d`: then
    others come too."""
    for use in module.reads(param, param.name.value):
        call = module.call_with(use)
        if isinstance(
            module.parent(use), cst.Attribute | cst.Comparison | cst.ComparisonTarget
        ) or (call is not None and module.calls(call, "builtins.type", "builtins.isinstance")):
            return True
    return False


def _position(param: cst.Param, function: cst.FunctionDef) -> int | None:
    params = parameters_of(function)
    return next((at for at, each in enumerate(params) if each is param), None)


def _calls(function: cst.FunctionDef, module: Module) -> Iterator[cst.Call]:
    """The calls of a function in this file, for `__init__` also those by subclasses."""
    yield from calls_of(function, module)
    for class_ in _subclasses(function, module):
        own = module.definitions.own_methods(class_).get("__init__")
        for call in module.calls_within(own.body) if own is not None else ():
            if method_name(call) == "__init__" and is_super(getattr(call.func, "value", None)):
                yield call


def _is_inherited(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a subclass in this file gets the function as it is, so that its calls count too."""
    name = function.name.value
    subclasses = _subclasses(function, module)
    return any(name not in module.definitions.own_methods(each) for each in subclasses)


def _subclasses(function: cst.FunctionDef, module: Module) -> list[cst.ClassDef]:
    owner = module.class_(function)
    if owner is None or function.name.value != "__init__":
        return []
    name = f":{module.qualified_name(owner)}"
    classes = module.nodes(cst.ClassDef)
    return [each for each in classes if name in module.definitions.bases(each)]

"""Which functions of a file `torch.compile` compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.files.words import UNCOMMENTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_COMPILE = "torch.compile"
_MODULE = "torch.nn.Module"

COMPILE_TEXT: Final = (UNCOMMENTED + r"(?<!\bre)\.compile\b", r"\bimport[^\n]{0,200}\bcompile\b")
"""For triggers: `torch.compile`, and `from torch import compile`; not `re.compile`, nor
comments."""


@once
def compiled_functions(module: Module) -> dict[cst.FunctionDef, cst.Call | None]:
    """The functions that are compiled, each with the call that does it, if it is called: under a
    decorator, by their name, or as `forward` of a module."""
    return {function: call for call, function in _compiled(module) if function is not None}


def _compiled(module: Module) -> Iterator[tuple[cst.Call | None, cst.FunctionDef | None]]:
    for decorator in module.nodes(cst.Decorator):
        named, owner = decorator.decorator, module.parent(decorator)
        call = named if isinstance(named, cst.Call) else None
        if _COMPILE in module.resolve(call.func if call else named):
            yield call, owner if isinstance(owner, cst.FunctionDef) else None
    by_name = module.calls_by_name.get(_COMPILE, ())
    in_place = module.calls_by_method.get("compile", ())
    asked = [(call, module.argument(call, "model", 0)) for call in by_name]
    asked += [(call, _owner(call)) for call in in_place]
    # What an attribute holds takes long to find out, so it is asked once in each function.
    compiled_by: dict[object, cst.FunctionDef | None] = {}
    for call, compiled in asked:
        if compiled is not None:
            key = (module.function(call), dotted_text(compiled) or compiled)
            if key not in compiled_by:
                compiled_by[key] = _function_of(compiled, module)
            yield call, compiled_by[key]


def _owner(call: cst.Call) -> cst.BaseExpression | None:
    """`model` of `model.compile()`."""
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def _function_of(compiled: cst.BaseExpression, module: Module) -> cst.FunctionDef | None:
    """The function that runs when what is compiled is called."""
    for name in module.resolve(compiled):
        own = module.definitions.named(name)
        if isinstance(own, cst.FunctionDef):
            return own
    method = module.definitions.method(compiled) if isinstance(compiled, cst.Attribute) else None
    return method or _forward(compiled, module)


def _forward(model: cst.BaseExpression, module: Module) -> cst.FunctionDef | None:
    """`forward` of an object of a module class of this file."""
    class_ = module.definitions.class_of(model)
    if class_ is None or _MODULE not in module.definitions.bases(class_):
        return None
    return module.definitions.methods(class_).get("forward")

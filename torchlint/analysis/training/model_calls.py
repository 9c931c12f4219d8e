"""Where a file runs a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import Kind

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_NO_MODEL = re.compile(r"(?i:crit(?!ic)|loss|objective|pipe|transform|process|token|metric|scaler)")
_FUNCTION = re.compile(
    r"^_*(?:build|compile|convert|create|export|freeze|get|init|load|make|prepare|save|set|setup|"
    r"shard|wrap)_"
)


def runs_model(call: cst.Call, module: Module) -> bool:
    """Whether a call is `model(x)` or `self.encoder(x)`: of an object that is a module; not of a
    loss, of a whole pipeline, or of a function such as `build_model`."""
    name = dotted_text(call.func).rpartition(".")[2]
    return (
        name != ""
        and len(call.args) > 0
        and not _NO_MODEL.search(name)
        and not _FUNCTION.search(name)
        and not module.resolve(call.func)
        and is_module(call.func, module)
    )


def is_module(called: cst.BaseExpression, module: Module) -> bool:
    """Whether what is called is a module. What `.to(device)` makes of an unknown object passes for
    a tensor, but nobody calls a tensor."""
    value = module.value(called)
    return value.has(Kind.MODULE) or (isinstance(called, cst.Name) and value.has(Kind.DEVICE))

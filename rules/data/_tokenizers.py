"""Calls of a tokenizer, and the functions that a dataset maps over its samples."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module

_TOKENIZER = re.compile(
    r"(?:^|[._])tok(?:enizer)?(?:\.(?:encode|encode_plus|batch_encode_plus|tokenize|pad))?$"
)


def tokenizes(call: cst.Call) -> bool:
    """`tokenizer(text)`, `self.tokenizer.encode(text)`; for `processor(text, images)` no."""
    return bool(_TOKENIZER.search(dotted_text(call.func).lower()))


def mapped_function(call: cst.Call, module: Module) -> cst.FunctionDef | cst.Lambda | None:
    """The function of this file that `dataset.map(function)` gets."""
    function = module.argument(call, "function", 0)
    if isinstance(function, cst.Lambda):
        return function
    bindings = module.flow.reaching(function)
    nodes = (each.node for each in bindings)
    return next((each for each in nodes if isinstance(each, cst.FunctionDef)), None)

"""Who asks for deterministic algorithms: a caller, or an option of the command line."""

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.analysis.training.guards import words
from torchlint.rule import Module, because

from ._requests import only_on_request, unasked_options

_DETERMINISM: Final = re.compile(r"determin|reproduc", re.IGNORECASE)


def determinism_is_asked_for(node: cst.CSTNode, module: Module) -> bool:
    """Whether the caller asks for determinism, by the name of the function or by a parameter."""
    function = module.function(node)
    if function is not None and _DETERMINISM.search(function.name.value):
        return because(True, "who calls `{}` asks for determinism", function.name.value)
    parts = (part for test in _tests(node, module) for part in module.within(test))
    names = (part for part in parts if isinstance(part, cst.Name))
    for name in names:
        if _DETERMINISM.search(name.value) and not isinstance(module.parent(name), cst.Attribute):
            return because(True, "this runs only where {} asks for determinism", name)
    asked = only_on_request(node, module)
    said = "this runs only if the caller asks for it: {} tests a parameter that is False by default"
    return asked is not None and because(True, said, asked)


def option_that_asks(node: cst.CSTNode, module: Module) -> str | None:
    """The option of the command line, off by default, that an `if` around a node tests."""
    options = module.once(unasked_options)
    asked = (word for test in _tests(node, module) for word in words(test) if word in options)
    return next((f"--{word.replace('_', '-')}" for word in asked), None)


def _tests(node: cst.CSTNode, module: Module) -> Iterator[cst.BaseExpression]:
    """The conditions under which a node runs."""
    for above in module.conditions(node):
        if isinstance(above, cst.If | cst.IfExp):
            yield above.test

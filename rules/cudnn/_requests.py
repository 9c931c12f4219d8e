"""Settings that only hold where somebody asks for them: by an option, or by a parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.training.guards import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.rule import Module

_DETERMINISM: Final = re.compile(r"determin|reproduc", re.IGNORECASE)


def determinism_is_asked_for(node: cst.CSTNode, module: Module) -> bool:
    """Whether the caller asks for determinism, by the name of the function or by a parameter."""
    function = module.function(node)
    asked = [] if function is None else [function.name.value]
    parts = (part for test in _tests(node, module) for part in module.within(test))
    names = (part for part in parts if isinstance(part, cst.Name))
    asked += [each.value for each in names if not isinstance(module.parent(each), cst.Attribute)]
    return any(map(_DETERMINISM.search, asked)) or only_on_request(node, module)


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


def only_on_request(node: cst.CSTNode, module: Module) -> bool:
    """Whether an `if` tests a parameter that is False by default, so that the caller decides."""
    function = module.function(node)
    if function is None:
        return False
    params = (*function.params.params, *function.params.kwonly_params)
    unasked = {each.name.value for each in params if module.literal(each.default) is False}
    return _is_asked_for(unasked, node, module)


def _is_asked_for(names: frozenset[str] | set[str], node: cst.CSTNode, module: Module) -> bool:
    """Whether an `if` around a node tests one of these names."""
    return any(
        isinstance(above, cst.If) and not names.isdisjoint(words(above.test))
        for above in module.ancestors(node)
    )


def under_option(node: cst.CSTNode, module: Module) -> bool:
    """Whether an `if` tests an option of the command line that is off by default."""
    return _is_asked_for(module.once(unasked_options), node, module)


def unasked_options(module: Module) -> frozenset[str]:
    """The names of the options that argparse leaves None or False where nobody gives them."""
    found = set()
    for call in module.calls_by_method.get("add_argument", ()):
        flags = [module.literal(arg.value) for arg in call.args if arg.keyword is None]
        given = module.argument(call, "default")
        action = module.literal(module.argument(call, "action"))
        if action == "store_true" or module.literal(given) in (None, False):
            found |= {each.lstrip("-").replace("-", "_") for each in flags if isinstance(each, str)}
    return frozenset(found)

"""Loops over the parameters of a model, one tensor at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.once import once
from torchlint.analysis.uses import method_name
from torchlint.source.tree import within

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.DictComp)
_GIVE_PARAMETERS = frozenset({"parameters", "named_parameters", "state_dict"})


@once
def goes_over_parameters(loop: cst.For | cst.CompFor, module: Module) -> bool:
    """Whether a loop takes the parameters of a model one by one: `for p in model.parameters()`,
    `for name in dict(model.named_parameters())`, also by the name of such a list or dict."""
    names = [node for node in within(loop.iter) if isinstance(node, cst.Name)]
    made = [binding.value for name in names for binding in module.flow.reaching(name)]
    return any(
        _gives_parameters(module, value) for value in (loop.iter, *made) if value is not None
    )


@once
def _gives_parameters(module: Module, value: cst.BaseExpression) -> bool:
    return any(method_name(call) in _GIVE_PARAMETERS for call in module.calls_within(value))


def parameter_loop(node: cst.CSTNode, module: Module) -> cst.For | cst.BaseComp | None:
    """The nearest loop or comprehension around a place, in its function, that goes over the
    parameters of a model."""
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            break
        if isinstance(above, cst.For) and goes_over_parameters(above, module):
            return above
        if isinstance(above, _COMPREHENSIONS) and goes_over_parameters(above.for_in, module):
            return above
    return None

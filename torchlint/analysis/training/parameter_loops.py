"""Loops over the parameters of a model, one tensor at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.once import once
from torchlint.analysis.uses import method_name
from torchlint.source.tree import within

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding

_Comprehension = cst.ListComp | cst.GeneratorExp | cst.DictComp
_PARAMETERS = re.compile(r"(?:^|_)param(?:eter)?s$")
_GIVE_PARAMETERS = frozenset({"parameters", "named_parameters", "state_dict"})


@once
def goes_over_parameters(loop: cst.For | cst.CompFor, module: Module) -> bool:
    """Whether a loop takes the parameters of a model one by one: `for p in model.parameters()`,
    `for name in dict(model.named_parameters())`, also by the name of such a list or dict, and
    `for p in parameters` where a function is given these."""
    names = [node for node in within(loop.iter) if isinstance(node, cst.Name)]
    bindings = [binding for name in names for binding in module.flow.reaching(name)]
    if any(_is_given(each, module) for each in bindings):
        return True
    made = [binding.value for binding in bindings]
    return any(
        _gives_parameters(module, value) for value in (loop.iter, *made) if value is not None
    )


def _is_in_group(taken: cst.BaseExpression, module: Module) -> bool:
    """`group["params"]` of an optimizer."""
    if not isinstance(taken, cst.Subscript):
        return False
    key = taken.slice[0].slice
    return isinstance(key, cst.Index) and module.literal(key.value) == "params"


def _is_given(binding: Binding, module: Module) -> bool:
    """A parameter of a function that is called `parameters`, also after
    `parameters = [p for p in parameters if p.grad is not None]`."""
    if binding.how is How.PARAMETER:
        return _PARAMETERS.search(binding.name) is not None
    made = binding.value
    if not isinstance(made, cst.ListComp) or not isinstance(made.for_in.iter, cst.Name):
        return False
    given = module.flow.reaching(made.for_in.iter)
    return any(each.how is How.PARAMETER and _is_given(each, module) for each in given)


@once
def _gives_parameters(module: Module, value: cst.BaseExpression) -> bool:
    return any(method_name(call) in _GIVE_PARAMETERS for call in module.calls_within(value))


def parameter_loop(node: cst.CSTNode, module: Module) -> cst.For | cst.BaseComp | None:
    """The nearest loop or comprehension around a place, in its function, that goes over the
    parameters of a model, or over a group of an optimizer."""
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            break
        if isinstance(above, cst.For | _Comprehension):
            head = above if isinstance(above, cst.For) else above.for_in
            if _is_in_group(head.iter, module) or goes_over_parameters(head, module):
                return above
    return None

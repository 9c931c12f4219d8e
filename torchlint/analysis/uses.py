"""Where a file uses a variable, an attribute of `self` or a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module


def occurrences(node: cst.BaseExpression, module: Module) -> Iterator[cst.BaseExpression]:
    """Each place that is written like a name or `self.name`: in the same function for a name,
    in the same class for an attribute of `self`; else nothing."""
    if isinstance(node, cst.Name):
        yield from (
            each for each in module.spelled(node.value, near=node) if is_variable(each, module)
        )
    elif isinstance(node, cst.Attribute) and dotted_text(node) == f"self.{node.attr.value}":
        class_ = module.class_(node)
        for name in module.spelled(node.attr.value):
            other = module.parent(name)
            if (
                isinstance(other, cst.Attribute)
                and other.attr is name
                and isinstance(other.value, cst.Name)
                and other.value.value == "self"
                and module.class_(other) is class_
            ):
                yield other


def is_variable(node: cst.Name, module: Module) -> bool:
    """Whether a name is a variable, not a keyword or an attribute."""
    parent = module.parent(node)
    return not (isinstance(parent, cst.Arg) and parent.keyword is node) and not (
        isinstance(parent, cst.Attribute) and parent.attr is node
    )


def calls_of(function: cst.FunctionDef, module: Module) -> Iterator[cst.Call]:
    """Each call `name(…)` or `anything.name(…)` of a function, in source order; of its class for
    `__init__`."""
    class_ = module.class_(function)
    made = class_ is not None and function.name.value == "__init__"
    name = class_.name.value if class_ is not None and made else function.name.value
    for node in module.spelled(name):
        parent = module.parent(node)
        func = parent if isinstance(parent, cst.Attribute) and parent.attr is node else node
        call = module.parent(func)
        if isinstance(call, cst.Call):
            yield call


def method_name(call: cst.Call) -> str:
    """`step` for `anything.step(…)`; empty for other calls."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def called_name(call: cst.Call) -> str:
    """The last part of what is called: `step` for `anything.step(…)` and `step(…)`."""
    return call.func.value if isinstance(call.func, cst.Name) else method_name(call)


def method_behind(node: cst.CSTNode, module: Module) -> cst.Call | None:
    """`torch.tensor(x).to(device)` for the `torch.tensor(x)` in it."""
    attribute = module.parent(node)
    if not isinstance(attribute, cst.Attribute) or attribute.value is not node:
        return None
    call = module.parent(attribute)
    return call if isinstance(call, cst.Call) and call.func is attribute else None


def receiver(call: cst.Call) -> cst.BaseExpression:
    """`x` for `x.step(…)`; what is called for other calls."""
    return call.func.value if isinstance(call.func, cst.Attribute) else call.func


def methods_called_on(node: cst.BaseExpression, module: Module) -> Iterator[cst.Call]:
    """Each call of a method of the same variable, or of an item of it: `x[0].fill(0)`."""
    for each in occurrences(node, module):
        call = method_behind(with_items(each, module), module)
        if call is not None:
            yield call


def reads_of_targets(statement: cst.CSTNode | None, module: Module) -> Iterator[cst.Name]:
    """The reads of what an assignment puts into names; nothing for other statements."""
    if isinstance(statement, cst.Assign):
        targets = (each.target for each in statement.targets)
        for name in sorted({each.value for each in targets if isinstance(each, cst.Name)}):
            yield from module.reads(statement, name)


def parameters_of(function: cst.FunctionDef) -> list[cst.Param]:
    """The parameters that a call can fill by position, without `self`."""
    params = [*function.params.posonly_params, *function.params.params]
    return params[1:] if params and params[0].name.value in ("self", "cls") else params


def passed_for(
    name: str, function: cst.FunctionDef, module: Module
) -> list[cst.BaseExpression | None]:
    """What each call of a function in its file passes for a parameter; None for nothing."""
    return [passed_by(call, name, function) for call in calls_of(function, module)]


def passed_by(call: cst.Call, name: str, function: cst.FunctionDef) -> cst.BaseExpression | None:
    """What one call of a function passes for a parameter; None for nothing."""
    names = [each.name.value for each in parameters_of(function)]
    return argument(call, name, names.index(name) if name in names else None)


def receiving_parameter(
    call: cst.Call, value: cst.CSTNode, function: cst.FunctionDef
) -> cst.Param | None:
    """The parameter by which a function gets an argument of a call; None if `*` or `**` is in the
    way."""
    params = parameters_of(function)
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.value is value and arg.keyword is not None:
            named = (*params, *function.params.kwonly_params)
            return next((each for each in named if each.name.value == arg.keyword.value), None)
        if arg.value is value:
            return params[index] if index < len(params) else None
    return None


def reads_after(statement: cst.CSTNode | None, module: Module) -> list[cst.Name]:
    """The same without those in the assignment itself, as in `model = wrap(model)` in a loop."""
    reads = reads_of_targets(statement, module)
    return [each for each in reads if all(up is not statement for up in module.ancestors(each))]


def with_items(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`x[0][1]` for the `x` in it."""
    parent = module.parent(node)
    while isinstance(parent, cst.Subscript) and parent.value is node:
        node, parent = parent, module.parent(parent)
    return node

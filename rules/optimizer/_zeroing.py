"""Recognizes a loop that only fills the gradient of each parameter with zeros."""

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.gradients import asks_for_none, is_grad_of
from torchlint.rule import Module

_NO_EFFECT = frozenset({"detach_", "requires_grad_"})


def sounds_like_parameters(source: cst.BaseExpression, module: Module) -> bool:
    """Whether a loop is over parameters: `model.parameters()`, `group["params"]`, `params`."""
    return any(
        isinstance(node, (cst.Name, cst.SimpleString)) and "param" in node.value.lower()
        for node in module.within(source)
    )


def zeroes_each(loop: cst.For, module: Module) -> bool:
    """Whether the loop's body does nothing but zeroing, possibly with a test for None and an inner
    loop over a group."""
    target: cst.BaseExpression = loop.target
    if isinstance(target, cst.Tuple) and len(target.elements) == 2:
        target = target.elements[1].value
    if not isinstance(target, cst.Name) or loop.orelse is not None:
        return False
    effects = list(_effects(loop.body, target.value, module))
    return True in effects and None not in effects


def _effects(body: cst.BaseSuite, name: str, module: Module) -> Iterator[bool | None]:
    """For each statement: True if it zeroes, False if it changes nothing, None if it does
    anything else."""
    for statement in body.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for part in statement.body:
                yield _effect(part, name, module)
        elif isinstance(statement, cst.BaseSmallStatement):
            yield _effect(statement, name, module)
        elif isinstance(statement, cst.If) and statement.orelse is None:
            yield from _tested(statement, name, module)
        elif isinstance(statement, cst.For):
            yield zeroes_each(statement, module) or None
        else:
            yield None


def _tested(statement: cst.If, name: str, module: Module) -> Iterator[bool | None]:
    if not _tests_only_a_gradient(statement.test, name):
        yield None
        return
    only = statement.body.body[0] if len(statement.body.body) == 1 else None
    if isinstance(only, cst.SimpleStatementLine):
        only = only.body[0]
    if isinstance(only, cst.Continue):
        yield False
    else:
        yield from _effects(statement.body, name, module)


def _tests_only_a_gradient(test: cst.BaseExpression, name: str) -> bool:
    if isinstance(test, cst.BooleanOperation):
        return all(_tests_only_a_gradient(side, name) for side in (test.left, test.right))
    if asks_for_none(test):
        return isinstance(test, cst.Comparison) and is_grad_of(test.left, name)
    return dotted_text(test) in (f"{name}.requires_grad", f"{name}.grad")


def _effect(part: cst.BaseSmallStatement, name: str, module: Module) -> bool | None:
    if isinstance(part, cst.Pass):
        return False
    if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
        return _called(part.value, name, module)
    if isinstance(part, cst.Assign) and len(part.targets) == 1:
        return _assigned(part, name, module)
    return None


def _called(call: cst.Call, name: str, module: Module) -> bool | None:
    func = call.func
    if not isinstance(func, cst.Attribute) or not is_grad_of(func.value, name):
        return None
    if func.attr.value in _NO_EFFECT:
        return False
    if func.attr.value == "zero_":
        return True
    fills = func.attr.value == "fill_" and len(call.args) == 1
    return True if fills and module.literal(call.args[0].value) == 0 else None


def _assigned(assign: cst.Assign, name: str, module: Module) -> bool | None:
    """`p.grad = torch.zeros_like(p)` zeroes on each step; before the loop it creates gradients
    that other code adds to."""
    if not is_grad_of(assign.targets[0].target, name) or not isinstance(assign.value, cst.Call):
        return None
    makes = module.calls(assign.value, "torch.zeros_like", "torch.zeros")
    return True if makes and module.step_loop(assign) is not None else None

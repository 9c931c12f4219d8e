"""Call `zero_grad` to free the gradients instead of zeroing each one in a loop.

## What it does
Reports a loop over parameters that only fills their gradients with zeros.

## Why it is slow
Each iteration launches a kernel that writes one gradient. That is hundreds of launches per step
for a typical network, and the backward pass then reads the zeros again to add to them.
`zero_grad()` sets all gradients to `None`, which launches nothing.

## Example
```python
for p in model.parameters():
    if p.grad is not None:
        p.grad.zero_()
loss.backward()
```

## Use instead
```python
model.zero_grad()
loss.backward()
```

## When it is silent
For `p.grad = None`, which is as fast as `zero_grad()`; for loops that do more, or that select
parameters by name; in meta-learning (`create_graph=True`); if gradients are created once and code
then adds to them by hand (`p.grad += g`).

## Fix safety
**Unsafe**: an optimizer skips parameters whose gradient is `None`, but updates those whose
gradient is zero, which matters with momentum or weight decay. There is no fix if the loop is not
over all parameters of one module or optimizer, if it contains comments, or if the file reads
gradients without checking for `None`.

## How verify confirms it
It measures `zero_grad()` in place of the loop, on the CPU as well as on a GPU. The numbers are
bitwise equal where every parameter gets a gradient on every step.

## References
- `torch.nn.Module.zero_grad`, `torch.optim.Optimizer.zero_grad`
- PyTorch performance tuning guide, "Use parameter.grad = None"
"""

from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training import manual_gradients
from torchlint.analysis.training.manual_gradients import asks_for_none, is_grad_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Applicability, Change, Module, Reported, Rule, because, edits

from ._zero_grad_owners import is_torchs

_FREES_BY_DEFAULT = (2, 0)
_CAN_FREE = (1, 7)
_NO_EFFECT = frozenset({"detach_", "requires_grad_"})


rule = Rule(
    code="TL402",
    summary="a loop zeroes each gradient separately",
    fix=Applicability.UNSAFE,
    triggers=(
        r"\.grad\b[\w.)]{0,40}(?:\(\))?\.(?:zero_|fill_)\("
        r"|\.grad\b[\w.]{0,40}\s*=[^\n]{0,80}zeros",
    ),
    may_change="an optimizer skips parameters that got no gradient, instead of decaying them",
)


@rule.on(cst.For)
def zeroes_gradients_one_by_one(loop: cst.For, module: Module) -> Iterable[Reported]:
    if not _zeroes_each(loop, module):
        return ()
    if not _sounds_like_parameters(loop.iter, module):
        return because((), "{:code} is not known to be the parameters of a model", loop.iter)
    around = module.parent(module.parent(loop) or loop)
    if isinstance(around, cst.For) and _zeroes_each(around, module):
        return because((), "the loop around it is reported, {}", around)
    if manual_gradients.accumulates(module, outside=loop) or _differentiates_twice(module):
        return ()
    message = (
        "This loop launches one kernel per parameter to write zeros; call `zero_grad()`, which "
        "sets the gradients to None."
    )
    return rule.report(module, loop.iter, message, fix=_one_call(loop, module))


def _differentiates_twice(module: Module) -> bool:
    """Whether the file differentiates through gradients, as meta-learning does."""
    for arg in map(module.parent, module.spelled("create_graph")):
        if isinstance(arg, cst.Arg) and module.literal(arg.value) is True:
            return because(True, "the file differentiates through gradients: {}", arg)
    return False


def _owner(loop: cst.For) -> cst.BaseExpression | None:
    """`model` of `model.parameters()`, `optimizer` of `optimizer.param_groups`."""
    source = loop.iter
    if isinstance(source, cst.Attribute) and source.attr.value == "param_groups":
        return source.value
    if not isinstance(source, cst.Call) or source.args:
        return None
    return receiver(source) if method_name(source) in ("parameters", "named_parameters") else None


def _one_call(loop: cst.For, module: Module) -> Change | str:
    owner = _owner(loop)
    if owner is None or not dotted_text(owner):
        return "the loop is not over all parameters of one module or optimizer"
    function = module.function(loop)
    if function is not None and function.name.value == "zero_grad":
        return "this is the body of a `zero_grad`; set `p.grad = None` there"
    if not is_torchs(owner, module):
        return f"nothing shows that `{dotted_text(owner)}` has torch's own `zero_grad`"
    if manual_gradients.reads(module, outside=loop):
        return "this file reads gradients without checking for None"
    if module.torch < _CAN_FREE:
        return "this project supports a torch version whose `zero_grad` cannot free gradients"
    argument = "" if module.torch >= _FREES_BY_DEFAULT else "set_to_none=True"
    call = f"{dotted_text(owner)}.zero_grad({argument})"
    return f"Call `{call}`", edits.replace_statement(module, loop, call)


# loops that zero gradients ------------------------------------------------------------------------


def _sounds_like_parameters(source: cst.BaseExpression, module: Module) -> bool:
    """Whether a loop is over parameters: `model.parameters()`, `group["params"]`, `params`."""
    return any(
        isinstance(node, (cst.Name, cst.SimpleString)) and "param" in node.value.lower()
        for node in module.within(source)
    )


def _zeroes_each(loop: cst.For, module: Module) -> bool:
    """Whether the loop's body only zeroes gradients, possibly with a test for None and an inner
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
            yield from (_effect(part, name, module) for part in statement.body)
        elif isinstance(statement, cst.BaseSmallStatement):
            yield _effect(statement, name, module)
        elif isinstance(statement, cst.If) and statement.orelse is None:
            yield from _tested(statement, name, module)
        elif isinstance(statement, cst.For):
            yield _zeroes_each(statement, module) or None
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
    method = method_name(call)
    if not method or not is_grad_of(receiver(call), name):
        return None
    if method in _NO_EFFECT:
        return False
    fills = method == "fill_" and len(call.args) == 1
    return method == "zero_" or (fills and module.literal(call.args[0].value) == 0) or None


def _assigned(assign: cst.Assign, name: str, module: Module) -> bool | None:
    """`p.grad = torch.zeros_like(p)` zeroes on each step; before the loop it creates gradients
    that other code adds to."""
    if not is_grad_of(assign.targets[0].target, name) or not isinstance(assign.value, cst.Call):
        return None
    makes = module.calls(assign.value, "torch.zeros_like", "torch.zeros")
    return True if makes and module.step_loop(assign) is not None else None

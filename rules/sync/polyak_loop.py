"""Average all parameters in one call, not one by one on every step.

## What it does
Reports a loop over the parameters of a model that updates a moving average of each, on every
training step: for a target network, a momentum encoder, a teacher, or the weights to evaluate with.
As a hint also `update` of timm's `ModelEma` and `ModelEmaV2`, and `EMAModel` of diffusers without
`foreach=True`, which have such a loop. Where nothing shows which steps call it, as in the method
`update` of a class, it is a hint.

## Why it is slow
Each parameter takes two or more kernels, and Python starts them one after the other. A network with
300 parameters needs 600 kernels or more for one average, most of them so small that the GPU waits
for the next. The functions of torch for lists of tensors do the same with a few kernels for all
parameters together. Measured on a CPU for 400 small tensors: 5.7 times as fast.

## Example
```python
average = copy.deepcopy(model)
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
    with torch.no_grad():
        for kept, current in zip(average.parameters(), model.parameters()):
            kept.mul_(0.999).add_(current, alpha=1 - 0.999)
```

## Use instead
```python
average = copy.deepcopy(model)
update = torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
    update(list(average.parameters()), list(model.parameters()), 0)
```
`torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=update)` keeps the copy as well. Both need
torch 2.1.

## When it is silent
Under `if step % 100 == 0` and similar conditions; for a plain copy of all parameters; where the
weights do not add up to 1, and for averages of gradients, as in an optimizer; for buffers; in tests
and documentation.

## Fix safety
**Unsafe**: `get_ema_multi_avg_fn` computes `average + (1 - decay) * (x - average)`, which rounds
differently. It also needs both lists to have the same length, dtypes and device. There is a fix
where the loop only computes one average of `zip(a.parameters(), b.parameters())`, or of names
that were given `list(a.parameters())`; before torch 2.1 there is none.

## How verify confirms it
It measures the fix, on a CPU too; losses of the trained network are bitwise equal as long as the
average takes no part in them.

## References
- PyTorch documentation, `torch.optim`: "Weight Averaging (SWA and EMA)"
"""

import ast
import math
from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.parameter_loops import goes_over_parameters
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import (
    Applicability,
    Context,
    Fix,
    Module,
    Outline,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    edits,
    once,
    outlines,
)

_ITSELF = frozenset({"data", "detach"})
"""What means the same values of a tensor."""
_WORDS = (r"parameters\(|state_dict\(", r"\+|add_\(|sub_\(|lerp")
_AVERAGING = frozenset({"add_", "lerp", "lerp_", "sub_"})
_GRADIENTS = frozenset({"d_p", "grad", "grads"})
_MODEL_EMA = frozenset(
    f"timm.utils.{part}{name}" for part in ("", "model_ema.") for name in ("ModelEma", "ModelEmaV2")
)
_EMA_MODEL = ("diffusers.training_utils.EMAModel", "diffusers.EMAModel")


class _Part(NamedTuple):
    """One of the two tensors of an average, and the code of its weight."""

    tensor: cst.BaseExpression
    weight: str


_Average = tuple[_Part, _Part]


def _may_average_in_loop(outline: Outline) -> bool:
    """Whether a loop has something of the form of an average: a sum of two products, a call such as
    `lerp_`, or a product and a sum in two lines."""
    for loop in outline.nodes(ast.For):
        nodes = [node for statement in loop.body for node in ast.walk(statement)]
        changes = [type(node.op) for node in nodes if isinstance(node, ast.AugAssign)]
        if ast.Mult in changes and ast.Add in changes:
            return True
        if any(isinstance(node, ast.BinOp | ast.Call) and _may_average(node) for node in nodes):
            return True
    return because(False, "no loop has anything of the form of an average")


def _may_average(node: ast.BinOp | ast.Call) -> bool:
    if isinstance(node, ast.Call):
        return outlines.chain(node.func).rpartition(".")[2] in _AVERAGING
    sides = (node.left, node.right) if isinstance(node.op, ast.Add) else ()
    products = [isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult) for each in sides]
    return bool(products) and all(products)


rule = Rule(
    code="TL216",
    summary="a moving average of the parameters is computed one by one on every training step",
    fix=Applicability.UNSAFE,
    else_hint=(Context.HOT,),
    triggers=Triggers(_WORDS, on_demand=_WORDS, outline=_may_average_in_loop),
    may_change="the average rounds differently",
)


@rule.on(cst.For)
def averages_parameters_one_by_one(loop: cst.For, module: Module) -> Iterable[Reported]:
    if not goes_over_parameters(loop, module):
        return ()
    if not _averages(loop, module):
        return because((), "nothing in the loop is known to be an average of two tensors")
    if any(_is_gradient(node, module) for node in module.within(loop)):
        return because((), "it averages gradients, as an optimizer does")
    guard = module.guard(loop)
    if guard is not None:
        return because((), "{} lets it run only now and then", guard)
    message = (
        "This loop averages the parameters one by one on every step; average them in one call, by "
        "`torch.optim.swa_utils.get_ema_multi_avg_fn`."
    )
    fix = _in_one_call(loop, module) if module.torch >= (2, 1) else "that needs torch 2.1"
    return rule.report(module, loop, message, fix=fix)


@rule.on(cst.Call)
def has_diffusers_average_them(call: cst.Call, module: Module) -> Iterable[Reported]:
    if not module.calls(call, *_EMA_MODEL):
        return ()
    foreach = module.argument(call, "foreach")
    if foreach is not None and module.literal(foreach) is not False:
        return because((), "it is told whether to take all parameters at once")
    message = (
        "`EMAModel` averages the parameters one by one on every step; pass `foreach=True`, which "
        "needs diffusers 0.28."
    )
    return rule.report(module, call, message, tier=Tier.HINT, fix="diffusers may be older")


@rule.on(cst.Call)
def has_timm_average_them(call: cst.Call, module: Module) -> Iterable[Reported]:
    if method_name(call) != "update" or not dotted_text(receiver(call)).lower().endswith("ema"):
        return ()
    if not _has_model_ema(module):
        return because((), "the file has no `ModelEma` of timm")
    message = (
        "`ModelEma` of timm averages the parameters one by one on every step; `ModelEmaV3` with "
        "`foreach=True` takes all at once."
    )
    return rule.report(module, call, message, tier=Tier.HINT, fix="it is made elsewhere")


@once
def _has_model_ema(module: Module) -> bool:
    """Whether a file makes a `ModelEma` of timm, or says that it is given one."""
    words = (word for name in ("ModelEma", "ModelEmaV2") for word in module.spelled(name))
    return any(not _MODEL_EMA.isdisjoint(module.resolve(word)) for word in words)


def _is_gradient(node: cst.CSTNode, module: Module) -> bool:
    """`grad`, as optimizers call what they average, not `p.grad`."""
    named = isinstance(node, cst.Name) and node.value in _GRADIENTS
    return named and not isinstance(module.parent(node), cst.Attribute)


# averages -----------------------------------------------------------------------------------------


def _averages(loop: cst.For, module: Module) -> bool:
    """Whether a loop computes a moving average."""
    scaled = {
        module.source(node.target): node.value
        for node in module.within(loop.body)
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.MultiplyAssign)
    }
    for node in module.within(loop.body):
        if _average_of(node, module) is not None:
            return True
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign):
            decay = scaled.get(module.source(node.target))
            rests = [weight for weight, _ in _factors(node.value)]
            if decay is not None and any(_add_up(decay, rest, module) for rest in rests):
                return True
    return False


def _average_of(node: cst.CSTNode, module: Module) -> _Average | None:
    """What an expression averages, by weights that add up to 1; None if it is not an average."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return _sum(node, module)
    if not isinstance(node, cst.Call) or not method_name(node) or not node.args:
        return None
    owner, method, given = receiver(node), method_name(node), node.args[0].value
    if len(node.args) == 3 and module.calls(node, "torch.lerp"):
        weight = node.args[2].value
        end = _Part(node.args[1].value, module.source(weight))
        return _Part(given, _rest_of(weight, module)), end
    if method in ("lerp", "lerp_") and len(node.args) == 2:
        weight = node.args[1].value
        return _Part(owner, _rest_of(weight, module)), _Part(given, module.source(weight))
    for weight, moved in _factors(given) if method == "add_" else ():
        if (
            isinstance(moved, cst.BinaryOperation)
            and isinstance(moved.operator, cst.Subtract)
            and _are_alike(moved.right, owner, module)
        ):
            part = _Part(moved.left, module.source(weight))
            return _Part(owner, _rest_of(weight, module)), part
    if method == "add_" and isinstance(owner, cst.Call) and method_name(owner) == "mul_":
        return _chained(owner, given, module.argument(node, "alpha"), module)
    if method == "sub_":
        for weight, moved in _factors(given):
            if isinstance(moved, cst.BinaryOperation) and _are_alike(moved.left, owner, module):
                return _Part(owner, _rest_of(weight, module)), _Part(moved.right, "")
    return None


def _sum(node: cst.BinaryOperation, module: Module) -> _Average | None:
    """`m * average + (1 - m) * x`, in whatever order."""
    for weight, tensor in _factors(node.left):
        for other_weight, other in _factors(node.right):
            if _add_up(weight, other_weight, module):
                part = _Part(other, module.source(other_weight))
                return _Part(tensor, module.source(weight)), part
    return None


def _chained(
    scaled: cst.Call, added: cst.BaseExpression, alpha: cst.BaseExpression | None, module: Module
) -> _Average | None:
    """`average.mul_(m).add_(x, alpha=1 - m)`, `average.mul_(m).add_((1 - m) * x)`."""
    decay = module.argument(scaled, "value", 0)
    for weight, tensor in _factors(added) if alpha is None else [(alpha, added)]:
        if decay is not None and _add_up(decay, weight, module):
            average = _Part(receiver(scaled), module.source(decay))
            return average, _Part(tensor, module.source(weight))
    return None


def _factors(node: cst.BaseExpression) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Both ways to take `a * b` for a weight and a tensor."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return []
    return [(node.left, node.right), (node.right, node.left)]


def _add_up(one: cst.BaseExpression, other: cst.BaseExpression, module: Module) -> bool:
    """Whether one of two weights is 1 minus the other, as it is written or as numbers."""
    first, second = module.literal(one), module.literal(other)
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first + second, 1)
    return _is_rest(one, other, module) or _is_rest(other, one, module)


def _is_rest(rest: cst.BaseExpression, weight: cst.BaseExpression, module: Module) -> bool:
    """`1 - weight`, or a name for it."""
    made = module.flow.reaching(rest)
    meant = made[0].value if len(made) == 1 else rest
    return (
        isinstance(meant, cst.BinaryOperation)
        and isinstance(meant.operator, cst.Subtract)
        and module.literal(meant.left) == 1
        and _are_alike(meant.right, weight, module)
    )


def _are_alike(one: cst.BaseExpression, other: cst.BaseExpression, module: Module) -> bool:
    return module.source(one) == module.source(other)


def _rest_of(weight: cst.BaseExpression, module: Module) -> str:
    """The code of 1 minus a weight."""
    text = module.source(weight)
    return f"1 - ({text})" if isinstance(weight, cst.BinaryOperation) else f"1 - {text}"


def _in_one_call(loop: cst.For, module: Module) -> Fix | str:
    """The same average of all parameters, if the loop does nothing else."""
    lists, statements = _zipped(loop, module), [*loop.body.body]
    if isinstance(statements[0], cst.SimpleStatementLine):
        statements = [*statements[0].body, *statements[1:]]
    if len(statements) > 1 or loop.orelse is not None:
        return "the loop does more than one average of two lists of parameters"
    if len(lists) != 2:
        return (
            f"nothing shows that `{module.source(loop.iter)}` pairs two lists of parameters, as "
            "`zip(a.parameters(), b.parameters())` does"
        )
    changed, parts = _changed_by(statements[0], module)
    if lists.keys() != parts.keys() or changed not in parts:
        return "nothing shows that its statement averages just the two parameters of each pair"
    (current,) = (code for name, code in lists.items() if name != changed)
    indent = edits.indentation(module, module.offsets(loop)[0])
    call = f"torch.optim.swa_utils.get_ema_multi_avg_fn({parts[changed]})("
    text = f"{call}\n{indent}    {lists[changed]}, {current}, 0\n{indent})"
    changes = (edits.replace_statement(module, loop, text), *edits.add_import(module, "torch"))
    return Fix(Applicability.UNSAFE, "Average all parameters in one call", changes)


def _zipped(loop: cst.For, module: Module) -> dict[str, str]:
    """By name: the list that a loop over `zip(a.parameters(), b.parameters())` takes each from."""
    names = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    if not isinstance(loop.iter, cst.Call) or not module.calls(loop.iter, "builtins.zip"):
        return {}
    return {
        _name_of(name.value): _as_list(arg.value, module)
        for name, arg in zip(names, loop.iter.args, strict=False)
        if _is_list_of_parameters(arg.value, module)
    }


def _as_list(parameters: cst.BaseExpression, module: Module) -> str:
    code = module.source(parameters)
    goes_once = isinstance(parameters, cst.Call) and method_name(parameters) == "parameters"
    return f"list({code})" if goes_once else code


def _is_list_of_parameters(node: cst.BaseExpression | None, module: Module) -> bool:
    """`model.parameters()`, `list(model.parameters())`, and a name for such a list, but not for
    `model.parameters()`, which can be gone through only once."""
    if isinstance(node, cst.Name):
        made = module.flow.reaching(node)
        node = made[0].value if len(made) == 1 and not made[0].path else None
        if not isinstance(node, cst.Call) or not module.calls(node, "builtins.list"):
            return False
    if isinstance(node, cst.Call) and len(node.args) == 1 and module.calls(node, "builtins.list"):
        node = node.args[0].value
    return isinstance(node, cst.Call) and method_name(node) == "parameters"


def _changed_by(statement: cst.CSTNode | None, module: Module) -> tuple[str, dict[str, str]]:
    """The name of the average that a statement updates, and the weights by the names."""
    value = getattr(statement, "value", None)
    changed: cst.BaseExpression | None = None
    if isinstance(statement, cst.Assign):
        changed = statement.targets[0].target
    elif isinstance(value, cst.Call) and method_name(value) == "copy_":
        changed, value = receiver(value), module.argument(value, "src", 0)
    parts = _average_of(value, module) if value is not None else None
    if parts is None:
        return "", {}
    weights = {_name_of(part.tensor): part.weight for part in parts}
    return _name_of(changed or parts[0].tensor), weights


def _name_of(tensor: cst.CSTNode) -> str:
    """`p` for `p.data` and `p.detach()`; empty for anything else that has no name."""
    while isinstance(tensor, cst.Attribute | cst.Call):
        if isinstance(tensor, cst.Attribute) and tensor.attr.value not in _ITSELF:
            return ""
        tensor = tensor.func if isinstance(tensor, cst.Call) else tensor.value
    return tensor.value if isinstance(tensor, cst.Name) else ""

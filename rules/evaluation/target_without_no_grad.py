"""Evaluate target networks and teachers under `torch.no_grad()`.

## What it does
Reports the forward pass of a model in a training step whose result is only used after `.detach()`
or `.data`: of a target network, a teacher, or a generator whose images train the discriminator.

## Why it is slow
The forward pass builds a graph and keeps its activations, and no backward pass goes through them,
since `.detach()` cuts the result off. Under `torch.no_grad()` none of this happens: the pass takes
less time, and the step needs less memory.

## Example
```python
for state, action, reward, next_state in loader:
    next_value = model(next_state.to(device)).max(1)[0]
    expected = (reward.to(device) + 0.99 * next_value).detach()
    loss = criterion(model(state.to(device)).gather(1, action), expected)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for state, action, reward, next_state in loader:
    with torch.no_grad():
        next_value = model(next_state.to(device)).max(1)[0]
    expected = reward.to(device) + 0.99 * next_value
    loss = criterion(model(state.to(device)).gather(1, action), expected)
    loss.backward()
    optimizer.step()
```

## When it is silent
Where gradients are off already, also because of who calls the function; for modules whose
parameters are frozen; if the result is also used with its graph, returned, stored or given to a
function that is not torch's; if it goes to the host, as an action for an environment does; outside
of training steps, and in tests.

## Fix safety
**Unsafe**: no value changes, but a model that computes gradients in its `forward` then raises an
error. There is a fix if the statement computes nothing else and shares its lines with no other
code.

## How verify confirms it
It measures the fix, on the CPU as well as on a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
- `torch.Tensor.detach`
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.freezing import is_frozen
from torchlint.analysis.training.grad_modes import may_be_off
from torchlint.analysis.training.model_calls import runs_model
from torchlint.analysis.uses import method_name
from torchlint.rule import Applicability, Context, Fix, Module, Reported, Rule, because, edits

_CUTS = frozenset({"detach", "detach_"})
_TO_HOST = frozenset({"cpu", "item", "numpy", "tolist"})
_TAKES_TENSOR = frozenset({"add", "div", "gather", "mul", "sub"})
_MOST_NAMES = 6
_PASSED_ON = (
    *(cst.Arg, cst.BinaryOperation, cst.Comparison, cst.ComparisonTarget, cst.Element, cst.Index),
    *(cst.SubscriptElement, cst.Subscript, cst.Tuple, cst.List, cst.UnaryOperation),
)
"""Expressions that make a tensor of a tensor."""


rule = Rule(
    code="TL713",
    summary="a forward pass records a graph, and its result is detached",
    fix=Applicability.UNSAFE,
    contexts=(Context.HOT,),
    triggers=(r"\.detach_?\(\)|\.data\b",),
)
_MESSAGE = (
    "This forward pass records a graph that `.detach()` throws away; run it under "
    "`torch.no_grad()`."
)


@rule.on(cst.Call)
def is_detached_afterwards(call: cst.Call, module: Module) -> Iterable[Reported]:
    if not runs_model(call, module):
        return ()
    if _is_given_to_model(call, module):
        return because((), "its result goes into another model: ask about that call")
    if is_frozen(call.func, module):
        return because((), "the parameters of {:code} are frozen", call.func)
    if not _is_detached(call, module):
        said = "nothing shows that its result is only used on the device, and detached"
        return because((), said)
    if may_be_off(call, module):
        return ()
    return rule.report(module, call, _MESSAGE, fix=_wrapped(call, module))


def _is_given_to_model(call: cst.Call, module: Module) -> bool:
    """`critic(state, actor(state))`: the outer pass is reported."""
    outer = module.call_with(call)
    return outer is not None and runs_model(outer, module)


def _wrapped(call: cst.Call, module: Module) -> Fix | str:
    """The statement under `torch.no_grad()`, if all that it computes is detached; or why not."""
    statement, cut = module.small_statement(call), _cut_of(call, module)
    if statement is None or cut not in (statement, getattr(statement, "value", None)):
        return "the statement may also compute what needs gradients"
    edit = edits.put_under(module, statement, "with torch.no_grad():")
    if edit is None:
        return "there is other code on the line of the statement"
    changes = (*edits.add_import(module, "torch"), edit)
    return Fix(Applicability.UNSAFE, "Run it under `torch.no_grad()`", changes)


# what is detached ---------------------------------------------------------------------------------


def _cut_of(node: cst.BaseExpression, module: Module) -> cst.CSTNode | None:
    """The expression `(…).detach()` or `(…).data` around an expression, else the assignment of what
    is computed of it; None if something else may keep its graph."""
    child: cst.CSTNode = node
    for above in module.ancestors(node):
        if isinstance(above, cst.Assign | cst.AnnAssign):
            return above if child is above.value else None
        if isinstance(above, cst.Attribute):
            if above.attr.value == "data":
                return above
            if above.attr.value in _TO_HOST or not isinstance(module.parent(above), cst.Call):
                return None
        elif isinstance(above, cst.Call):
            if method_name(above) in _CUTS:
                return above
            if child is not above.func and not _computes(above, module):
                return None
        elif not isinstance(above, _PASSED_ON):
            return None
        child = above
    return None


def _computes(call: cst.Call, module: Module) -> bool:
    """Whether a call makes a tensor of its arguments: of torch, a model or a tensor."""
    if runs_model(call, module) or method_name(call) in _TAKES_TENSOR:
        return True
    names = module.resolve(call.func)
    return bool(names) and all(name.startswith("torch.") for name in names)


def _reads_detached(assign: cst.Assign | cst.AnnAssign, module: Module, names: int) -> bool:
    """Whether all reads of what an assignment puts into names are detached, and there are some."""
    parts: list[cst.BaseExpression] = []
    for target in assign_targets(assign):
        elements = target.elements if isinstance(target, cst.Tuple) else ()
        parts += [each.value for each in elements] or [target]
    reads = [read for part in parts for read in module.reads(assign, dotted_text(part))]
    return (
        names > 0 and bool(reads) and all(_is_detached(read, module, names - 1) for read in reads)
    )


def _is_detached(read: cst.BaseExpression, module: Module, names: int = _MOST_NAMES) -> bool:
    """Whether each use of a tensor goes through `.detach()` or `.data`, and stays on the device: an
    action for an environment is one small forward pass."""
    cut = _cut_of(read, module)
    if isinstance(cut, cst.Assign | cst.AnnAssign):
        return _reads_detached(cut, module, names)
    parent = None if cut is None else module.parent(cut)
    moved = isinstance(parent, cst.Attribute) and parent.attr.value in _TO_HOST
    return cut is not None and not moved

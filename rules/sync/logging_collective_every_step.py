"""Average a loss over the processes when it is logged, not on every step.

## What it does
Reports a loss or metric that all processes exchange on every training step although it is only
logged: `dist.all_reduce(loss)`, `accelerator.gather(loss).mean()`, `reduce_dict(losses)`, and
`self.log(…, sync_dist=True)` of Lightning.

## Why it is slow
In a collective each process waits for the slowest one, and the exchange of gradients has to wait in
line with it. A single number costs as much as a small tensor does: what takes the time is the start
and the wait. If the number is then read, the host waits as well, once more on every step.

## Example
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean_loss = loss.detach().clone()
    dist.all_reduce(mean_loss)
    total += mean_loss
```

## Use instead
```python
total = 0.0
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total += loss.detach()
dist.all_reduce(total)
```
In Lightning, `self.log(…, on_step=False, on_epoch=True, sync_dist=True)` exchanges once per epoch.

## When it is silent
Under `if step % 100 == 0` and similar conditions; in evaluation; for what no name calls a loss or a
metric, such as gradients and counts of targets; if the backward pass comes later; if the result
decides something, as in early stopping; in tests and documentation. It is a hint where the
result goes somewhere that is not looked at, and where the same function exchanges something that
each step needs, which costs the wait in any case.

## Fix safety
There is no fix: only you know how often the number is needed.

## How verify confirms it
There is no fix to measure. Give it your own change, with several processes: `torchlint verify
train.py --with change.patch --nproc-per-node 2`.

## References
- PyTorch documentation, `torch.distributed`: "Collective functions"
- Lightning documentation, "Logging": `sync_dist` "may lead to a significant communication overhead"
- Threads in which the exchange of logged losses was the cost: joliGEN #374, timm #2340
"""

import re
from bisect import bisect_right

import libcst as cst

from torchlint.analysis.steps.guards import words
from torchlint.analysis.training.purposes import Purpose, is_shown_rarely, purpose_of_value
from torchlint.analysis.uses import method_name
from torchlint.rule import Context, Match, Module, Rule, because, method, once, passes

_COLLECTIVES = ("all_reduce", "all_gather", "gather", "gather_for_metrics", "reduce")
_OWN = ("reduce_dict", "reduce_mean", "reduce_tensor", "all_reduce_mean")
"""What people call their own functions around a collective."""
_OTHERS = ("torch.gather", "torch.distributed.nn.", "functools.")
_IN_PLACE = frozenset({"all_reduce", "reduce"})
_LOGGED = re.compile(r"(?:^|_)(?:loss|losses|acc\d?|accuracy|metrics?)(?:_|$)")
_SHOWN = frozenset(
    {Purpose.SUM, Purpose.LIST, Purpose.STORED, Purpose.LOGGED, Purpose.TEXT, Purpose.SHOWN_RARELY}
)
_NOT_KNOWN = frozenset({Purpose.RETURNED, Purpose.COEFFICIENT, Purpose.UNKNOWN})


def _exchanges_a_metric(match: Match) -> bool:
    """Whether what the processes exchange is called a loss or a metric."""
    given = words(match.call.args[0].value) if match.call.args else []
    if not any(map(_LOGGED.search, given)):
        return because(False, "what it exchanges is not called a loss or a metric")
    names = match.module.resolve(match.call.func)
    other = any(each.startswith(_OTHERS) for each in names)
    return not other or because(False, "{:code} exchanges nothing to log", match.call.func)


def _is_only_logged(match: Match) -> set[Purpose]:
    """What the result is for, if that may be to log it alone."""
    purposes = _purposes(match)
    if not purposes <= _SHOWN | _NOT_KNOWN:
        return because(set(), "the result is used for more than logs")
    backward = _backward_later(match)
    said = "the backward pass needs the result, {}"
    return purposes if backward is None else because(set(), said, backward)


def _goes_elsewhere(match: Match) -> bool:
    elsewhere = not match.found(set) <= _SHOWN
    return elsewhere and because(True, "nothing shows that the result is only logged")


def _is_logged_on_each_step(match: Match) -> bool:
    on_step = match.module.argument(match.call, "on_step")
    if on_step is None or match.module.literal(on_step) is True:
        return True
    return because(False, "`on_step` is {:code} here", on_step)


def _joins_another(match: Match) -> bool:
    """Whether the function exchanges something that each step needs, which waits in any case."""
    module, function = match.module, match.module.function(match.call)
    calls = (call for name in _COLLECTIVES for call in module.calls_by_method.get(name, ()))
    for call in calls:
        near = module.function(call) is function and call.args
        if near and not _exchanges_a_metric(Match(call, module)):
            return because(True, "the processes wait for each other anyway, in {}", call)
    return False


rule = Rule(
    code="TL214",
    summary="processes exchange a loss or metric on every training step, only to log it",
    finds=(
        passes(
            "sync_dist",
            True,
            where=(_is_logged_on_each_step,),
            message="`sync_dist=True` averages this value over all processes on every step; log it "
            "with `on_step=False, on_epoch=True`, or let each process log its own.",
        ),
        method(
            *_COLLECTIVES,
            *_OWN,
            where=(_exchanges_a_metric, _is_only_logged),
            hint_if=(_goes_elsewhere, _joins_another),
        ),
    ),
    message="All processes exchange this value on every step; where it is only shown, do so every "
    "few steps, or add it up and exchange the sum.",
    contexts=(Context.HOT,),
    needs_gpu=True,
)


# what is exchanged --------------------------------------------------------------------------------


def _purposes(match: Match) -> set[Purpose]:
    """What the result is for: of the call, or of the tensor that it changes in place."""
    module, result = match.module, _with_methods(match.call, match.module)
    if not isinstance(module.parent(result), cst.Expr):
        return {purpose_of_value(result, module)}
    changed = next(each for each in module.within(match.call.args[0]) if type(each) is cst.Name)
    orders, later = _uses(module, changed.value, module.function(match.call))
    return later[bisect_right(orders, module.order(changed))] or {Purpose.UNKNOWN}


@once
def _uses(
    module: Module, name: str, function: cst.FunctionDef | None
) -> tuple[list[int], list[set[Purpose]]]:
    """Where a function uses a name, and what it uses the name for from each of these places on."""
    orders: list[int] = []
    later: list[set[Purpose]] = [set()]
    for use in reversed(module.spelled(name, near=function)):
        sets = isinstance(module.parent(use), cst.AssignTarget | cst.AugAssign)
        if module.function(use) is function and not sets:
            orders.append(module.order(use))
            later.append(later[-1] | {_purpose(use, module)})
    return orders[::-1], later[::-1]


def _purpose(use: cst.Name, module: Module) -> Purpose:
    if is_shown_rarely(use, module):
        return Purpose.SHOWN_RARELY
    return purpose_of_value(_with_methods(use, module), module)


def _with_methods(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`gather(x).mean().item()` for the call of `gather` in it."""
    parent = module.parent(node)
    while isinstance(parent, cst.Attribute | cst.Call):
        node, parent = parent, module.parent(parent)
    return node


def _backward_later(match: Match) -> cst.Call | None:
    """The backward pass that starts from the exchanged loss: from the result, or from what the call
    changes in place."""
    module, function = match.module, match.module.function(match.call)
    last = _last_backwards(module)
    statement = module.small_statement(match.call)
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    exchanged = [word for each in targets for word in words(each.target)]
    if not targets or method_name(match.call) in _IN_PLACE:
        exchanged += words(match.call.args[0].value)
    calls, here = (last.get((function, word)) for word in exchanged), module.order(match.call)
    return next((call for call in calls if call and module.order(call) > here), None)


@once
def _last_backwards(module: Module) -> dict[tuple[cst.FunctionDef | None, str], cst.Call]:
    """By function and word: the last backward pass that mentions the word."""
    return {
        (module.function(call), word): call
        for call in sorted(module.loops.backward_calls, key=module.order)
        for word in words(call)
    }

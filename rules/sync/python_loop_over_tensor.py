"""Let torch go over the elements of a tensor, not Python.

## What it does
Reports Python's `sum`, `max`, `min`, `any`, `all`, `sorted` and `set` of a tensor on each training
step, and loops over the elements of a tensor or the samples of a batch in which each round waits
for the GPU: by `.item()`, `torch.unique`, `nonzero`, a mask, a slice that ends at an element of a
tensor, or a size that is one. Also such loops in which each round adds to the same tensor by
`index_add_` or `scatter_add_`, which take all samples at once, or fills its part of a tensor, as in
`mask[i, j] = weights[i]`; and networks that are called once
for each part of a tensor, as in `torch.stack([self.encoder(x) for x in frames])` and
`self.encoder(images[:, i])`.

## Why it is slow
Python takes the elements one by one, and each of them is a tensor with kernels of its own, where
one kernel does for all. `any`, `all`, `max`, `min` and `sorted` also ask each element for its
truth, which waits for the GPU. Measured on a CPU for 4096 elements: 750 times as slow for `sum` and
`max`, 176 times for `all`.

## Example
```python
correct = 0
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    criterion(output, labels).backward()
    optimizer.step()
    optimizer.zero_grad()
    correct += sum(output.argmax(dim=1) == labels)
```

## Use instead
```python
correct = 0
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    output = model(images)
    criterion(output, labels).backward()
    optimizer.step()
    optimizer.zero_grad()
    correct += (output.argmax(dim=1) == labels).sum()
```
A loop over the samples can often become one operation with a mask:
`torch.arange(longest, device=device) < lengths[:, None]` marks the tokens of all sentences at once.
If not, read what it needs for all samples before it, by one `.tolist()`.

## When it is silent
For lists of tensors (`sum(losses)`); for what a model or an unknown function returns, since that
may be a tuple; for `max(lengths)` of a parameter, unless callers pass a tensor on the device or it
is an input of a model that is called like one, and then it is a hint; for `max(a, b)`; in
evaluation; under `if step % 100 == 0` and similar conditions; in tests and documentation; for other
loops that compute without a wait, such as those over time steps, and for those that end early; for
a network that a round gives what another has computed, as in a recurrence.
Loops are hints, since not all can become one operation.

## Fix safety
`any` and `all` become `bool(t.any())` and `bool(t.all())`: **safe**. `sum` of a comparison that
ends as a single number, as in `sum(a == b).item()`, becomes `(a == b).sum()`: **safe**, since whole
numbers are exact. Other sums are **unsafe**: of a matrix, Python adds up the rows, and floats are
added in another order. So are `max` and `min`: torch returns NaN if there is one, Python may not.
There is no fix for `sorted` and `set`, which return a list and a set, and for loops.

## How verify confirms it
It measures the fix, on a CPU too. Losses are bitwise equal if the loop only counts.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
"""

from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.analysis.names import Binding, How
from torchlint.analysis.training.syncs import Operand, operand_of_value
from torchlint.analysis.training.truths import origin_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import TENSORS, Kind
from torchlint.rule import (
    Applicability,
    Context,
    Effect,
    Fix,
    Match,
    Module,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    edits,
)

from ._boolean_masks import is_mask
from ._sample_loops import goes_over_samples, is_one_tensor
from ._tensors_as_numbers import read_as_a_number, taken_for_numbers

_FINDS = frozenset({"argwhere", "masked_select", "nonzero", "unique", "unique_consecutive"})
"""Their results have a size that the host must wait for."""
_READS = frozenset({"item", "tolist"})
_ADDING = frozenset({"index_add_", "scatter_add_"})
_BUILTINS = ("sum", "max", "min", "any", "all", "sorted", "set")
_WAITS = (
    "Each round of this loop waits for the GPU on every step; compute with the whole tensor, or "
    "read what the loop needs by one `.tolist()` before it."
)
_ADDS = (
    "Each round of this loop adds one sample by a kernel of its own on every step; join the "
    "indices and the numbers of all samples, and add once."
)
_FILLS = (
    "Each round of this loop writes its part of a tensor by kernels of its own on every step; "
    "compute all parts by one operation, with an index, a mask or `torch.gather`."
)
_WITHHELD = "whether one operation can do all rounds at once is not known"
_LISTED = "callers may pass a list, which has no such method"
_TRUTHS = ("any", "all")
_ASKED = ("max", "min", "sum", "sorted")


def _takes_a_tensor(match: Match) -> bool:
    args = match.call.args
    if len(args) != 1 or args[0].star:
        return because(False, "it is given more than a single tensor")
    said = "{:code} may be a list or the like, and not a single tensor"
    one = is_one_tensor(args[0].value, match.module)
    return one or because(False, said, args[0].value)


def _message(match: Match) -> str:
    return _instead(_name(match))


def _instead(name: str) -> str:
    instead = {"sorted": "torch.sort", "set": "torch.unique"}.get(name)
    use = f"use `{instead}`" if instead else f"call `.{name}()` of the tensor"
    return f"Python's `{name}` goes over a tensor element by element; {use}."


def _by_torch(match: Match) -> Fix | str:
    """The same by a method of the tensor."""
    name, value = _name(match), match.call.args[0].value
    if name in ("sorted", "set"):
        return f"what uses the {'list' if name == 'sorted' else 'set'} may not take a tensor"
    text = f"{edits.operand(match.module, value)}.{name}()"
    text = f"bool({text})" if name in _TRUTHS else text
    counts = name == "sum" and isinstance(value, cst.Comparison) and _becomes_a_number(match)
    applies = Applicability.SAFE if counts or name in _TRUTHS else Applicability.UNSAFE
    edit = edits.replace(match.module, match.call, text)
    return Fix(applies, f"Call `.{name}()` of the tensor", (edit,))


_Loop = cst.For | cst.ListComp | cst.GeneratorExp
_TRAINS = frozenset({"backward", "step"})

rule = Rule(
    code="TL210",
    effect=Effect.LARGE,
    summary="Python goes over a tensor element by element on every training step",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    finds=(calls(*(f"builtins.{each}" for each in _BUILTINS), where=(_takes_a_tensor,)),),
    message=_message,
    change=_by_torch,
    contexts=(Context.HOT,),
    triggers=Triggers(on_demand=(rf"\b(?:{'|'.join(_BUILTINS)})\(|\bfor\b",)),
    may_change="floats are added in another order, and NaN is found by `max` and `min`",
)


@rule.on(cst.For, cst.ListComp, cst.GeneratorExp)
def takes_each_sample_alone(
    loop: cst.For | cst.ListComp | cst.GeneratorExp, module: Module
) -> Iterable[Reported]:
    head, body = (loop, loop.body) if isinstance(loop, cst.For) else (loop.for_in, loop.elt)
    if not goes_over_samples(head.iter, module):
        return ()
    for node in module.within(loop):
        if isinstance(node, cst.Break | cst.Return):
            return because((), "the loop may end before the last sample, by {}", node)
    operand, message = _waits_for(body, module), _WAITS
    if operand is None:
        operand, message = _adds_to(body, module), _ADDS
    if operand is None:
        operand, message = _fills(loop, module), _FILLS
    if operand is None:
        said = "no round is known to wait for the GPU, or to add to or fill a tensor on it"
        return because((), said)
    for above in module.ancestors(loop):
        if isinstance(above, cst.For) and goes_over_samples(above.iter, module):
            return because((), "the loop around it goes over samples too: ask about {}", above)
    tier = because(Tier.HINT, "a round may need what the one before has computed")
    return rule.report(module, loop, message, tier=tier, withheld=_WITHHELD, operand=operand)


@rule.on(cst.Call)
def takes_a_parameter(call: cst.Call, module: Module) -> Iterable[Reported]:
    """`max(lengths)` of what callers pass."""
    given = call.args[0].value if len(call.args) == 1 else None
    if not isinstance(given, cst.Name) or not module.flow.is_parameter(given):
        return ()
    name = next((each for each in _ASKED if module.calls(call, f"builtins.{each}")), None)
    operand = Operand(False, False, (given.value,))
    if name is None or not module.value(given).only(TENSORS | Kind.PARAMETER):
        return because((), "{:code} is not known to be what a caller passes", call)
    tier = because(Tier.HINT, "callers may also pass a list")
    message = _instead(name)
    return rule.report(module, call, message, tier=tier, withheld=_LISTED, operand=operand)


@rule.on(cst.Call)
def calls_a_network_for_each_part(call: cst.Call, module: Module) -> Iterable[Reported]:
    loop = _network_rounds(call, module)
    if loop is None:
        return ()
    message = (
        f"`{module.source(call.func)}` is called once for each part of a tensor on every step; "
        "call it once with all parts in one batch, and take the result apart."
    )
    tier = because(Tier.HINT, "the parts may have different sizes")
    return rule.report(module, call, message, tier=tier, withheld=_WITHHELD)


# what the loop does -------------------------------------------------------------------------------


def _waits_for(code: cst.CSTNode, module: Module) -> Operand | None:
    """The first tensor on which a part of the code makes the host wait: `x.item()`,
    `torch.unique(x)`, `x[x > 0]`, `x[:length]`."""
    for node in module.within(code):
        for number, _ in taken_for_numbers(node, module):
            for read in read_as_a_number(number, module):
                return read.operand
        waited = _waited_for(node, module)
        value = module.value(waited)
        if value.has(Kind.DEVICE) and not value.has(Kind.HOST):
            return Operand(True, True, ())
        operand = operand_of_value(value)
        if operand is not None:
            return operand
    return None


def _adds_to(code: cst.CSTNode, module: Module) -> Operand | None:
    """The tensor from outside to which a part of the code adds at the places that an index
    names."""
    for call in module.within(code):
        if not isinstance(call, cst.Call) or method_name(call) not in _ADDING:
            continue
        total = receiver(call)
        made = (module.ancestors(each.node) for each in module.flow.reaching(total))
        if isinstance(total, cst.Name) and not any(code in each for each in made):
            return operand_of_value(module.value(total))
    return None


def _fills(loop: _Loop, module: Module) -> Operand | None:
    """The tensor from outside of which each round writes a part that its number names, where no
    round reads what another has written: `x[i, j] = …`, `x[i][j] = …`."""
    for written in module.within(loop):
        if not isinstance(written, cst.AssignTarget) or _trains(loop, module):
            continue
        total: cst.BaseExpression = written.target
        counted = False
        while isinstance(total, cst.Subscript):
            picks = (each.slice.value for each in total.slice if isinstance(each.slice, cst.Index))
            counted = counted or any(_counts(pick, loop, module) for pick in picks)
            total = total.value
        if not counted or not isinstance(total, cst.Name):
            continue
        others = [name for name in _names(loop, module) if name is not total]
        if not any(name.value == total.value or _is_carried(name, loop, module) for name in others):
            return operand_of_value(module.value(total))
    return None


def _waited_for(node: cst.CSTNode, module: Module) -> cst.BaseExpression | None:
    if isinstance(node, cst.Index):
        return node.value if is_mask(node.value, module) else None
    if not isinstance(node, cst.Call) or method_name(node) not in _FINDS | _READS:
        return None
    function = any(name.startswith("torch.") for name in module.resolve(node.func))
    given = module.argument(node, "input", 0) if function else None
    return given or receiver(node)


# builtins that go over elements -------------------------------------------------------------------


def _name(match: Match) -> str:
    assert isinstance(match.call.func, cst.Name)
    return match.call.func.value


def _becomes_a_number(match: Match) -> bool:
    """`sum(…).item()`, `int(sum(…))`: it has one element, so the tensor has one dimension."""
    taker, attribute = match.module.call_with(match.call), match.module.parent(match.call)
    if taker is not None:
        return match.module.calls(taker, "builtins.int", "builtins.float")
    read = match.module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    return isinstance(read, cst.Call) and method_name(read) == "item"


# networks that are called in rounds ---------------------------------------------------------------


def _network_rounds(call: cst.Call, module: Module) -> _Loop | None:
    """The loop around a call of a network that gives it one part of a tensor after the other, where
    no round needs what another has computed."""
    if not call.args or not _is_network(call.func, module):
        return None
    for above in module.ancestors(call):
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            return None
        if isinstance(above, _Loop):
            parts = [arg.value for arg in call.args]
            taken = any(_is_part(each, above, module) for each in parts)
            free = not any(_set_by(name, above, module) for name in _names(call.func, module))
            alone = not any(_is_carried(name, above, module) for name in _names(call, module))
            return above if taken and free and alone and not _trains(above, module) else None
    return None


def _is_network(func: cst.BaseExpression, module: Module) -> bool:
    """`self.encoder`, `self.encoders[0]`, `model`."""
    while isinstance(func, cst.Subscript):
        func = func.value
    value = module.value(func)
    held = value.element if value.has(Kind.CONTAINER) else value
    return held is not None and held.has(Kind.MODULE)


def _is_part(node: cst.BaseExpression, loop: _Loop, module: Module) -> bool:
    """`x[:, i]` where `i` counts the rounds, also by a name; `x` of `torch.stack([f(x) …])`."""
    made = origin_of(node, module)
    if isinstance(made, cst.Subscript):
        tensor = len(made.slice) > 1 or module.value(made.value).only(TENSORS)
        picks = (each.slice.value for each in made.slice if isinstance(each.slice, cst.Index))
        return tensor and any(_counts(each, loop, module) for each in picks)
    if isinstance(loop, cst.For) or not isinstance(node, cst.Name):
        return False
    stacked = module.call_with(loop)
    if stacked is None or not module.calls(stacked, "torch.stack"):
        return False
    return bool(_set_by(node, loop, module)) and not _is_call_of(loop.for_in.iter, "range", module)


def _counts(node: cst.BaseExpression, loop: _Loop, module: Module) -> bool:
    """Whether it is the number of the round: `for i in range(n)`, `for i, name in enumerate(x)`."""
    head = loop if isinstance(loop, cst.For) else loop.for_in
    given = _set_by(node, loop, module) if isinstance(node, cst.Name) else []
    return bool(given) and (
        _is_call_of(head.iter, "range", module)
        or (_is_call_of(head.iter, "enumerate", module) and given[0].path[:1] == (0,))
    )


def _is_call_of(node: cst.BaseExpression, builtin: str, module: Module) -> bool:
    return isinstance(node, cst.Call) and module.calls(node, f"builtins.{builtin}")


def _set_by(name: cst.Name, loop: _Loop, module: Module) -> list[Binding]:
    """What the head of a loop gives a name."""
    head = loop if isinstance(loop, cst.For) else loop.for_in
    given = module.flow.reaching(name)
    return [each for each in given if each.how is How.ITERATION and each.value is head.iter]


def _is_carried(name: cst.Name, loop: _Loop, module: Module) -> bool:
    """Whether one round sets what the next one reads."""
    inside = [loop in module.ancestors(each.node) for each in module.flow.reaching(name)]
    return any(inside) and not all(inside)


def _names(node: cst.CSTNode, module: Module) -> Iterator[cst.Name]:
    return (each for each in module.within(node) if isinstance(each, cst.Name))


def _trains(loop: _Loop, module: Module) -> bool:
    """Whether each round is a training step."""
    return any(method_name(call) in _TRAINS for call in module.calls_within(loop))

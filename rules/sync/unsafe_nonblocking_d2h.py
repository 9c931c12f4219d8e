"""Wait for a copy to the host before you read it.

## What it does
Reports `x.to("cpu", non_blocking=True)` whose result is read before anything waits for the copy,
and the same for `buffer.copy_(x, non_blocking=True)` into a pinned buffer.

## Why it is slow
It is not slow, but wrong: it saves a wait that is needed. Python continues while the GPU still
computes `x` and copies it, and what it reads meanwhile is whatever was in that memory before. The
numbers are right most of the time, and wrong when the GPU is late. (In the other direction,
`x.to("cuda", non_blocking=True)` is safe, since the GPU works in order.)

## Example
```python
for images, labels in loader:
    with torch.no_grad():
        scores = model(images.to(device)).to("cpu", non_blocking=True)
    hits += (scores.argmax(1) == labels).sum()
```

## Use instead
```python
for images, labels in loader:
    with torch.no_grad():
        scores = model(images.to(device)).to("cpu")
    hits += (scores.argmax(1) == labels).sum()
```
To copy in the background, start the copy, do other work, and call `torch.cuda.synchronize()` or
`event.synchronize()` before you read.

## When it is silent
Where the result is only stored, appended or returned; where `synchronize()`, `wait()` and the like
are called between the copy and the first read; where the device is a variable that may be something
other than the CPU; for a buffer that is not pinned, which makes the copy wait; in programs without
an accelerator.

## Fix safety
**Unsafe**: it removes the argument, so Python waits for the copy. Numbers that were read too early
change.

## How verify confirms it
It cannot: the program becomes correct, not faster. What is measured is the wait that was missing.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()", "Other copy
  directions"
"""

from bisect import bisect_left

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import (
    method_behind,
    method_name,
    occurrences,
    reads_of_targets,
    receiver,
)
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import (
    Applicability,
    Argument,
    Context,
    Effect,
    Match,
    Module,
    Rule,
    because,
    method,
    once,
    remove,
)

_MOST_USES = 50
_VIEWS = frozenset("detach view reshape squeeze unsqueeze flatten transpose permute t".split())
_WAITING = ("synchronize", "wait", "wait_event", "wait_stream", "query")
_READERS = ("torch.", "numpy.", "builtins.")
_OPERATORS = (
    cst.BinaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.FormattedStringExpression,
    cst.UnaryOperation,
)
_ASKS = frozenset({"builtins.id", "builtins.isinstance", "builtins.len", "torch.is_tensor"})
_ABOUT = frozenset("shape size dim ndim dtype device numel is_pinned record_stream".split())


def _copies_to_host(match: Match) -> bool:
    """Whether a tensor that may be on the device is copied to the CPU."""
    module, tensor = match.module, match.receiver
    if not any(module.values.is_cpu(arg.value) for arg in match.call.args):
        return because(False, "nothing shows that this copies to the CPU")
    off = module.value(tensor).has(Kind.MODULE | Kind.CPU)
    return not off or off_device(False, tensor, module)


def _fills_pinned(match: Match) -> bool:
    """Whether a tensor of the device is copied into a buffer that the file pins."""
    module, buffer = match.module, match.receiver
    source = argument(match.call, "src", 0)
    if not module.value(source).only(Kind.DEVICE):
        return off_device(False, source, module)
    made = module.flow.reaching(buffer)
    pinned = any(isinstance(each.value, cst.Call) and _pins(each.value) for each in made)
    return pinned or because(False, "nothing shows that {:code} is in pinned memory", buffer)


def _pins(made: cst.Call) -> bool:
    return method_name(made) == "pin_memory" or literal(argument(made, "pin_memory")) is True


def _may_lie_on_host(match: Match) -> bool:
    sure = match.module.value(match.receiver).only(Kind.DEVICE)
    return not sure and off_device(True, match.receiver, match.module)


def _is_read_in_time(match: Match) -> bool:
    """Whether nothing reads the copy, or the code waits for it before."""
    read = _first_read(match.call, match.module)
    if read is None:
        return because(True, "nothing in the same function is known to read the copy")
    wait = _wait_between(match.call, read, match.module)
    said = "{} waits for the copy before it is read, in {:line}"
    return wait is not None and because(True, said, wait, read)


rule = Rule(
    code="TL207",
    effect=Effect.NONE,
    summary="a copy to the host is read before it is certain to be done",
    fix=Applicability.UNSAFE,
    finds=(
        method(
            "to",
            Argument("non_blocking", bad=True),
            where=(_copies_to_host,),
            hint_if=(_may_lie_on_host,),
        ),
        method("copy_", Argument("non_blocking", bad=True), where=(_fills_pinned,)),
    ),
    unless=(_is_read_in_time,),
    message="Python reads this copy to the host while the GPU may still write it; remove "
    "`non_blocking=True`, or synchronize before the read.",
    change=remove,
    contexts=(Context.ACCELERATOR,),
    triggers=(r"\.to\(\({0,9}[^()]{0,100}(?:cpu|host)|device\([\"']cpu|\bpin_memory\b",),
    needs_gpu=True,
    may_change="numbers that were read too early become those that were computed",
)


# reads on the host --------------------------------------------------------------------------------


def _first_read(copy: cst.Call, module: Module) -> cst.CSTNode | None:
    """The first place after a copy, in its function, that reads the numbers of its result."""
    uses = _uses(copy, module)
    later = uses[bisect_left(uses, module.order(copy), key=module.order) :][:_MOST_USES]
    here = (each for each in later if module.function(each) is module.function(copy))
    return next((each for each in here if _is_read(_viewed(each, module), module)), None)


def _wait_between(copy: cst.CSTNode, read: cst.CSTNode, module: Module) -> cst.Call | None:
    """The first call between two places in the text that waits for the device."""
    waits = _waits(module)
    after = waits[bisect_left(waits, module.order(copy), key=module.order) :]
    return after[0] if after and module.order(after[0]) < module.order(read) else None


@once
def _waits(module: Module) -> list[cst.Call]:
    """Where the file waits for the device."""
    calls = (call for name in _WAITING for call in module.calls_by_method.get(name, ()))
    return sorted(calls, key=module.order)


def _uses(copy: cst.Call, module: Module) -> list[cst.BaseExpression]:
    """The copy, or the places that are written like the name that it has, in source order."""
    if method_name(copy) == "copy_":
        filled = receiver(copy)
        return [each for each in occurrences(filled, module) if each is not filled]
    assign = module.parent(_viewed(copy, module))
    return [*reads_of_targets(assign, module)] if isinstance(assign, cst.Assign) else [copy]


def _viewed(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`x.detach()[0]` for the `x` in it, which reads no number yet."""
    while True:
        parent, call = module.parent(node), method_behind(node, module)
        if isinstance(parent, cst.Subscript):
            node = parent
        elif call is not None and method_name(call) in _VIEWS:
            node = call
        else:
            return node


def _is_read(node: cst.BaseExpression, module: Module) -> bool:
    """Whether the numbers of a tensor are read: by its methods, by operators, by torch and NumPy.
    What else it is given to may only keep it."""
    parent = module.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value not in _ABOUT
    call = module.call_with(node)
    if call is not None:
        names = module.resolve(call.func)
        return _ASKS.isdisjoint(names) and any(name.startswith(_READERS) for name in names)
    return isinstance(parent, _OPERATORS)

"""Let the device fill a constant, or copy it there once.

## What it does
Reports `torch.tensor(0.0, device=device)`, `torch.tensor([0.5, 0.5]).to(device)` and the like, with
numbers that are written out in the code, where each training step runs them.

## Why it is slow
`torch.tensor` always creates the numbers in host memory, even if it is given a device. The copy to
the device takes its turn behind all that is queued, and Python waits until it is done, as it does
for `.item()`. A number can be filled in by the device itself: `torch.full((), 0.0, device=device)`
queues one kernel, copies nothing and waits for nothing. A table of numbers can be copied once,
before the first step.

## Example
```python
class Net(nn.Module):
    def forward(self, x):
        mean = torch.tensor([0.485, 0.456, 0.406], device=x.device)
        return self.layers(x - mean)


net = Net().to(device)
for images, labels in loader:
    total = torch.tensor(0.0, device=device)
    loss = total + criterion(net(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
```

## Use instead
```python
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        mean = torch.tensor([0.485, 0.456, 0.406])
        self.register_buffer("mean", mean, persistent=False)

    def forward(self, x):
        return self.layers(x - self.mean)


net = Net().to(device)
for images, labels in loader:
    total = torch.full((), 0.0, device=device)
    loss = total + criterion(net(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
```

## When it is silent
Outside of code that runs on each training step; under `if step % 100 == 0` and similar conditions;
in evaluation; in tests; if the device is the CPU; where a number is computed, since it may change.
It is a hint: where Python waits for the device on the next line anyway, little is gained.

## Fix safety
**Safe**: if all numbers are the same, `torch.full` creates a tensor of the same shape, type and
values. The fix writes the type of integers and booleans out. There is no fix for other tables: only
you know whether they should become buffers, and whether checkpoints should hold them.

## How verify confirms it
It measures the fix, which needs a GPU: on a CPU nothing is copied. The numbers are bitwise equal.

## References
- PyTorch issue 120996, "Unnecessary CUDA synchronization, or missing warnings", which compares
  `torch.tensor` and `torch.full`; and issue 190217
- PyTorch documentation, `torch.full`
- PyTorch documentation, `torch.nn.Module.register_buffer`
"""

from itertools import chain

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, argument, literal
from torchlint.analysis.training.transfers import names_device, transfer_behind
from torchlint.rule import (
    Applicability,
    Context,
    Effect,
    Fix,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    edits,
)

_NUMBERS = (bool, int, float, complex)


def _constants(match: Match) -> list[object]:
    """The numbers that are written out, if the tensor is made of nothing else."""
    given = [arg.value for arg in match.call.args if arg.keyword is None]
    numbers = _numbers(given[0], match.module) if len(given) == 1 else []
    said = "{:code} is not made of written numbers alone"
    return numbers or because([], said, given[0] if given else match.call)


def _goes_to_device(match: Match) -> bool:
    device = argument(match.call, "device")
    if device is None:
        moved = transfer_behind(match.call, match.module) is not None
        return moved or because(False, "no copy to a device follows on it in the same statement")
    said = "nothing shows that {:code} is an accelerator"
    return names_device(device, match.module) or because(False, said, device)


def _numbers(node: cst.BaseExpression, module: Module) -> list[object]:
    """The numbers in nested lists; none if there is anything else."""
    if isinstance(node, cst.List | cst.Tuple):
        plain = all(isinstance(each, cst.Element) for each in node.elements)
        parts = [_numbers(each.value, module) for each in node.elements] if plain else [[]]
        return list(chain(*parts)) if all(parts) else []
    if isinstance(node, cst.Call) and module.calls(node, "builtins.float"):  # `float("inf")`
        written = all(literal(arg.value) is not UNKNOWN for arg in node.args)
        return [module.source(node)] if written else []
    known = literal(node)
    return [known] if isinstance(known, _NUMBERS) else []


def _message(match: Match) -> str:
    name = match.module.source(match.call.func)
    fact = f"`{name}` copies a constant to the device on every step, and Python waits for that"
    if len(set(map(repr, match.found(list)))) == 1:
        return f"{fact}; let `torch.full` fill it there."
    return f"{fact}; create it once, as a buffer or before the first step."


def _fill(match: Match) -> Fix | str:
    """Let `torch.full` fill the tensor, if all numbers are the same; or why not."""
    call, module = match.call, match.module
    data = call.args[0].value
    first = data
    shape: tuple[int, ...] = ()
    while isinstance(first, cst.List | cst.Tuple):
        shape, first = (*shape, len(first.elements)), first.elements[0].value
    numbers = match.found(list)
    if len(set(map(repr, numbers))) > 1:
        return "register a buffer, or create it before the first step"
    if not isinstance(call.func, cst.Attribute):
        return "`torch` itself may not be imported here"
    if argument(call, "device") is None:
        return "let `torch.full` fill it with `device=`, and remove the copy"
    given = [str(shape), edits.value(module, first)]
    if isinstance(numbers[0], int) and argument(call, "dtype") is None:
        kind = "bool" if isinstance(numbers[0], bool) else "int64"
        given.append(f"dtype={edits.operand(module, call.func.value)}.{kind}")
    changes = (
        edits.replace(module, call.func.attr, "full"),
        edits.replace_argument(module, call.args[0], *given),
    )
    return Fix(Applicability.SAFE, "Let the device fill it", changes)


rule = Rule(
    code="TL213",
    effect=Effect.TINY,
    summary="a constant is copied to the device on every training step",
    tier=Tier.HINT,
    fix=Applicability.SAFE,
    finds=(calls("torch.tensor", "torch.as_tensor", where=(_constants, _goes_to_device)),),
    message=_message,
    change=_fill,
    contexts=(Context.HOT, Context.ACCELERATOR),
    needs_gpu=True,
)

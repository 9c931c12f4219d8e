"""Create a tensor on the device, instead of creating it in host memory and copying it.

## What it does
Reports `torch.zeros(n).to(device)`, `torch.randn(n).cuda()`, `torch.arange(n).type_as(x)` and the
like, also where the copy stands on a later line; a buffer in host memory that is filled from the
device and then moved there; and arrays that NumPy makes of sizes and numbers alone, such as
`torch.from_numpy(np.arange(n) * 16).to(device)`, on each step or call of a module, and
`torch.LongTensor(range(n)).to(device)`.

## Why it is slow
The CPU fills the memory, and then the numbers cross the bus. That copy takes its turn behind all
that the GPU has queued, and Python waits until it is done, as it does for `.item()`. With
`device=` the GPU fills its own memory, nothing is copied, and Python goes on at once. A host
buffer that is filled from the device costs more: the numbers cross the bus twice, and each time
Python waits.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    noise = torch.randn(images.shape).to(device)
    loss = criterion(model(images + noise), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    noise = torch.randn(images.shape, device=device)
    loss = criterion(model(images + noise), labels)
    loss.backward()
    optimizer.step()
```

## When it is silent
At the top level of a file, where it happens once; in files that take no training step, define no
module and are called on no step, unless they move the tensor to where another one lies
(`.to(x.device)`); where the copy stands on a later line, in all files that take no training step
and are called on none; in datasets, collate functions and tests; with `out=`, and with
`generator=`, which people pass to get the same numbers on every device; where
`torch.set_default_device` or `with torch.device(…)` chooses the device; for `zeros_like(x)` unless
`x` is known to lie in host memory; for `torch.tensor(values)`, which has to be copied in either
case; for `torch.empty(0)`. It is a hint outside of what each training step runs, and under
conditions such as `if x is None`, which may hold only once.

## Fix safety
**Safe** for `zeros`, `ones`, `full`, `empty`, `eye` and an `arange` of integers, which hold the
same numbers on each device. **Unsafe** for random tensors, since the GPU has a random generator of
its own, and for `linspace` and others that the GPU may round differently. There is no fix if the
call has `requires_grad=`, since the created tensor is then a leaf and its copy is none; if the copy
also changes the type of anything but zeros and ones; if something is done with the tensor before
it is copied; or if NumPy creates it.

## How verify confirms it
It measures the fix, which needs a GPU: on a CPU nothing is copied. The numbers are bitwise equal
after a safe fix.

## References
- PyTorch performance tuning guide, "Create tensors directly on the target device"
- PyTorch documentation, `torch.zeros`, argument `device`
"""

import re

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.training.batches import loads, runs_each_time
from torchlint.analysis.training.transfers import names_device
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import STEP_TEXT, Applicability, Context, Match, Rule, because, calls

from ._creation import (
    LIKE,
    SIZED,
    create_on_device,
    is_filled_from_device,
    may_create_and_move,
    transfer_of_created,
)
from ._new_arrays import is_new_array


def _is_moved(match: Match) -> bool:
    """Whether the tensor is copied to the device before anything else is done with it."""
    return transfer_of_created(match.call, match.module) is not None


def _moves(match: Match) -> bool:
    """The same, also if the device writes into the tensor first."""
    return _is_moved(match) or is_filled_from_device(match.call, match.module)


def _holds_new_array(match: Match) -> bool:
    """Whether NumPy creates the numbers each time, although torch could."""
    array = argument(match.call, "ndarray", 0)
    if not is_new_array(array, match.module):
        said = "nothing shows that NumPy makes {:code} of sizes and numbers alone"
        return because(False, said, array or match.call)
    return runs_each_time(match.call, match.module)


def _is_like_host_tensor(match: Match) -> bool:
    """Whether the tensor that it shall be like is known to lie in host memory."""
    other = match.module.argument(match.call, "input", 0)
    said = "the tensor lies where {:code} does, which is not known to be host memory"
    return match.module.value(other).only(Kind.CPU) or because(False, said, other or match.call)


def _may_run_once(match: Match) -> bool:
    """Whether a condition asks for what is not there yet: `x is None`, `len(state) == 0`."""
    module = match.module
    for each in module.conditions(match.call):
        test = getattr(each, "test", None)
        if test is not None and _NOT_YET.search(module.source(test)):
            return because(True, "{} may hold only once", test)
    return False


def _is_empty(match: Match) -> bool:
    """`torch.empty(0)`, of which nothing is copied."""
    if not match.module.calls(match.call, "torch.empty", "torch.zeros", "torch.ones"):
        return False
    empty = match.module.literal(match.module.argument(match.call, "size", 0)) == 0
    return empty and because(True, "an empty tensor has nothing to copy")


def _counts(match: Match) -> bool:
    """`torch.LongTensor(range(n))`."""
    given = match.call.args[0].value if len(match.call.args) == 1 else None
    counts = isinstance(given, cst.Call) and match.module.calls(given, "builtins.range")
    return counts or because(False, "the numbers are not those of `range`, so they must be copied")


def _is_placed(match: Match) -> bool:
    """Whether the call, or a `with torch.device(…)` around it, says where the tensor goes."""
    for name, said in _PLACES.items():
        given = argument(match.call, name)
        if given is not None:
            return because(True, said, given)
    for around in match.module.ancestors(match.call):
        for item in around.items if isinstance(around, cst.With) else ():
            if names_device(item.item, match.module):
                return because(True, "{} says where new tensors are created", around)
    return False


def _runs_at_import(match: Match) -> bool:
    """Whether it happens once, when the file is started or imported."""
    module, call = match.module, match.call
    once = module.function(call) is None and next(module.loops.loops_around(call), None) is None
    return once and because(True, "this runs once, when the file is started or imported")


def _fills_loader(match: Match) -> bool:
    """Whether it is part of what a dataset or a collate function does, perhaps in a worker."""
    fills = loads(match.call, match.module)
    return fills and because(True, "this is where batches are loaded, perhaps in a worker process")


def _message(match: Match) -> str:
    name = match.module.source(match.call.func)
    if is_filled_from_device(match.call, match.module):
        return (
            f"`{name}` creates this buffer in host memory: a tensor of the GPU is copied to it "
            "and then back; pass `device=` to create it there."
        )
    if match.module.calls(match.call, "torch.from_numpy"):
        return (
            "NumPy creates these numbers in host memory, and Python waits while they are copied to "
            "the device; let torch create them there, or keep them in a buffer."
        )
    if match.module.calls(match.call, "torch.LongTensor"):
        return (
            "Python counts in host memory, and waits while the numbers are copied to the device; "
            "pass `device=` to `torch.arange`."
        )
    return (
        f"`{name}` creates a tensor in host memory, and Python waits while it is copied to the "
        "device; pass `device=` to create it there."
    )


_PLACES = {
    "device": "`device` is {:code} here",
    "generator": "`generator` is {:code}, perhaps for the same numbers on every device",
    "out": "`out` is {:code}, so no tensor is created here",
}
"""Arguments that say where a tensor goes, and what they mean."""
_NOT_YET = re.compile(r"\bis None\b|\blen\([^()]{0,80}\) == 0|\bhasattr\(|\bnot in\b")

rule = Rule(
    code="TL205",
    summary="a tensor is created in host memory and then copied to the device",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    finds=(
        calls(*SIZED, where=(_moves,), hint_if=(_may_run_once,), else_hint=(Context.HOT,)),
        calls(*LIKE, where=(_is_like_host_tensor, _is_moved), else_hint=(Context.HOT,)),
        calls("torch.from_numpy", where=(_holds_new_array, _is_moved), else_hint=(Context.HOT,)),
        calls("torch.LongTensor", where=(_counts, _is_moved), else_hint=(Context.HOT,)),
    ),
    unless=(_is_placed, _runs_at_import, _fills_loader, _is_empty),
    message=_message,
    change=create_on_device,
    contexts=(Context.ACCELERATOR,),
    triggers_on_demand=(r"\.(?:to|cuda|type_as)\(",),
    program_lacks={"a default device": r"set_default_device\(|set_default_tensor_type\("},
    needs_gpu=True,
)
rule.narrow(may_create_and_move, unless=STEP_TEXT)

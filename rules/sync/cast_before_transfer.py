"""Move a batch as the loader gives it, and make its numbers wider on the device.

## What it does
Reports a tensor of a batch that is converted to a wider type before it is moved, on each training
step: `labels.long().to(device)`, `masks.double().cuda()`, `(images.float() / 255).to(device)`.

## Why it is slow
An image of bytes becomes four times as large as float32, and a mask of bytes eight times as large
as int64. The CPU writes all of that, and all of it crosses the bus. The GPU converts in a fraction
of the time, after a quarter or an eighth of the bytes has been copied. The converted tensor is also
in ordinary memory, so a pinned loader and `non_blocking=True` no longer help.

## Example
```python
for images, masks in loader:
    images = (images.float() / 255).to(device)
    masks = masks.long().to(device)
    loss = criterion(model(images), masks)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, masks in loader:
    images = images.to(device, non_blocking=True).float() / 255
    masks = masks.to(device, non_blocking=True).long()
    loss = criterion(model(images), masks)
    loss.backward()
    optimizer.step()
```

## When it is silent
For `.half()` and `.bfloat16()`, which make numbers smaller; for `.float()` unless bytes are divided
by 255 or the array is known to be narrow, since it also makes float64 smaller; for what is computed
or was moved before; in evaluation and in tests. It is a hint: where the numbers have the wider type
already, nothing is converted.

## Fix safety
**Unsafe**: the order of the two calls changes. The numbers stay the same, except that NaN and
numbers outside of the range of int64 become other integers on the GPU. There is no fix if something
is computed between them.

## How verify confirms it
It measures the fix, which needs a GPU: on a CPU nothing is copied. The numbers are bitwise equal.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
"""

from typing import NamedTuple

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.batch_parts import is_part_of_batch
from torchlint.analysis.training.transfers import transfer_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import (
    Applicability,
    Context,
    Fix,
    Match,
    Module,
    Rule,
    Tier,
    because,
    edits,
    method,
)

_TYPES = {
    "torch.LongTensor": "long", "torch.long": "long", "torch.int64": "long",
    "torch.DoubleTensor": "double", "torch.double": "double", "torch.float64": "double",
    "torch.FloatTensor": "float", "torch.float": "float", "torch.float32": "float",
}  # fmt: skip
_NAMES = {"long": "int64", "double": "float64", "float": "float32"}
_NARROW = ("uint8", "int8", "bool", "int16", "float16")


class _Cast(NamedTuple):
    """A call that makes a tensor wider, the tensor, and the method that does so: `long`, `float` or
    `double`."""

    call: cst.Call
    tensor: cst.BaseExpression
    kind: str


def _widened(match: Match) -> _Cast | None:
    """How the numbers of a tensor that is moved were just made wider on the host."""
    module = match.module
    cast = _cast(_numerator(match.receiver) or match.receiver, module)
    if cast is None:
        return because(None, "no tensor is made wider right before the copy")
    if transfer_of(match.call, module) is None:
        return because(None, "nothing shows that this copies to a device")
    tensor = cast.tensor
    if isinstance(tensor, cst.Call) and module.calls(tensor, "torch.from_numpy"):
        array = argument(tensor, "ndarray", 0)
        if module.value(array).dtype in _NARROW:
            return cast
        said = "the type of {:code} is not known to be narrow, such as uint8"
        return because(None, said, array or tensor)
    if cast.kind == "float" and not _holds_bytes(match):
        said = "no division by 255 shows that the numbers in {:code} were bytes"
        return because(None, said, tensor)
    said = "nothing shows that {:code} is a tensor straight from a loader"
    return cast if is_part_of_batch(tensor, module) else because(None, said, tensor)


def _cast(node: cst.BaseExpression, module: Module) -> _Cast | None:
    if not isinstance(node, cst.Call):
        return None
    name = method_name(node)
    if name in ("to", "type") and len(node.args) == 1:
        name = next((_TYPES.get(each, "") for each in module.resolve(node.args[0].value)), "")
    return _Cast(node, receiver(node), name) if name in _NAMES else None


def _numerator(node: cst.CSTNode | None) -> cst.BaseExpression | None:
    """`images.float()` for `images.float() / 255`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Divide):
        return None
    return node.left if literal(node.right) == 255 else None


def _holds_bytes(match: Match) -> bool:
    """Whether the tensor is divided by 255, before or after it is moved."""
    after = _numerator(match.module.parent(match.call))
    return after is match.call or _numerator(match.receiver) is not None


def _message(match: Match) -> str:
    _, tensor, kind = match.found(_Cast)
    return (
        f"`{match.module.source(tensor)}` becomes {_NAMES[kind]} before it crosses the bus; move "
        f"it as it is, and call `.{kind}()` on the device."
    )


def _convert_on_device(match: Match) -> Fix | str:
    """Swap the two calls."""
    module, cast = match.module, match.found(_Cast)
    if cast.call is not match.receiver:
        return "the numbers are computed with in between"
    changes = (
        edits.keep_receiver(module, cast.call),
        edits.call_method(module, match.call, f"{cast.kind}()"),
    )
    return Fix(Applicability.UNSAFE, "Convert it on the device", changes)


rule = Rule(
    code="TL218",
    summary="a tensor is made wider before it is copied to the device",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(method("to", "cuda", where=(_widened,)),),
    message=_message,
    change=_convert_on_device,
    contexts=(Context.HOT, Context.ACCELERATOR),
    needs_gpu=True,
    may_change="numbers that are not finite become other integers",
)

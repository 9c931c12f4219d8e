"""Share an array's memory with the tensor instead of copying it.

## What it does
Reports `torch.tensor(array)` on a NumPy array if neither `dtype=` nor `device=` requires a copy,
in code that runs for each batch or sample: a step loop, `__getitem__`, a collate function, a loop
over `env.step`. Elsewhere, or if the type of the array or the device is unknown, it is a hint.
`torch.FloatTensor(array)` and `torch.Tensor(array)` are hints as well. Constructors of the GPU are
reported like `torch.tensor`, since they copy the array there: `torch.cuda.FloatTensor(array)`, and
`Tensor(array)` after `Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor`.

## Why it is slow
`torch.tensor` always copies. `torch.as_tensor` and `torch.from_numpy` share the memory and take
about a microsecond, whatever the size. Measured on a CPU, they save 4 µs on ten numbers and 26 ms
on a batch of 38 MB. If the type or the device changes, a copy is needed anyway, and there is
nothing to save.

A constructor of the GPU copies the numbers across the bus, behind all that the GPU has queued, and
Python waits until that is done, as it does for `.item()`. Random numbers that NumPy draws are best
drawn there: `torch.randn(n, device=device)`.

In torch 2.13, the typed constructors copy only if the type changes. They are no slower than
`torch.as_tensor(array, dtype=...)`, but the call does not show whether they copy, share or (for a
number) allocate. To save the copy, create the array with the right type in the first place. Frames
of bytes are best moved to the device as they are and converted there, since a quarter of the bytes
crosses the bus.

## Example
```python
def __getitem__(self, index):
    image = np.load(self.files[index])
    return torch.tensor(image)
```

## Use instead
```python
def __getitem__(self, index):
    image = np.load(self.files[index])
    return torch.as_tensor(image)
```

## When it is silent
- Numbers, lists, and values that may be either; tensors.
- A `dtype=` that differs from the array's, `device="cuda"`, `requires_grad=True`,
  `pin_memory=True`: a copy is made anyway; and calls under `if copy:`.
- Arrays, or attributes such as a replay buffer, that are later modified in place; arrays that an
  environment returns, since it may reuse them on the next step; and tensors that are later
  modified in place.
- Memory maps, `np.frombuffer` and `np.broadcast_to`, which must not be written to.
- Tests and documentation.

## Fix safety
`torch.as_tensor` is **safe** for an array that nothing else can refer to, such as `np.stack(...)`,
`x.astype(...)` or `a + b` directly in the call: values, type, strides and the default device stay
the same. For a named array it is **unsafe**, since the array and the tensor then share memory.
There is no fix for a tensor that is later resized, since the memory of an array cannot grow. A
typed constructor becomes `torch.from_numpy(...).float()`, which does the same, including sharing.

## How verify confirms it
It measures each fix on the CPU as well as on a GPU. The numbers are bitwise equal, unless something
writes to the array that the tensor now shares.

## References
- `torch.as_tensor`, `torch.from_numpy` in the PyTorch documentation
"""

import ast
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.arrays.tensor_constructors import (
    CONSTRUCTORS,
    Constructor,
    Copy,
    Place,
    copy_made,
    moved_at_once,
    needs_its_copy,
    tensor_constructor,
)
from torchlint.analysis.uses import method_behind
from torchlint.analysis.values.kinds import ARRAYS, Kind, Value
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
    outlines,
)

from .array_evidence import looks_like_array
from .array_sharing import (
    array_is_written,
    comes_from_environment,
    has_an_axis,
    held_by_nobody,
    is_read_only,
    is_resized,
    tensor_is_written,
)

_NARROW = ("uint8", "int8", "bool", "int16", "float16")
"""Types that are smaller than what they are converted to."""
_WRITTEN_OUT = (ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)
_NUMBERS = frozenset({"float", "int", "len", "list", "range", "sum", "bool"})
_NOT_NUMBERS = ("object", "str")


def _may_copy(outline: Outline) -> bool:
    """Whether a constructor gets more than numbers and lists that are written out."""
    given = (outlines.argument(call, "data", 0) for call in outline.calls(*CONSTRUCTORS))
    copied = (data for data in given if data and not _is_written_out(data))
    numbers = "the file gives `torch.tensor` only numbers and lists that are written out"
    return any(outlines.chain(data) not in _NUMBERS for data in copied) or because(False, numbers)


def _is_written_out(data: ast.expr) -> bool:
    while isinstance(data, ast.UnaryOp):
        data = data.operand
    return isinstance(data, _WRITTEN_OUT)


rule = Rule(
    code="TL105",
    summary="a tensor copies the NumPy array that it could share memory with",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    triggers=Triggers(
        (
            r"\btensor\(\s*(?![\d\[)'\"])|(?<!To)(?<!is_)Tensor\(\s*(?![\d\[)'\"])",
            r"numpy|\bnp\.|cv2|gym|scipy|librosa|imageio|soundfile",
        ),
        outline=_may_copy,
    ),
    else_hint=(Context.PER_BATCH,),
)


@rule.on(cst.Call)
def copies_an_array(call: cst.Call, module: Module) -> Iterable[Reported]:
    made = tensor_constructor(call, module)
    if made is None:
        return ()
    if made.shares:
        return because((), "`torch.as_tensor` copies only if the type or the device differs")
    node = made.data.value
    array = module.value(node)
    if array.dtype in _NOT_NUMBERS:
        return because((), "{:code} holds no numbers", node)
    if not (_may_be_array if made.typed else _is_array)(node, array, module):
        return because((), "{:code} is not known to be an array", node)
    if made.typed:
        return _typed(made, array, module)
    if array.has(Kind.SCALAR):
        return because((), "{:code} may be a single number", node)
    return _copied(made, array, module)


def _may_be_array(node: cst.BaseExpression, value: Value, module: Module) -> bool:
    return value.is_array or looks_like_array(node, module)


def _is_array(node: cst.BaseExpression, value: Value, module: Module) -> bool:
    """Whether the value is certainly an array, by how it is computed or by its annotation."""
    if value.is_array:
        return True
    perhaps = value.has(ARRAYS) and value.only(ARRAYS | Kind.PARAMETER)
    return perhaps and module.flow.is_parameter(node)


# torch.tensor ------------------------------------------------------------------------------


def _copied(made: Constructor, array: Value, module: Module) -> Iterable[Reported]:
    node = made.data.value
    copy = copy_made(made, array, module)
    if copy is Copy.FORCED:
        return because((), "its `dtype` or `device` is not that of the array, and needs a copy")
    if needs_its_copy(made.call, module):
        return ()
    if is_read_only(node, module):
        return because((), "{:code} is in memory that must not be written to", node)
    moved = moved_at_once(made.call, module)
    danger = _danger(made, module) if moved is not Copy.FORCED else ""
    if danger and copy is Copy.WASTED and moved is Copy.WASTED:
        return because((), danger)
    tier = Tier.DEFAULT
    if copy is Copy.PERHAPS:
        tier = because(Tier.HINT, "the type or the device may need a copy")
    elif danger:
        tier = because(Tier.HINT, danger)
    elif array.has(Kind.PARAMETER):
        tier = because(Tier.HINT, "a caller may pass something else than an array")
    if copy is Copy.PERHAPS:
        message = (
            "`torch.tensor` copies the array even if its type and device match; use "
            "`torch.as_tensor`, which copies only if needed."
        )
    else:
        message = (
            "`torch.tensor` copies the whole array; use `torch.as_tensor`, which shares its memory."
        )
    fix = _why_not(made, danger, module) or _shared(made, module)
    return rule.report(module, made.call, message, tier=tier, fix=fix)


def _danger(made: Constructor, module: Module) -> str:
    """Why the tensor must not share the array's memory."""
    node = made.data.value
    if held_by_nobody(node, module):
        return ""
    if comes_from_environment(node, module):
        return "an environment may fill the same array again on its next step"
    if array_is_written(node, module):
        return "the array is written in place, which would change the tensor"
    if tensor_is_written(made.call, module):
        return "the tensor is written in place, which would change the array"
    return ""


def _why_not(made: Constructor, danger: str, module: Module) -> str | None:
    if is_resized(made.call, module):
        return "the tensor is resized, and the memory of an array cannot grow"
    if danger:
        return danger
    if isinstance(made.call.func, cst.Attribute) or _torch(made, module):
        return None
    return "`torch` itself is not imported here"


def _torch(made: Constructor, module: Module) -> str | None:
    return module.names.imported_as("torch", made.call)


def _shared(made: Constructor, module: Module) -> Fix:
    func = made.call.func
    if isinstance(func, cst.Attribute):
        edit = edits.replace(module, func.attr, "as_tensor")
    else:
        edit = edits.replace(module, func, f"{_torch(made, module)}.as_tensor")
    if held_by_nobody(made.data.value, module):
        return Fix(Applicability.SAFE, "Share the array's memory", (edit,))
    message = "Share the array's memory; what writes to one then changes the other"
    return Fix(Applicability.UNSAFE, message, (edit,))


# torch.FloatTensor and others --------------------------------------------------------------


def _typed(made: Constructor, array: Value, module: Module) -> Iterable[Reported]:
    node = made.data.value
    on_gpu = made.place is not Place.HOST
    moved = on_gpu or moved_at_once(made.call, module) is not Copy.WASTED
    drawn = isinstance(node, cst.Call) and any(
        name.startswith("numpy.random.") for name in module.resolve(node.func)
    )
    message = (
        f"`{made.typed.removesuffix('Tensor')}Tensor(…)` copies every array that is not "
        f"{made.dtype} already, without a visible conversion; create the array as {made.dtype} and "
        "share it with `torch.from_numpy`"
    )
    if moved:
        message += ", or, if it holds bytes, move them and convert on the device"
    if on_gpu:
        message = (
            f"`{module.source(made.call.func)}(…)` copies an array of the host to the GPU, and "
            "Python waits for that; "
            + ("let torch draw" if drawn else "create")
            + " the numbers there, or keep them there"
        )
    message += "."
    torch = _torch(made, module)
    fix: Fix | str
    if made.place is Place.EITHER:
        fix = "the name may be that of a constructor on the GPU, which needs `device=`"
    elif torch is None:
        fix = "`torch` itself is not imported here"
    else:
        fix = _spelled_out(made, array, torch, module)
    tier = Tier.DEFAULT
    if not on_gpu:
        tier = because(Tier.HINT, "it copies only if the array is not {} already", made.dtype)
    elif not array.only(ARRAYS):
        tier = because(Tier.HINT, "{:code} is not certain to be an array", node)
    return rule.report(module, made.call, message, tier=tier, fix=fix)


def _spelled_out(made: Constructor, array: Value, torch: str, module: Module) -> Fix:
    call = made.call
    if made.place is Place.HOST and array.only(ARRAYS | Kind.SCALAR):
        converted: cst.Call = call
        if array.dtype in _NARROW and moved_at_once(call, module) is not Copy.WASTED:
            converted = method_behind(call, module) or call  # fewer bytes cross the bus
        changes = (
            edits.replace(module, call.func, f"{torch}.from_numpy"),
            edits.call_method(module, converted, f"{made.method}()"),
        )
        safety = Applicability.SAFE if _same_values(made, array, module) else Applicability.UNSAFE
        return Fix(safety, "Make the conversion explicit", changes)
    device = ', device="cuda"' if made.place is Place.DEVICE else ""
    keyword = f"dtype={torch}.{made.dtype}{device}"
    changes = (
        edits.replace(module, call.func, f"{torch}.as_tensor"),
        edits.add_argument(module, call, keyword),
    )
    return Fix(Applicability.UNSAFE, "Make the conversion explicit", changes)


def _same_values(made: Constructor, array: Value, module: Module) -> bool:
    """Whether `torch.from_numpy(…).float()` certainly gives the same values.

    `torch.Tensor` follows the default dtype; the typed constructors take an integer
    array without dimensions as a size.
    """
    node = made.data.value
    floating = array.dtype is not None and array.dtype.startswith("float")
    return (
        made.typed != "Tensor"
        and held_by_nobody(node, module)
        and (floating or has_an_axis(node, module))
    )

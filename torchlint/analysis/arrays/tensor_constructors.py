"""Calls that make a tensor of data: `torch.tensor`, the typed constructors and their aliases."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument, argument_node, literal
from torchlint.analysis.steps.guards import words
from torchlint.analysis.torch_api import TYPED_TENSORS
from torchlint.analysis.uses import method_behind, method_name
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.analysis.values.kinds import Value

_METHODS = {
    "": "float", "Float": "float", "Double": "double", "Half": "half", "BFloat16": "bfloat16",
    "Long": "long", "Int": "int", "Short": "short", "Char": "char", "Byte": "byte", "Bool": "bool",
}  # fmt: skip
_DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip
_TYPED = {name: name.removesuffix("Tensor") for name in (*TYPED_TENSORS, "CharTensor")}
CONSTRUCTORS = (
    *("torch.tensor", "torch.as_tensor"),
    *(f"torch.{place}{name}" for place in ("", "cuda.") for name in _TYPED),
)


class Place(Enum):
    """Where a typed constructor puts its tensor."""

    HOST = "host"
    DEVICE = "device"
    EITHER = "either"
    """An alias such as `Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor`."""


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """A call that makes a tensor of one piece of data.

    `typed` is empty for `torch.tensor` and, with `shares`, for `torch.as_tensor`; for
    `torch.LongTensor` it is `Long`, with `method` the method (`long`) and `dtype` the name
    (`int64`) of its element type. `torch.Tensor`, which follows the default dtype, is `Tensor`.
    """

    call: cst.Call
    data: cst.Arg
    typed: str = ""
    method: str = ""
    dtype: str = ""
    place: Place = Place.HOST
    shares: bool = False


def tensor_constructor(call: cst.Call, module: Module) -> Constructor | None:
    """The call as a constructor with one argument for its data; None for anything else."""
    names = module.resolve(call.func)
    if not names or any(arg.star for arg in call.args):
        return None
    if names in (("torch.tensor",), ("torch.as_tensor",)):
        data = argument_node(call, "data", 0)
        shares = names == ("torch.as_tensor",)
        return None if data is None else Constructor(call, data, shares=shares)
    if len(call.args) != 1 or call.args[0].keyword is not None:
        return None
    kinds = {_typed(name) for name in names}
    if None in kinds or len({kind for kind in kinds if kind}) != len(kinds):
        return None
    types = {kind[0] for kind in kinds if kind is not None}
    places = {kind[1] for kind in kinds if kind is not None}
    if len(types) != 1 and types != {"", "Float"}:
        return None
    typed = min(types)
    method = _METHODS[typed]
    place = places.pop() if len(places) == 1 else Place.EITHER
    dtype = _DTYPES.get(method, method)
    return Constructor(call, call.args[0], typed or "Tensor", method, dtype, place)


def _typed(name: str) -> tuple[str, Place] | None:
    package, _, last = name.rpartition(".")
    if last not in _TYPED or package not in ("torch", "torch.cuda"):
        return None
    return _TYPED[last], Place.DEVICE if package == "torch.cuda" else Place.HOST


# does it have to copy ----------------------------------------------------------------------


class Copy(Enum):
    """Whether `torch.tensor` copies more than it must."""

    WASTED = "wasted"
    PERHAPS = "perhaps"
    """The dtype or the device may force the copy."""
    FORCED = "forced"


def copy_made(made: Constructor, array: Value, module: Module) -> Copy:
    """Whether the `dtype=` and `device=` of a `torch.tensor` call force the copy of an array."""
    answers = {_for_dtype(made.call, array, module), _for_device(made.call, module)}
    if Copy.FORCED in answers:
        return Copy.FORCED
    return Copy.PERHAPS if Copy.PERHAPS in answers else Copy.WASTED


def _for_dtype(call: cst.Call, array: Value, module: Module) -> Copy:
    given = argument(call, "dtype")
    if given is None or literal(given) is None:
        return Copy.WASTED
    wanted = {_torch_dtype(name) for name in module.resolve(given)}
    if array.dtype is None or len(wanted) != 1 or None in wanted:
        return Copy.PERHAPS
    return Copy.WASTED if wanted == {array.dtype} else Copy.FORCED


def _torch_dtype(name: str) -> str | None:
    package, _, last = name.rpartition(".")
    return _DTYPES.get(last, last) if package == "torch" else None


def _for_device(call: cst.Call, module: Module) -> Copy:
    given = argument(call, "device")
    if given is None or literal(given) is None or module.values.is_cpu(given):
        return Copy.WASTED
    return Copy.FORCED if names_gpu(given, module) else Copy.PERHAPS


def names_gpu(device: cst.BaseExpression, module: Module) -> bool:
    """Whether a device is written out as one: `"cuda"`, `"cuda:1"`, `torch.device("cuda")`."""
    if isinstance(device, cst.Call) and module.calls(device, "torch.device"):
        inner = argument(device, "device", 0) or argument(device, "type", 0)
        return inner is not None and names_gpu(inner, module)
    value = literal(device)
    if isinstance(value, str):
        return not value.startswith(("cpu", "meta"))
    return isinstance(value, int) and not isinstance(value, bool)


def needs_its_copy(call: cst.Call, module: Module) -> bool:
    """Whether the call asks for what only a copy can have, such as a gradient, or the code asks
    whether to copy."""
    for above in module.conditions(call):
        named = words(above.test) if isinstance(above, cst.If | cst.IfExp) else ()
        if any("copy" in word.lower() for word in named):
            return because(True, "{} asks whether to copy", above)
    for name in ("requires_grad", "pin_memory", "copy"):
        given = argument(call, name)
        if given is not None and literal(given) is not False:
            return because(True, "only a copy can have `{}`", name)
    return False


def moved_at_once(call: cst.Call, module: Module) -> Copy:
    """Whether `.cuda()` or `.to(device)` right behind the call copies the tensor away."""
    method = method_behind(call, module)
    if method is None:
        return Copy.WASTED
    name = method_name(method)
    if name == "cuda":
        return Copy.FORCED
    if name != "to":
        return Copy.WASTED
    target = argument(method, "device", 0)
    if target is None or any(_torch_dtype(each) for each in module.resolve(target)):
        return Copy.WASTED
    if module.values.is_cpu(target):
        return Copy.WASTED
    return Copy.FORCED if names_gpu(target, module) else Copy.PERHAPS

"""`torch.Tensor(…)`, `torch.cuda.FloatTensor` and its like, which old scripts make tensors with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe.played import waits
from torchlint.runtime.probe.played.factories import made
from torchlint.runtime.probe.played.marks import HOST, device_of, mark_of, put
from torchlint.runtime.probe.played.state import PLAYED

if TYPE_CHECKING:
    from collections.abc import Callable

DTYPES: Final = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


_Tensor: Any = torch.Tensor


class _Kind(type):
    dtype: Any
    is_cuda: bool
    is_sparse = False
    layout = torch.strided

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.dtype == cls.dtype
            and (device_of(instance) is not None) == cls.is_cuda
        )


def install(cuda: Any) -> None:
    """Replace them in `torch` and `torch.cuda`."""
    on_device = False
    for name, dtype in DTYPES.items():
        setattr(cuda, name, _kind(name, dtype, _on_device(dtype), is_cuda=True))
        plain = getattr(torch, name)
        setattr(torch, name, _kind(name, dtype, _on_host(plain), is_cuda=False))
    plain_default, new = torch.set_default_tensor_type, _Tensor.__new__

    def set_default_tensor_type(t: Any) -> None:
        nonlocal on_device
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
        on_device = ".cuda." in name
        if not on_device:
            plain_default(name)
            return
        torch.set_default_dtype(DTYPES[name.rpartition(".")[2]])
        torch.set_default_device("cuda")

    def new_tensor(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls is _Tensor and on_device:
            return _on_device(torch.get_default_dtype())(*args)
        return _on_host(new)(cls, *args, **kwargs)

    torch.set_default_tensor_type = set_default_tensor_type
    _Tensor.__new__ = staticmethod(new_tensor)


def _kind(name: str, dtype: Any, make: Callable[..., Any], *, is_cuda: bool) -> Any:
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return make(*args, **kwargs)

    module = "torch.cuda" if is_cuda else "torch"
    known = {"__new__": new, "dtype": dtype, "is_cuda": is_cuda, "__module__": module}
    return _Kind(name, (), known)


def _on_device(dtype: Any) -> Callable[..., Any]:
    def make(*args: Any, **_: Any) -> Any:
        device = torch.device("cuda", PLAYED.thread.device)
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            return args[0].to(device, dtype)
        if args and not all(isinstance(each, int) for each in args):
            if isinstance(args[0], torch.Size):
                return torch.empty(args[0], dtype=dtype, device=device)
            return made(torch.tensor, (args[0],), {"dtype": dtype, "device": device}, fills=True)
        return torch.empty(args or (0,), dtype=dtype, device=device)

    return make


def _on_host(plain: Callable[..., Any]) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> Any:
        known = any(isinstance(each, torch.Tensor) for each in args)
        if known or not PLAYED.on or PLAYED.thread.quiet:
            return plain(*args, **kwargs)
        waits.read("tensor", waits.of_numbers(args[-1:]))
        result = PLAYED.making(HOST, plain, *args, **kwargs)
        if mark_of(result) is None:
            put(result, HOST, PLAYED.ledger.here())
        return result

    return make

"""`torch.cuda.FloatTensor` and its like, which old scripts make tensors with."""

from __future__ import annotations

from typing import Any, Final

import torch

from torchlint.runtime.probe.played.factories import made
from torchlint.runtime.probe.played.marks import device_of
from torchlint.runtime.probe.played.state import PLAYED

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


class _Kind(type):
    dtype: Any
    is_cuda = True
    is_sparse = False
    layout = torch.strided

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.dtype == cls.dtype
            and device_of(instance) is not None
        )


def install(cuda: Any) -> None:
    """Replace them in `torch.cuda`."""
    for name, dtype in DTYPES.items():
        setattr(cuda, name, _kind(name, dtype))
    plain_default = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any) -> None:
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
        if ".cuda." not in name:
            plain_default(t)
            return
        torch.set_default_dtype(DTYPES[name.rpartition(".")[2]])
        torch.set_default_device("cuda")

    torch.set_default_tensor_type = set_default_tensor_type


def _kind(name: str, dtype: Any) -> Any:
    def new(cls: Any, *args: Any, **_: Any) -> Any:
        device = torch.device("cuda", PLAYED.thread.device)
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            return args[0].to(device, dtype)
        if args and not all(isinstance(each, int) for each in args):
            if isinstance(args[0], torch.Size):
                return torch.empty(args[0], dtype=dtype, device=device)
            return made(torch.tensor, (args[0],), {"dtype": dtype, "device": device}, fills=True)
        return torch.empty(args or (0,), dtype=dtype, device=device)

    return _Kind(name, (), {"__new__": new, "dtype": dtype, "__module__": "torch.cuda"})

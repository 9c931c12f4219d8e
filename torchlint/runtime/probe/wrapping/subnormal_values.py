"""How many values of a tensor are so small that processors take much longer for them."""

from __future__ import annotations

from typing import Any

import torch

_MOST = 1 << 14
"""Values of a tensor that are looked at."""
_TYPES = (torch.float32, torch.float64)


def subnormals(tensor: Any) -> tuple[int, int]:
    """How many values were looked at, spread over the tensor, and how many of them are subnormal.
    Where a look would copy the tensor, none are."""
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        return 0, 0
    if tensor.dtype not in _TYPES or not tensor.is_cpu or not tensor.is_contiguous():
        return 0, 0
    seen = tensor.detach().view(-1)[:: max(1, tensor.numel() // _MOST)]
    small = (seen.abs() < torch.finfo(tensor.dtype).tiny) & (seen != 0)
    return seen.numel(), int(small.sum())

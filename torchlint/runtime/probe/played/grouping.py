"""What torch groups by device in C++: optimizers and the norm of gradients do it with each step."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.marks import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "_group_tensors_by_device_and_dtype"


def install() -> None:
    """Replace the function where it is looked up."""
    plain = private.find(f"torch._C:{_NAME}")
    if plain is private.MISSING:
        return
    grouped = _grouped(plain)
    setattr(torch._C, _NAME, grouped)
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(_NAME) is plain:
            setattr(module, _NAME, grouped)


def _grouped(plain: Callable[..., Any]) -> Callable[..., Any]:
    def group(tensorlistlist: Any, with_indices: bool = False) -> Any:
        found: dict[Any, Any] = {}
        for (device, dtype), (lists, indices) in plain(tensorlistlist, with_indices).items():
            first = next((each for each in lists[0] if each is not None), None)
            lies = None if first is None else device_of(first)
            key = device if lies is None else torch.device("cuda", lies), dtype
            found[key] = lists, indices
        return found

    return group

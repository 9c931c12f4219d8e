"""What torch groups by device in C++: optimizers and the norm of gradients do it with each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.marks import device_of

if TYPE_CHECKING:
    from collections.abc import Callable


def install() -> None:
    """Replace the function where it is looked up."""
    private.wrap_grouping(_grouped)


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

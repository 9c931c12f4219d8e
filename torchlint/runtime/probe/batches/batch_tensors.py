"""The tensors of a batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST: Final = 1000
"""Values of a batch that are looked at."""


def batch_tensors(batch: Any) -> Iterator[torch.Tensor]:
    """Those in containers, and in attributes of objects, as far as they are looked at."""
    left, seen = deque([batch]), 0
    while left and seen < _MOST:
        each = left.popleft()
        seen += 1
        if isinstance(each, torch.Tensor):
            yield each
        else:
            left.extend(_parts(each))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return tuple(value.values())
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return tuple(getattr(value, "__dict__", {}).values())

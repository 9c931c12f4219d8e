"""The shapes and types of a model's inputs, and the device they are on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

_DEEPEST = 3


def signature(inputs: object) -> tuple[object, ...]:
    """Shapes and types of the tensors in a model's arguments; the same for the same work."""
    return tuple((tuple(each.shape), each.dtype, each.device) for each in _tensors(inputs))


def on_gpu(subject: Any) -> bool | None:
    """Whether the first parameter of an optimizer or a module is on a GPU; None without one."""
    try:
        groups = getattr(subject, "param_groups", None)
        parameters = iter(groups[0]["params"]) if groups is not None else subject.parameters()
        return bool(next(parameters).is_cuda)
    except (AttributeError, LookupError, TypeError, StopIteration):
        return None


def _tensors(value: object, depth: int = 0) -> Iterator[Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif depth < _DEEPEST and isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each, depth + 1)
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each, depth + 1)

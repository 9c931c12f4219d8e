"""A batch that can be handed out again as it was."""

from __future__ import annotations

import copy
from collections import UserDict
from typing import Any

import torch

from torchlint.runtime.probe import private

_SCALARS = (str, bytes, int, float, complex, type(None))
_MOST = 1000
"""Parts of a batch. One of more parts costs too much to build again."""


class UnknownBatchError(Exception):
    """The batch holds something that may not be the same the next time: a generator, an array,
    an object of a class that is not known."""


class KeptBatch:
    """A batch with what is needed to see that nobody has changed it.

    Raises:
        UnknownBatchError: it cannot be handed out twice.
    """

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self._tensors: list[tuple[torch.Tensor, int]] = []
        self._parts = 0
        # A copy, since the script may take the first one's containers apart.
        self._batch = self._rebuilt(batch, self._note)

    @property
    def is_changed(self) -> bool:
        """Whether the script has written into one of its tensors."""
        return any(private.version(each) != seen for each, seen in self._tensors)

    def again(self) -> Any:
        """The batch, with containers of its own around the same memory."""
        return self._rebuilt(self._batch, _fresh)

    def _note(self, tensor: torch.Tensor) -> torch.Tensor:
        version = private.version(tensor)
        if version is None:
            raise UnknownBatchError(type(tensor).__name__)
        self._tensors.append((tensor, version))
        return tensor

    def _rebuilt(self, value: Any, leaf: Any) -> Any:
        self._parts += 1
        if leaf is self._note and self._parts > _MOST:
            raise UnknownBatchError("too many parts")
        if isinstance(value, torch.Tensor):
            return leaf(value)
        if isinstance(value, _SCALARS):
            return value
        if type(value) in (list, tuple):
            return type(value)(self._rebuilt(each, leaf) for each in value)
        if isinstance(value, tuple) and hasattr(value, "_replace"):
            return type(value)(*(self._rebuilt(each, leaf) for each in value))
        if isinstance(value, (dict, UserDict)):
            rebuilt = copy.copy(value)
            for key, each in value.items():
                rebuilt[key] = self._rebuilt(each, leaf)
            return rebuilt
        raise UnknownBatchError(type(value).__name__)


def _fresh(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory without what the script has hung on the tensor, as a gradient."""
    return tensor.detach() if type(tensor) is torch.Tensor else tensor

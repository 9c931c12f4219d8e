"""Hears every operation of torch that a thread and its backward passes run."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from collections.abc import Callable

    Heard = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]
    """Gets the operation, its arguments by position and by name, and its result."""

_PLAIN: Any = torch.Tensor.__torch_dispatch__


_Mode: Any = private.dispatch_mode_class()


class Operations(_Mode):  # type: ignore[misc]
    """Tells of each operation once it has run.

    Compiled functions run as they were written as long as such a mode is open, so what is heard of
    them is not what runs otherwise.

    Args:
        heard: its exceptions do not reach the script.

    Attributes:
        took_s: seconds of the operation that it tells of.
    """

    took_s = 0.0
    supports_higher_order_operators = True

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self._heard = shielded(heard)
        self._thread = 0
        self._on = False

    def begin(self) -> str:
        """Listen to this thread, or say why that cannot be: the script would close ours for its own
        mode below it."""
        if _Mode is object:
            return "this torch has no dispatch modes"
        if private.dispatch_mode() is not None:
            return "the script has a dispatch mode of its own"
        self._thread, self._on = threading.get_ident(), True
        self.__enter__()
        return ""

    def end(self) -> None:
        """Stop listening. Where a mode of the script is above ours, ours stays and does
        nothing."""
        self._on = False
        if threading.get_ident() == self._thread and private.dispatch_mode() is self:
            self.__exit__(None, None, None)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self._on:
            return func(*args, **kwargs)
        if any(each.__torch_dispatch__ is not _PLAIN for each in types):
            return NotImplemented  # the class calls other operations, on the tensors in it
        if _may_be_made_of_others(func):
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        begun = time.perf_counter()
        result = func(*args, **kwargs)
        self.took_s = time.perf_counter() - begun
        self._heard(func, args, kwargs, result)
        return result


def _may_be_made_of_others(operation: Any) -> bool:
    """In inference mode, `linear` arrives here as such, and everywhere else as its parts."""
    if not hasattr(operation, "decompose"):  # one that takes functions
        return False
    return torch.is_inference_mode_enabled() and operation is not torch.ops.prim.device.default


def name_of(operation: Any) -> str:
    """`aten::mm`, without its overload."""
    name = operation.name() if callable(getattr(operation, "name", None)) else str(operation)
    return str(name).partition(".")[0]

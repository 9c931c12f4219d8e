"""Calls of one module that each take the next slice of one tensor, so that one call could take it.

That a call does not depend on the results of those before it is proved, not guessed: each tensor
that it gets is the same one, or a view of the same one, as in the first call, and nothing has
written to it since. What is computed between the calls is therefore never taken for such a slice.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchlint.runtime.probe import private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torchlint.runtime.probe.messages import Place

_PLAIN = (type(None), bool, int, float, str, torch.dtype, torch.device)
_MOST_ATTRIBUTES = 20_000
"""Of a module and those inside it; larger ones are not compared."""
_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_CELLS = (nn.LSTMCell, nn.GRUCell, nn.RNNCell)
_NETWORKS = (nn.LSTM, nn.GRU, nn.RNN)
"""Those for whole sequences, which may get one time step after the other as well."""


class _UnknownError(Exception):
    """Nothing can be said about a value."""


def may_be_sliced(values: Iterable[Any]) -> bool:
    """Whether one of these arguments is a view of another tensor, which most are not."""
    return any(private.base(each) is not None for each in values)


class SlicedRun:
    """Calls of one module, until one of them does not get the next slice.

    Args:
        module: the one that is called; it is not kept.
        args: of the first call.
        kwargs: the same, by name.

    Attributes:
        calls: in it.
        place: of the second one.
        seconds: in the calls, as far as they are known.
        between_s: seconds between the calls, without other modules.
        cell: each call but the first gets the state that the one before returned.
        norms: the module normalizes over a batch.
        shape: of the tensor whose slices it gets.
    """

    def __init__(self, module: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.calls = 1
        self.place: Place | None = None
        self.seconds = self.between_s = 0.0
        self.cell = type(module) in _CELLS or _takes_a_step(module, args)
        self.norms = False
        self.shape: tuple[int, ...] = ()
        self._wholes: list[Callable[[], Any]] = []
        self._offsets: list[int] = []
        self._strides: list[int] = []
        """From a call to the next, of each tensor."""
        self._results: list[Callable[[], Any]] = []
        self._module_state: object = None
        self._known = True
        self._left = self._inside = 0.0
        self._alike: list[object] = []
        try:
            for leaf in _leaves(self._inputs(args, kwargs)):
                self._alike.append(_described(leaf))
                if isinstance(leaf, torch.Tensor):
                    self._wholes.append(weakref.ref(_whole(leaf)))
                    self._offsets.append(int(leaf.storage_offset()))
        except (_UnknownError, RuntimeError):
            self._known = False

    def goes_on(self, module: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether the next call of the module is part of it, which then has one more."""
        if not self._known:
            return False
        try:
            goes_on = self._is_next(args, kwargs) and self._kept_state(module, args, kwargs)
        except (_UnknownError, RuntimeError):
            return False
        self.calls += goes_on
        return goes_on

    def entered(self, moment: float, inside: float) -> None:
        """A call but the first begins.

        Args:
            moment: on a clock that stops while something is watched, in seconds.
            inside: seconds so far in all modules that are called where this one is.
        """
        self.between_s += moment - self._left - (inside - self._inside)

    def left(self, module: Any, result: Any, moment: float, inside: float) -> None:
        """A call has returned."""
        self._left, self._inside = moment, inside
        if self.cell and self._known:
            state = result[1] if isinstance(module, _NETWORKS) else result
            self._results = [weakref.ref(each) for each in _leaves(state)]

    def _is_next(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        leaves = list(_leaves(self._inputs(args, kwargs)))
        tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
        if list(map(_described, leaves)) != self._alike or any(
            known() is not _whole(tensor)
            for known, tensor in zip(self._wholes, tensors, strict=True)
        ):
            return False
        offsets = [int(each.storage_offset()) for each in tensors]
        strides = [now - then for now, then in zip(offsets, self._offsets, strict=True)]
        if self.calls == 1:
            self._strides = strides
        self._offsets = offsets
        sliced = [each for each, stride in zip(tensors, strides, strict=True) if stride]
        if strides != self._strides or not sliced:
            return False
        self.shape = tuple(_whole(sliced[0]).shape)
        return all(
            self._is_slice(each, abs(stride))
            for each, stride in zip(tensors, strides, strict=True)
            if stride
        )

    def _is_slice(self, tensor: Any, stride: int) -> bool:
        """Whether it lies one index from the last one, and they do not overlap."""
        whole = _whole(tensor)
        steps = (each for each, size in zip(whole.stride(), whole.shape, strict=True) if size > 1)
        return stride in steps and (self.calls + 1) * tensor.numel() <= whole.numel()

    def _kept_state(self, module: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether the call gets no other state than that which the last one returned, if any."""
        if self.cell:
            state = list(_leaves(kwargs.get("hx", args[1] if len(args) > 1 else None)))
            return len(state) == len(self._results) and all(
                each is known() for each, known in zip(state, self._results, strict=True)
            )
        if self.calls == 1:
            self._module_state = _state_of(module)
            self.norms = any(_normalizes(each) for each in module.modules())
        return self.calls != 2 or _state_of(module) == self._module_state

    def _inputs(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if not self.cell:
            return args, kwargs
        return args[0] if args else kwargs["input"]


def _leaves(value: Any, depth: int = 3) -> Iterator[Any]:
    if depth and isinstance(value, tuple | list):
        for each in value:
            yield from _leaves(each, depth - 1)
    elif depth and isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _leaves(each, depth - 1)
    else:
        yield value


def _takes_a_step(module: Any, args: Sequence[Any]) -> bool:
    """Whether a recurrent network goes forward through time by one step."""
    if type(module) not in _NETWORKS or module.bidirectional or not args:
        return False
    time = 1 if module.batch_first else 0
    return isinstance(args[0], torch.Tensor) and args[0].ndim == 3 and args[0].shape[time] == 1


def _whole(tensor: Any) -> Any:
    """The tensor that it is a view of, or itself."""
    base = private.base(tensor)
    return tensor if base is None else base


def _described(leaf: Any) -> object:
    """Equal for what is the same, or a slice of the same shape of the same unchanged tensor."""
    if isinstance(leaf, _PLAIN):
        return leaf
    if type(leaf) not in (torch.Tensor, nn.Parameter) or leaf.layout != torch.strided:
        raise _UnknownError
    whole = _whole(leaf)
    version = private.version(whole)
    if version is None:
        raise _UnknownError
    return id(whole), version, tuple(leaf.shape), leaf.stride(), leaf.dtype


def _normalizes(module: Any) -> bool:
    return isinstance(module, _NORMS) and (module.training or not module.track_running_stats)


def _state_of(module: Any) -> list[object]:
    """What changes if a call leaves something in the module for the next one; not the statistics
    of norms."""
    found: list[object] = []
    for each in module.modules():
        known = vars(each)
        is_norm = isinstance(each, _NORMS)
        values = [value for name, value in known.items() if not (is_norm and name == "_buffers")]
        found += map(_token, values)
        if len(found) > _MOST_ATTRIBUTES:
            raise _UnknownError
    return found


def _token(value: Any, depth: int = 2) -> object:
    if isinstance(value, torch.Tensor):
        return id(value), private.version(value)
    if isinstance(value, _PLAIN):
        return value
    if depth and isinstance(value, dict):
        return [(id(name), _token(each, depth - 1)) for name, each in value.items()]
    if depth and isinstance(value, tuple | list | set | deque):
        return [_token(each, depth - 1) for each in value]
    return id(value)

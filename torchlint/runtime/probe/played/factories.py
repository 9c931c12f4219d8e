"""Functions that make tensors: they take a device, which the real ones would not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import moves, waits
from torchlint.runtime.probe.played.marks import HOST, PINNED, UNSAID, device_of, put
from torchlint.runtime.probe.played.refusals import refusal
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping.interpose import replace, replace_scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

_NAMES: Final = (
    "empty empty_strided empty_quantized empty_permuted ones zeros full arange linspace logspace "
    "eye rand randn randint randperm range normal tril_indices triu_indices scalar_tensor "
    "bartlett_window blackman_window hamming_window hann_window kaiser_window "
    "sparse_coo_tensor sparse_compressed_tensor sparse_csr_tensor sparse_csc_tensor "
    "sparse_bsr_tensor sparse_bsc_tensor from_file nested_tensor "
    "empty_like full_like ones_like rand_like randint_like randn_like zeros_like"
).split()
_LIKE: Final = frozenset(
    "empty_like full_like ones_like rand_like randint_like randn_like zeros_like".split()
)
_WITH_SIZE: Final = 3
"""Arguments of `sparse_coo_tensor`, if one of them is the size."""
_FROM_DATA: Final = ("tensor", "as_tensor", "asarray")


def install() -> None:
    """Replace them, in this process."""
    context, known = private.device_context()
    for name in _NAMES:
        _replace(torch, name, like=name in _LIKE)
    for name in _FROM_DATA:
        _replace(torch, name, fills=True)
    for name in ("fftfreq", "rfftfreq"):
        _replace(torch.fft, name)
    for name in ("nested_tensor", "as_nested_tensor"):
        if hasattr(torch.nested, name):
            replace(torch.nested, name, _nested)
    if context is not private.MISSING:
        replace(context, "__torch_function__", lambda plain: _in_context(plain, known))


def _replace(owner: Any, name: str, *, fills: bool = False, like: bool = False) -> None:
    if getattr(owner, name, None) is None:
        return

    def make(plain: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            if like and kwargs.get("device") is None and not kwargs.get("pin_memory"):
                return plain(*args, **kwargs)
            return made(plain, args, kwargs, fills=fills)

        return call

    replace_scripted(owner, name, make)


def made(
    plain: Function, args: tuple[Any, ...], kwargs: dict[str, Any], *, fills: bool = False
) -> Any:
    """Call a function that makes a tensor, on the device that is asked for.

    Args:
        fills: it takes the content from values of the host, which are copied to the device.
    """
    asked = kwargs.get("device")
    index = PLAYED.index_of(asked) if PLAYED.on else None
    if not PLAYED.on or PLAYED.thread.quiet:
        if index is None:
            return plain(*args, **kwargs)
        result = plain(*args, **{**kwargs, "device": "cpu"})  # in an operation written in Python
        put(result, index)
        return result
    if asked is not None and (index is not None or torch.device(asked).type == "cpu"):
        kwargs = {**kwargs, "device": "cpu"}
        if index is None and kwargs.pop("pin_memory", False):
            return _pinned(plain, args, kwargs)
    elif kwargs.get("pin_memory"):
        return _pinned(plain, args, {**kwargs, "pin_memory": False})
    if fills:
        return _filled(plain, args, kwargs, index, known=asked is not None)
    kwargs.pop("pin_memory", None)
    if plain.__name__ == "sparse_coo_tensor" and "size" not in kwargs and len(args) < _WITH_SIZE:
        # sparse/SparseTensor.cpp: the largest indices are read
        there = index is not None or device_of(args[0]) is not None
        waits.read("sparse_coo_tensor", 2 if there else 0)
    lies = UNSAID if asked is None else HOST if index is None else index
    return PLAYED.making(lies, plain, *args, **kwargs)


def _pinned(plain: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = PLAYED.making(HOST, plain, *args, **kwargs)
    put(result, PINNED)
    return result


def _filled(
    plain: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    index: int | None,
    *,
    known: bool,
) -> Any:
    """`torch.tensor` and its like.

    Args:
        known: a device was asked for; else the one of a tensor is kept.
    """
    values = args[-1] if args and not isinstance(args[-1], torch.dtype) else None
    values = kwargs.get("data", kwargs.get("obj", values))
    if isinstance(values, torch.Tensor):
        kwargs = {name: each for name, each in kwargs.items() if name != "device"}
        came_from = device_of(values)
        result = plain(*args, **kwargs)
        if not known or came_from == index:
            return result
        return result.to("cpu" if index is None else torch.device("cuda", index))
    if not known and private.has_function_modes():  # one of them may be a default device
        result = plain(*args, **kwargs)
        if device_of(result) is not None:
            return result
    else:
        result = PLAYED.quietly(plain, *args, **kwargs)
    waits.read("tensor", waits.of_numbers(values))
    if index is None:
        if _is_new(plain, values):
            put(result, HOST, PLAYED.ledger.here())
        return result
    copied = PLAYED.quietly(result.clone) if not _is_new(plain, values) else result
    size = copied.numel() * copied.element_size()
    moves.to_device(copied, size, pinned=False, wait=True, kind=moves.VALUES)
    put(copied, index)
    return copied


def _is_new(plain: Function, values: Any) -> bool:
    """Whether the result shares no memory with the values."""
    return plain.__name__ in ("tensor", "new_tensor") or isinstance(
        values, (list, tuple, int, float)
    )


def _nested(plain: Function) -> Function:
    """A jagged tensor is made in Python; one of strided layout in C++, from tensors that lie where
    it shall lie, or else not at all."""

    def nested(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        index = PLAYED.index_of(kwargs.get("device")) if PLAYED.on else None
        if index is None or kwargs.get("layout") == torch.jagged:
            return plain(tensors, *args, **kwargs)
        lie = [device_of(each) if isinstance(each, torch.Tensor) else None for each in tensors]
        if any(each != index for each in lie):
            what = "A nested tensor of strided layout that is copied to the GPU"
            raise refusal(f"torch.nested.{plain.__name__}", what)
        return plain(tensors, *args, **{**kwargs, "device": None})

    return nested


def _in_context(plain: Function, known: Any) -> Function:
    """`with torch.device("cuda")` and `torch.set_default_device` add the device to such calls."""

    def torch_function(
        self: Any, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        index = PLAYED.index_of(self.device) if PLAYED.on else None
        if index is None:
            return plain(self, func, types, args, kwargs)
        if PLAYED.thread.quiet:
            return func(*args, **kwargs)
        # A device that the script names has become the host's by now; without one, this is asked.
        if func in known and kwargs.get("device") is None:
            kwargs["device"] = torch.device("cuda", index)
            return made(func, args, kwargs, fills=func.__name__ in _FROM_DATA)
        return func(*args, **kwargs)

    return torch_function

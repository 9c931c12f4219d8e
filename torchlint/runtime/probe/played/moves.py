"""Copies between the host and a device, and what the host waits for in them.

A copy to a device waits unless it is asked not to; from pages that are not pinned the host also
does the work itself. A copy to the host waits unless it is asked not to; then it goes to pinned
memory. https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played.ledger import PAGEABLE, SMALL
from torchlint.runtime.probe.played.marks import (
    OPEN,
    PINNED,
    device_of,
    is_pinned,
    mark_of,
    put,
)
from torchlint.runtime.probe.played.state import PLAYED

if TYPE_CHECKING:
    from torchlint.runtime.probe.played.marks import Made

LATE: Final = "pageable, non-blocking"
BLOCKING: Final = "blocking"
ASYNCHRONOUS: Final = "pinned, non-blocking"
INDEX: Final = "index"
VALUES: Final = "values"
BETWEEN: Final = "between devices"
_LOOKED_AT: Final = 1 << 18
"""Elements at each end."""

_to = torch.Tensor.to
_graph_task = private.graph_task()
_roots: list[int | None] = []


def of_backward() -> int | None:
    """The device of the gradients that are being taken on this thread; None: outside."""
    return _roots[-1] if _roots and _graph_task() != -1 else None


def watch_backward() -> None:
    """Know whose gradients are taken: formulas in C++ make tensors without asking where."""
    private.wrap_engine(_rooted)


def _rooted(plain: Any) -> Any:
    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        found = (device_of(each) for each in outputs if isinstance(each, torch.Tensor))
        _roots.append(next((each for each in found if each is not None), None))
        try:
            return plain(outputs, *args, **kwargs)
        finally:
            _roots.pop()

    return run


_Function: Any = torch.autograd.Function


class _Moved(_Function):  # type: ignore[misc]
    """A copy whose gradient goes the way back."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, to: int | None, how: dict[str, Any], wait: bool) -> Any:
        ctx.came_from, ctx.dtype = device_of(tensor), tensor.dtype
        return _moved(tensor, to, how, wait)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        # FunctionsManual.cpp, `_to_copy_backward`: it waits, whatever the way there did.
        back = {"dtype": ctx.dtype}
        return move(gradients[0], ctx.came_from, back, non_blocking=False), None, None, None


def move(tensor: Any, to: int | None, how: dict[str, Any], *, non_blocking: bool) -> Any:
    """A copy of the tensor on a device, or on the host if `to` is None.

    Args:
        how: `dtype` and `memory_format` of the copy, as far as they are asked for.
    """
    if tensor.requires_grad and torch.is_grad_enabled():
        return _Moved.apply(tensor, to, how, not non_blocking)
    return _moved(tensor, to, how, not non_blocking)


def _moved(tensor: Any, to: int | None, how: dict[str, Any], wait: bool) -> Any:
    came_from = device_of(tensor)
    if private.inside_subclass(tensor) is not None:
        return _moved_by_parts(tensor, to, how, wait)
    result = PLAYED.quietly(_to, tensor.detach(), **{**how, "copy": True})
    size = result.numel() * result.element_size()
    if to is not None:
        put(result, to)
    if came_from is None and to is not None:
        _from_host(tensor, result, size, wait=wait)
    elif came_from is not None and to is None:
        if wait and size:
            PLAYED.ledger.wait("cpu")
        elif not wait:
            put(result, PINNED)
    elif came_from is not None and to is not None and came_from != to:
        PLAYED.ledger.copy(BETWEEN, size)
    elif to is not None:
        _launch(to, result)
    return result


def _moved_by_parts(tensor: Any, to: int | None, how: dict[str, Any], wait: bool) -> Any:
    """Its class copies the tensors that it is made of, for the first by the operation that would
    copy all of it."""
    tensor = tensor.detach()
    PLAYED.thread.moving = to, wait
    try:
        return _to(tensor, **how, copy=True)
    finally:
        PLAYED.thread.moving = None


def part(tensor: Any, asked: dict[str, Any]) -> Any:
    """The copy of a tensor that is part of one which is moved.

    Args:
        asked: by name, what `_to_copy` was asked for.
    """
    (to, wait), PLAYED.thread.moving = PLAYED.thread.moving or (None, True), None
    how = {name: asked[name] for name in ("dtype", "memory_format") if asked.get(name) is not None}
    return _moved(tensor, to, how, wait)


def _launch(device: int, tensor: Any) -> None:
    """The device reads and writes as many elements as the tensor has."""
    size = 2 * tensor.numel() * tensor.element_size()
    PLAYED.ledger.launch(device, size=size, small=tensor.numel() < SMALL)


def _from_host(tensor: Any, copied: Any, size: int, *, wait: bool) -> None:
    """Count the copy of a tensor that the script moves."""
    mark = mark_of(tensor)
    pinned = is_pinned(mark) and _is_dense(tensor)
    made = mark.made if mark is not None else None
    to_device(copied, size, pinned=pinned, wait=wait, made=made)


def _is_dense(tensor: Any) -> bool:
    """Whether it is copied as it lies; else a part of the host's memory that is not pinned stands
    between (`cuda/Copy.cu`, `copy_requires_temporaries`)."""
    size = tensor.numel() * tensor.element_size()
    return bool(tensor.is_contiguous() or tensor.untyped_storage().nbytes() == size)


def to_device(
    copied: Any,
    size: int,
    *,
    pinned: bool,
    wait: bool,
    made: Made | None = None,
    kind: str = "",
) -> None:
    """Count a copy from the host.

    Args:
        copied: has the content; it is on the host in truth.
        size: bytes.
        made: the line that made it on the host.
        kind: if it is not a tensor that the script moves: `INDEX` or `VALUES`.
    """
    if not size:
        return
    book = PLAYED.ledger
    if not kind:
        kind = (BLOCKING if wait else ASYNCHRONOUS) if pinned else (PAGEABLE if wait else LATE)
    dense = copied.layout == torch.strided
    book.copy(kind, size, partial(PLAYED.quietly, _digest, copied) if dense else None, made)
    if wait:
        book.wait(f"copy, {kind}")


def _digest(tensor: Any) -> int:
    """A number that is another one for other content, as a rule: of the ends of a long tensor.

    Args:
        tensor: dense, on the host.
    """
    flat = tensor.detach().reshape(-1)
    if flat.numel() > 2 * _LOOKED_AT:
        flat = torch.cat((flat[:_LOOKED_AT], flat[-_LOOKED_AT:]))
    return crc32(flat.contiguous().view(torch.uint8).numpy().tobytes(), flat.numel())


def copy_in_place(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """`copy_`, and the same for lists of tensors."""
    result = func(*args, **kwargs)
    wait = not (args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    one = name == "aten::copy_"
    pairs = ((args[0], args[1]),) if one else zip(args[0], args[1], strict=False)
    for target, source in pairs:
        _copied(target, source, wait=wait)
    return result


def _copied(target: Any, source: Any, *, wait: bool) -> None:
    """Count what has copied one tensor into another."""
    to, came_from = device_of(target), device_of(source)
    if to is not None and came_from is None:
        if _joins(source, to):
            if PLAYED.thread.setting and not target.dim():
                # TensorIndexing.h, `copy_to`: only more than one element is filled.
                size = target.element_size()
                to_device(source, size, pinned=False, wait=True, kind=VALUES)
            else:
                _launch(to, target)
        else:
            size = target.numel() * target.element_size()
            _from_host(source, source, size, wait=wait)
    elif to is None and came_from is not None:
        if _joins(target, came_from):
            _launch(came_from, target)
        elif wait or not is_pinned(mark_of(target)):
            PLAYED.ledger.wait("copy_")  # to pages that are not pinned in any case
    elif to is not None:
        _launch(to, target)


def _joins(tensor: Any, device: int) -> bool:
    """Let a tensor that may lie anywhere lie on the device; whether it may."""
    mark = mark_of(tensor)
    if mark is None or mark.lies != OPEN:
        return False
    put(tensor, device)
    return True

"""Copies between the host and a device, and what the host waits for in them.

A copy to a device waits unless it is asked not to; from pages that are not pinned the host also
does the work itself. A copy to the host waits unless it is asked not to; then it goes to pinned
memory. https://docs.pytorch.org/docs/stable/notes/cuda.html#use-pinned-memory-buffers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import ledger
from torchlint.runtime.probe.played.ledger import PAGEABLE
from torchlint.runtime.probe.played.marks import (
    HOST,
    OPEN,
    PINNED,
    device_of,
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

_to = torch.Tensor.to
_graph_task = private.graph_task()
_digests: dict[tuple[object, int, str], int] = {}
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
    mark = mark_of(tensor)
    result = PLAYED.quietly(_to, tensor.detach(), **{**how, "copy": True})
    size = result.numel() * result.element_size()
    if to is not None:
        put(result, to)
    if came_from is None and to is not None:
        pinned = mark is not None and mark.lies == PINNED and _is_dense(tensor)
        made = mark.made if mark is not None and mark.lies == HOST else None
        to_device(result, size, pinned=pinned, wait=wait, made=made)
    elif came_from is not None and to is None:
        if wait:
            PLAYED.ledger.wait("cpu")
        else:
            put(result, PINNED)
    elif came_from is not None and to is not None and came_from != to:
        PLAYED.ledger.copy(BETWEEN, size)
    elif to is not None:
        PLAYED.ledger.launch(to, size=2 * size, small=result.numel() < ledger.SMALL)
    return result


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
    book.copy(kind, size, same=_is_same(copied, kind), made=made)
    if wait:
        book.wait(f"copy, {kind}")


def _is_same(copied: Any, kind: str) -> bool:
    """Whether the last copy at this line had the same content."""
    if not PLAYED.ledger.open or copied.layout != torch.strided:
        return False
    key = PLAYED.ledger.line(), copied.numel(), kind
    now = PLAYED.quietly(ledger.digest, copied)
    before = _digests.get(key)
    _digests[key] = now
    return bool(before == now)


def copy_in_place(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """`copy_`, and the same for lists of tensors."""
    result = func(*args, **kwargs)
    wait = not (args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    one = name == "aten::copy_"
    pairs = ((args[0], args[1]),) if one else zip(args[0], args[1], strict=False)
    for target, source in pairs:
        to, came_from = device_of(target), device_of(source)
        size = target.numel() * target.element_size()
        if to is not None and came_from is None:
            mark = mark_of(source)
            if mark is not None and mark.lies == OPEN:
                put(source, to)
                if PLAYED.thread.setting and not target.dim():
                    # TensorIndexing.h, `copy_to`: only more than one element is filled.
                    to_device(source, size, pinned=False, wait=True, kind=VALUES)
                    continue
                PLAYED.ledger.launch(to, size=2 * size, small=target.numel() < ledger.SMALL)
                continue
            pinned = mark is not None and mark.lies == PINNED and _is_dense(source)
            made = mark.made if mark is not None and mark.lies == HOST else None
            to_device(source, size, pinned=pinned, wait=wait, made=made)
        elif to is None and came_from is not None:
            mark = mark_of(target)
            if mark is not None and mark.lies == OPEN:
                put(target, came_from)
                PLAYED.ledger.launch(came_from, size=2 * size, small=target.numel() < ledger.SMALL)
            elif wait or mark is None or mark.lies != PINNED:
                PLAYED.ledger.wait("copy_")  # to pages that are not pinned in any case
        elif to is not None and came_from is not None:
            PLAYED.ledger.launch(to, size=2 * size, small=target.numel() < ledger.SMALL)
    return result

"""Functions of torch, made of other operations, that read on the CPU what they do not on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import played_operations, waits
from torchlint.runtime.probe.played.marks import device_of
from torchlint.runtime.probe.played.refusals import refusal
from torchlint.runtime.probe.played.state import PLAYED
from torchlint.runtime.probe.wrapping.interpose import replace, replace_scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]


def install() -> None:
    """Replace them, in this process."""
    for owner, name, reads in _FUNCTIONS:
        if getattr(owner, name, None) is not None:
            replace_scripted(owner, name, _unread(reads))
    replace(torch, "compile", _uncompiled)
    replace(private.functions_in_c(), "cross_entropy_loss", _smoothed)
    for name, asks in _GRADIENTS.items():
        replace_scripted(torch, name, _looked_at(name, asks))
        replace(torch.Tensor, name, _looked_at(name, asks))
    for name in ("trace", "trace_module"):
        replace(torch.jit, name, _traced)
    replace_scripted(torch, "ctc_loss", _by_lists)
    private.wrap_printer(_printed)
    private.wrap_jagged_attention(_chosen)


def _unread(reads: Callable[..., int]) -> Callable[[Function], Function]:
    """For a function whose reads are none of the device's, but so many."""

    def make(plain: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            first = args[0] if args else kwargs.get("input", kwargs.get("tensor"))
            if not PLAYED.on or not isinstance(first, torch.Tensor) or device_of(first) is None:
                return plain(*args, **kwargs)
            book = PLAYED.ledger
            before, book.deaf = book.deaf, True
            try:
                result = plain(*args, **kwargs)
            finally:
                book.deaf = before
            waits.read(plain.__name__, reads(*args, **kwargs))
            return result

        return call

    return make


def _looked_at(kind: str, asks: Callable[..., bool]) -> Callable[[Function], Function]:
    """For a function whose backward pass waits once on a GPU. Where a mode is open, torch takes
    another way in it (`FunctionsManual.cpp`: prod_backward, cumprod_backward, masked_fill).

    Args:
        asks: whether these arguments need that gradient.
    """

    def make(plain: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = plain(*args, **kwargs)
            node = getattr(result, "grad_fn", None)
            if PLAYED.on and node is not None and device_of(result) is not None and asks(*args):
                node.register_prehook(lambda _: waits.read(kind))
            return result

        return call

    return make


def _smoothed(plain: Function) -> Function:
    """`LossNLL.cpp`, `cross_entropy_loss_label_smoothing`: of weights, those of targets that count
    are selected by a mask."""

    def cross_entropy_loss(*args: Any, **kwargs: Any) -> Any:
        weight, reduction, smoothing = (
            args[at] if len(args) > at else kwargs.get(name)
            for at, name in ((2, "weight"), (3, "reduction"), (5, "label_smoothing"))
        )
        if PLAYED.on and weight is not None and smoothing and reduction in (None, 1):
            waits.read("cross_entropy", device_of(args[0]) is not None)
        return plain(*args, **kwargs)

    return cross_entropy_loss


def _traced(plain: Function) -> Function:
    """A trace of operations does not hear those that a mode has heard."""

    def trace(*args: Any, **kwargs: Any) -> Any:
        with private.without_modes():
            return plain(*args, **kwargs)

    return trace


def _uncompiled(plain: Function) -> Function:
    """`TORCHDYNAMO_DISABLE` is set, so what this returns runs as it is written."""

    def compile_(*args: Any, **kwargs: Any) -> Any:
        PLAYED.ledger.compiles = True
        return plain(*args, **kwargs)

    return compile_


def _printed(plain: Function) -> Function:
    """torch closes all modes before it prints a tensor, value by value."""

    def text(*args: Any, **kwargs: Any) -> Any:
        if not PLAYED.on or device_of(args[0]) is None:
            return plain(*args, **kwargs)
        with played_operations.PlayedOperations():
            return plain(*args, **kwargs)

    return text


def _chosen(plain: Function) -> Function:
    """A GPU has kernels for attention over jagged tensors, a CPU does it by way of other tensors
    (`torch/nested/_internal/sdpa.py`)."""

    def choose(query: Any, *args: Any, **kwargs: Any) -> Any:
        if PLAYED.on and device_of(query) is not None:
            name = "torch.nn.functional.scaled_dot_product_attention"
            raise refusal(name, "Attention over jagged tensors")
        return plain(query, *args, **kwargs)

    return choose


def _has_value_with_gradient(*args: Any) -> bool:
    return len(args) > 2 and isinstance(args[2], torch.Tensor) and args[2].requires_grad


_GRADIENTS: Final = {
    "prod": lambda *_: True,
    "cumprod": lambda *_: True,
    "masked_fill": _has_value_with_gradient,
}
"""Functions whose backward pass waits, by whether these arguments need that."""


def _of_one_hot(tensor: Any, num_classes: int = -1) -> int:
    """`Onehot.cpp`: without a number of classes, the largest is read; on a CPU also the range."""
    return 1 if num_classes == -1 and tensor.numel() else 0


def _by_lists(plain: Function) -> Function:
    """`LossCTC.cpp`: lengths in tensors are read, where a mode is open they are not; with the mean,
    those of the targets are copied to the device as well."""

    def ctc_loss(
        log_probs: Any,
        targets: Any,
        input_lengths: Any,
        target_lengths: Any,
        blank: int = 0,
        reduction: int = 1,
        zero_infinity: bool = False,
    ) -> Any:
        if not PLAYED.on or device_of(log_probs) is None:
            given = input_lengths, target_lengths, blank, reduction, zero_infinity
            return plain(log_probs, targets, *given)
        lengths = []
        for each in (input_lengths, target_lengths):
            if isinstance(each, torch.Tensor) and device_of(each) is not None:
                waits.read("ctc_loss")
            is_list = not isinstance(each, torch.Tensor)
            lengths.append(each if is_list else PLAYED.quietly(each.tolist))
        if reduction == 1:
            waits.read("ctc_loss")
        return plain(log_probs, targets, *lengths, blank, reduction, zero_infinity)

    return ctc_loss


_FUNCTIONS: Final = (
    (torch.nn.functional, "one_hot", _of_one_hot),
    (private.functions_in_c(), "one_hot", _of_one_hot),
    # Sorting.cpp: until 2.7 a CPU looks whether they are between 0 and 1.
    (torch, "quantile", lambda *_, **__: 0),
    (torch, "nanquantile", lambda *_, **__: 0),
)

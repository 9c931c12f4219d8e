"""What `torch.nn.SyncBatchNorm` is made of, which torch has for GPUs only.

Ranks exchange mean, inverse deviation and number of their elements, and normalize by those of all.
Types of results are those of `cuda/Normalization.cu`: statistics of half precision are in float32.
"""

from __future__ import annotations

from typing import Any, Final

import torch


def _stats(tensor: Any, eps: float) -> tuple[Any, Any]:
    """`batch_norm_stats`.

    Args:
        tensor: N, C, and any more.

    Returns:
        For each channel its mean, and one by its deviation; C each.
    """
    variance, mean = torch.var_mean(_precise(tensor), _others(tensor), correction=0)
    return mean, torch.rsqrt(variance + eps)


def _gather(
    tensor: Any,
    means: Any,
    inverses: Any,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
    counts: Any,
) -> tuple[Any, Any]:
    """`batch_norm_gather_stats_with_counts`: mean and inverse deviation of all ranks' elements, by
    which the running ones move, too.

    Args:
        means: ranks, C; `inverses` too.
        counts: elements of a channel on each rank.
    """
    share = counts.to(means.dtype)[:, None]
    count = share.sum()
    mean = (means * share).sum(0) / count
    squares = ((inverses**-2 - eps + (means - mean) ** 2) * share).sum(0)
    if running_mean is not None:
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
    if running_var is not None:
        running_var.lerp_((squares / (count - 1)).to(running_var.dtype), momentum)
    return mean, torch.rsqrt(squares / count + eps)


def _normalized(
    tensor: Any, weight: Any, bias: Any, mean: Any, inverse: Any, eps: float, *, out: Any = None
) -> Any:
    """`batch_norm_elemt`."""
    each = _along(tensor)
    result = (_precise(tensor) - each(mean)) * each(inverse)
    if weight is not None:
        result = result * each(weight)
    if bias is not None:
        result = result + each(bias)
    result = result.to(tensor.dtype)
    return result if out is None else out.copy_(result)


def _reduced(
    gradient: Any,
    tensor: Any,
    mean: Any,
    inverse: Any,
    weight: Any,
    of_input: bool,
    of_weight: bool,
    of_bias: bool,
) -> tuple[Any, Any, Any, Any]:
    """`batch_norm_backward_reduce`: of this rank's gradients, C each: their sum, their product with
    the distance from the mean, and the gradients of weight and bias; None: not asked for."""
    each, slope = _along(tensor), _precise(gradient)
    total = slope.sum(_others(tensor))
    product = (slope * (_precise(tensor) - each(mean))).sum(_others(tensor))
    kind = mean.dtype if weight is None else weight.dtype
    return (
        total if of_input else None,
        product if of_input else None,
        (product * inverse).to(kind) if of_weight else None,
        total.to(kind) if of_bias else None,
    )


def _backward(
    gradient: Any,
    tensor: Any,
    mean: Any,
    inverse: Any,
    weight: Any,
    total: Any,
    product: Any,
    counts: Any,
) -> Any:
    """`batch_norm_backward_elemt`: the gradient of the input.

    Args:
        total: and `product`, of all ranks.
    """
    each, count = _along(tensor), counts.sum()
    along = (_precise(tensor) - each(mean)) * each(inverse**2 * product / count)
    result = (_precise(gradient) - each(total / count) - along) * each(inverse)
    if weight is not None:
        result = result * each(weight)
    return result.to(tensor.dtype)


def _precise(tensor: Any) -> Any:
    """In the type in which a GPU adds up."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _others(tensor: Any) -> list[int]:
    """The dimensions that are not the channel's."""
    return [0, *range(2, tensor.dim())]


def _along(tensor: Any) -> Any:
    """Shapes what there is once for each channel so that it meets this tensor."""
    shape = [1, -1] + [1] * (tensor.dim() - 2)
    return lambda values: values.reshape(shape)


STAND_INS: Final[dict[str, Any]] = {
    "aten::batch_norm_stats": _stats,
    "aten::batch_norm_gather_stats_with_counts": _gather,
    "aten::batch_norm_elemt": _normalized,
    "aten::batch_norm_backward_reduce": _reduced,
    "aten::batch_norm_backward_elemt": _backward,
}

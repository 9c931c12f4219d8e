"""Operations that torch has for GPUs only, or had, and what does the same on a CPU."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe.played import sync_batch_norm
from torchlint.runtime.probe.played.state import TORCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    Tensors = Sequence[torch.Tensor]


def _unscale(gradients: Any, found_inf: Any, inverse: Any) -> None:
    """`_amp_foreach_non_finite_check_and_unscale_`, which a CPU has since torch 2.3."""
    for each in gradients:
        if not torch.isfinite(each).all():
            found_inf.fill_(1.0)
        each.mul_(inverse.to(each.dtype))


def _update(
    scale: Any, tracker: Any, found_inf: Any, growth: float, backoff: float, interval: int
) -> Any:
    """`_amp_update_scale_`, the same."""
    if found_inf:
        scale.mul_(backoff)
        tracker.zero_()
    else:
        tracker.add_(1)
        if tracker == interval:
            scale.mul_(growth)
            tracker.zero_()
    return scale


def _adam(*lists: Tensors, decoupled: bool, **how: Any) -> None:
    """`_fused_adam_` and `_fused_adamw_`, which a CPU has since torch 2.4: Adam as in
    https://arxiv.org/abs/1412.6980, or with its weight decay apart from the gradients.

    Args:
        lists: parameters, gradients, first and second moments, the largest second moments, steps.
        how: `lr`, `beta1`, `beta2`, `weight_decay`, `eps`, `amsgrad`, `maximize`.
    """
    if how.get("found_inf") is not None and bool(how["found_inf"]):
        return
    parameters, gradients, firsts, seconds, largest, steps = lists
    lr, beta1, beta2, decay = (
        float(how[name]) for name in ("lr", "beta1", "beta2", "weight_decay")
    )
    for at, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        if how.get("grad_scale") is not None:
            gradient.div_(how["grad_scale"])
        slope = -gradient if how["maximize"] else gradient
        if decoupled:
            parameter.mul_(1 - lr * decay)
        elif decay:
            slope = slope.add(parameter, alpha=decay)
        step = float(steps[at])
        firsts[at].lerp_(slope, 1 - beta1)
        seconds[at].mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
        second = seconds[at]
        if how["amsgrad"]:
            second = torch.maximum(largest[at], second, out=largest[at])
        root = second.sqrt().div_((1 - beta2**step) ** 0.5).add_(how["eps"])
        parameter.addcdiv_(firsts[at], root, value=-lr / (1 - beta1**step))


STAND_INS: Final[dict[str, Any]] = {**sync_batch_norm.STAND_INS}
"""By the name of the operation."""
if TORCH < (2, 3):
    STAND_INS["aten::_amp_foreach_non_finite_check_and_unscale_"] = _unscale
    STAND_INS["aten::_amp_update_scale_"] = _update
if TORCH < (2, 4):
    STAND_INS["aten::_fused_adam_"] = partial(_adam, decoupled=False)
    STAND_INS["aten::_fused_adamw_"] = partial(_adam, decoupled=True)

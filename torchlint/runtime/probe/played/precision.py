"""Mixed precision of a played device: the host's autocast, switched on with CUDA's."""

from __future__ import annotations

from typing import Any, Final

import torch

from torchlint.runtime.probe.played.state import TORCH
from torchlint.runtime.probe.wrapping.interpose import replace


def install() -> None:
    """Follow `torch.autocast("cuda")`, and what is derived from it."""
    autocast: Any = torch.autocast
    replace(autocast, "__enter__", _entering)
    replace(autocast, "__exit__", _leaving)


def _entering(plain: Any) -> Any:
    def enter(self: Any) -> Any:
        result = plain(self)
        if str(self.device) == "cuda":
            before = torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
            self._torchlint_before = [*getattr(self, "_torchlint_before", ()), before]
            _switch(self._enabled, self.fast_dtype)
        return result

    return enter


def _leaving(plain: Any) -> Any:
    def leave(self: Any, *error: Any) -> Any:
        before = getattr(self, "_torchlint_before", None)
        if before:
            _switch(*before.pop())
        return plain(self, *error)

    return leave


def _switch(enabled: bool, dtype: Any) -> None:
    torch.set_autocast_cpu_enabled(enabled)
    try:
        torch.set_autocast_cpu_dtype(dtype)
    except RuntimeError:  # torch 2.1 and 2.2 have no float16 there
        torch.set_autocast_cpu_dtype(torch.bfloat16)


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


STAND_INS: Final[dict[str, Any]] = (
    {}
    if TORCH >= (2, 3)
    else {
        "aten::_amp_foreach_non_finite_check_and_unscale_": _unscale,
        "aten::_amp_update_scale_": _update,
    }
)
"""Operations that this torch has for GPUs only, and what does the same on a CPU."""

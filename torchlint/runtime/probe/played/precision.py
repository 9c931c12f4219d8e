"""Mixed precision of a played device: the host's autocast, switched on with CUDA's."""

from __future__ import annotations

from typing import Any

import torch

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
            self.torchlint_before = [*getattr(self, "torchlint_before", ()), before]
            _switch(self._enabled, self.fast_dtype)
        return result

    return enter


def _leaving(plain: Any) -> Any:
    def leave(self: Any, *error: Any) -> Any:
        before = getattr(self, "torchlint_before", None)
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

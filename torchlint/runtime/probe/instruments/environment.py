"""Switches of torch and variables that slow down every step, as they are in the midst of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings

_VARIABLES = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "NCCL_DEBUG": "TRACE",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
    "TORCH_DISTRIBUTED_DEBUG": "DETAIL",
    "TORCH_SHOW_CPP_STACKTRACES": "1",
}
"""Those for debugging, and the value that makes them cost something."""


def install(_settings: Settings) -> Environment:
    """Nothing has to be prepared."""
    return Environment()


class Environment:
    """Looks once, when the window ends."""

    def begin(self) -> None:
        """Nothing has to be watched."""

    def step(self) -> None:
        """A step changes nothing."""

    def end(self) -> dict[str, object]:
        """`variables`: names of those for debugging that are set; `anomaly` and `deterministic`:
        switches of torch; `threads`: torch's own for one operation."""
        return {
            "variables": [
                name for name, value in _VARIABLES.items() if os.environ.get(name) == value
            ],
            "anomaly": torch.is_anomaly_enabled(),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
            "threads": torch.get_num_threads(),
        }

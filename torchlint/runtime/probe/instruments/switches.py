"""Switches of torch and variables that slow down every step, as they are in the midst of it."""

from __future__ import annotations

import os

import torch

from torchlint.runtime.probe.instrument_messages import SwitchesSeen
from torchlint.runtime.probe.instruments.observer import Observer

_VARIABLES = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "NCCL_DEBUG": "TRACE",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
    "TORCH_DISTRIBUTED_DEBUG": "DETAIL",
    "TORCH_SHOW_CPP_STACKTRACES": "1",
}
"""Those for debugging, and the value that makes them cost something."""


class EnvironmentObserver(Observer):
    """Looks once, when the window ends."""

    def end(self) -> SwitchesSeen:
        variables = [name for name, value in _VARIABLES.items() if os.environ.get(name) == value]
        return SwitchesSeen(variables, torch.is_anomaly_enabled())


watch = EnvironmentObserver

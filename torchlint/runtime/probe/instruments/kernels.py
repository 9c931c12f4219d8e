"""Which kernels a step runs: of attention, of optimizers, and in which type of number products are
computed; and how many floating-point operations they are.

On a thread with a dispatch mode every operation takes some microseconds more, and compiled
functions run as they were written, maybe for the rest of the process. So this has a run of its own,
of a few steps, and sees nothing of a script that compiles.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.clock import uses_gpu
from torchlint.runtime.probe.steps.events import BACKWARD, LOADER, OPTIMIZER
from torchlint.runtime.probe.steps.flops import Flops
from torchlint.runtime.probe.steps.interpose import replace
from torchlint.runtime.probe.steps.lane_clock import OTHER, OpenLanes
from torchlint.runtime.probe.steps.operations import Operations, name_of

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo

ATTENTION = {
    "aten::_scaled_dot_product_flash_attention": "flash",
    "aten::_scaled_dot_product_flash_attention_for_cpu": "flash",
    "aten::_flash_attention_forward": "flash",
    "aten::_scaled_dot_product_efficient_attention": "efficient",
    "aten::_efficient_attention_forward": "efficient",
    "aten::_scaled_dot_product_cudnn_attention": "cudnn",
    "aten::_scaled_dot_product_fused_attention_overrideable": "overrideable",
    "aten::_scaled_dot_product_attention_math_for_mps": "math",
    "aten::_safe_softmax": "math",
}
"""Backends of `scaled_dot_product_attention` by the operation that only they run; the one of `math`
is there since torch 2.5."""

_PATHS = {"aten::_fused_": "fused", "aten::_foreach_": "foreach"}
"""Of an optimizer, by how the names of its operations begin."""


def install(settings: Settings) -> Kernels:
    """Listen for the parts of steps."""
    kernels = Kernels(settings)
    kernels.listen()
    os.register_at_fork(after_in_child=kernels.rest)
    return kernels


class Kernels:
    """Counts the operations of a window."""

    def __init__(self, settings: Settings) -> None:
        self._device = settings.device
        self._lanes = OpenLanes()
        self._graph_task = private.graph_task()
        self._flops = Flops(settings)
        self._operations = Operations(self._heard)
        self._undo: Undo | None = None
        self._why = ""
        self._on = False
        self._attention: dict[str, int] = {}
        self._optimizers: dict[int, dict[str, Any]] = {}
        self._paths = {"fused": 0, "foreach": 0, "single": 0}
        """Operations of the optimizer's step of now."""

    def listen(self) -> Undo:
        """Before the script runs."""
        return events.watch_lanes(self._lanes, self._stepped)

    def rest(self) -> None:
        """This process is a copy, as a loader's worker."""
        self._on = False
        self._operations.end()

    def begin(self) -> None:
        """Open the dispatch mode, unless what it saw would not be what runs."""
        if private.compiled_frames():
            self._why = "compiled regions are not seen"
        else:
            self._why = self._operations.begin()
        if self._why:
            return
        self._on = True
        self._flops.begin()
        graph = getattr(torch.cuda, "CUDAGraph", None)
        if graph is not None:
            self._undo = replace(graph, "replay", self._replayed)

    def step(self) -> None:
        """Nothing is counted by step."""

    def end(self) -> dict[str, object]:
        """`attention` are calls by backend, without those of a backward pass; `optimizers` have the
        operations of all their steps by path. If `why` is not empty, all of this is unknown."""
        self._on = False
        self._operations.end()
        if self._undo is not None:
            self._undo()
        flops = self._flops.end()
        if self._flops.elsewhere:
            self._why = "modules run on several threads"
        if self._why:
            return {"why": self._why}
        on_gpu = uses_gpu(self._device, torch.cuda)
        return {
            "why": "",
            "attention": self._attention,
            "optimizers": list(self._optimizers.values()),
            "tf32": _tf32() if on_gpu else None,
            "flops": flops,
        }

    def _heard(self, operation: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self._on or self._lanes.now == LOADER:
            return
        backward = self._graph_task() != -1
        part = BACKWARD if backward else self._lanes.now or OTHER
        self._flops.add(operation, args, kwargs, result, part)
        name = name_of(operation)
        backend = ATTENTION.get(name)
        if backend is not None and not backward:
            self._attention[backend] = self._attention.get(backend, 0) + 1
        if part == OPTIMIZER and name.startswith("aten::"):
            self._paths[_path(name)] += 1

    def _stepped(self, number: int, optimizer: Any, _: object) -> None:
        if not self._on:
            return
        known = self._optimizers.get(number)
        if known is None:
            known = self._optimizers[number] = {
                "name": type(optimizer).__name__,
                "tensors": sum(len(group["params"]) for group in optimizer.param_groups),
                **dict.fromkeys(self._paths, 0),
            }
        for path, count in self._paths.items():
            known[path] += count
            self._paths[path] = 0

    def _replayed(self, plain: Function) -> Function:
        def replay(*args: Any, **kwargs: Any) -> Any:
            self._why = "CUDA graphs are not seen"
            return plain(*args, **kwargs)

        return replay


def _path(name: str) -> str:
    return next((path for start, path in _PATHS.items() if name.startswith(start)), "single")


def _tf32() -> dict[str, bool | None]:
    """Whether float32 products may be computed in TF32; None where torch does not say."""
    cudnn: Any = torch.backends.cudnn
    return {
        "products": _may_use_tf32(torch.backends.cuda.matmul),
        "convolutions": _may_use_tf32(getattr(cudnn, "conv", cudnn), cudnn),
    }


def _may_use_tf32(*holders: Any) -> bool | None:
    """By the setting of torch 2.9, which is an error to mix with the older one; else by that."""
    for holder in holders:
        precision = getattr(holder, "fp32_precision", None)
        if precision in ("tf32", "ieee"):
            return bool(precision == "tf32")
    try:
        return bool(holders[-1].allow_tf32)
    except RuntimeError:
        return None

"""Which kernels a step runs: of attention, of optimizers, and in which type of number products are
computed; how many floating-point operations they are; how many operations each line of the user
asks for; and which tables of embeddings get dense gradients.

On a thread with a dispatch mode every operation takes some microseconds more, and compiled
functions run as they were written, maybe for the rest of the process. So this has a run of its own,
of a few steps, and sees nothing of a script that compiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import (
    TF32,
    KernelsSeen,
    LineOperations,
    OptimizerKernels,
)
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import uses_gpu
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.events import BACKWARD, LOADER, OPTIMIZER
from torchlint.runtime.probe.steps.lane_clock import OTHER, OpenLanes
from torchlint.runtime.probe.wrapping.embedding_gradients import EmbeddingGradients
from torchlint.runtime.probe.wrapping.flops import Flops
from torchlint.runtime.probe.wrapping.operations import Operations, name_of
from torchlint.runtime.probe.wrapping.subnormal_values import subnormals

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

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

_MOST_LINES = 2000
_PATHS = {"aten::_fused_": "fused", "aten::_foreach_": "foreach"}
"""Of an optimizer, by how the names of its operations begin."""


class KernelObserver(Observer):
    """Counts the operations of a window."""

    def prepare(self) -> None:
        """Listen for the parts of steps."""
        self._lanes = OpenLanes()
        self._graph_task = private.graph_task()
        self._operations = Operations(self._heard)
        self.at_end(events.watch_lanes(self._lanes, self._stepped), self._operations.end)

    def rest(self) -> None:
        """This process is a copy, as a loader's worker."""
        super().rest()
        self._operations.end()

    def begin(self) -> None:
        """Open the dispatch mode, unless what it saw would not be what runs."""
        self._flops = Flops(self.settings)
        self._attention: dict[str, int] = {}
        self._optimizers: dict[int, OptimizerKernels] = {}
        self._paths = dict.fromkeys(("fused", "foreach", "single"), 0)
        """Operations of the optimizer's step of now."""
        self._lines: dict[Place, LineOperations] = {}
        self._on_gpu = uses_gpu(self.settings.device, torch.cuda)
        self._embeddings = EmbeddingGradients()
        if private.compiled_frames():
            self._why = "compiled regions are not seen"
        else:
            self._why = self._operations.begin()
        if not self._why:
            self.at_end(self._flops.begin())
            self.around(getattr(torch.cuda, "CUDAGraph", None), "replay", self._replayed)

    def end(self) -> KernelsSeen:
        flops = self._flops.end()
        if self._flops.elsewhere:
            self._why = "modules run on several threads"
        if self._why:
            return KernelsSeen(self._why)
        optimizers, tf32 = list(self._optimizers.values()), _tf32() if self._on_gpu else None
        lines = list(self._lines.values())
        tables = self._embeddings.end()
        return KernelsSeen("", self._attention, optimizers, tf32, flops, lines, tables)

    def _heard(self, operation: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self.watching or self._why or self._lanes.now == LOADER:
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
        place = None if backward else self.places.here()
        if place is not None and (place in self._lines or len(self._lines) < _MOST_LINES):
            line = self._lines.setdefault(place, LineOperations(place))
            line.count += 1
            line.seconds += self._operations.took_s
            if not self.steps and not self._on_gpu:
                for each in _given(name, args, result):
                    values, subnormal = subnormals(each)
                    line.values += values
                    line.subnormal += subnormal
        if part == OPTIMIZER:
            self._embeddings.optimizes(self._operations.took_s)
        elif backward:
            self._embeddings.backward(name, args, result, self._operations.took_s)
        else:
            self._embeddings.forward(name, args, place)

    def _stepped(self, number: int, optimizer: Any, _: object) -> None:
        if not self.watching:
            return
        counts = self._optimizers.get(number)
        if counts is None:
            tensors = sum(len(group["params"]) for group in optimizer.param_groups)
            counts = OptimizerKernels(type(optimizer).__name__, tensors)
            self._optimizers[number] = counts
        for path, count in self._paths.items():
            setattr(counts, path, getattr(counts, path) + count)
            self._paths[path] = 0
        self._embeddings.stepped(optimizer)

    def _replayed(self, plain: Function) -> Function:
        def replay(*args: Any, **kwargs: Any) -> Any:
            self._why = "CUDA graphs are not seen"
            return plain(*args, **kwargs)

        return replay


def _given(name: str, args: Any, result: Any) -> Any:
    """The tensors that an operation gives, or changes."""
    if isinstance(result, torch.Tensor):
        return (result,)
    given = args[0] if name.endswith("_") and args else result
    return given if isinstance(given, (list, tuple)) else ()


def _path(name: str) -> str:
    return next((path for start, path in _PATHS.items() if name.startswith(start)), "single")


def _tf32() -> TF32:
    cudnn: Any = torch.backends.cudnn
    convolutions = _may_use_tf32(getattr(cudnn, "conv", cudnn), cudnn)
    return TF32(_may_use_tf32(torch.backends.cuda.matmul), convolutions)


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


watch = KernelObserver

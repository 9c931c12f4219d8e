"""How much a step does, in counts that have no noise: operations of torch, kernels of a GPU, bytes
between host and device, collectives, allocations, batches, floating-point operations of products.

What a loader's dataset computes in this process is left out: with workers it would be computed
elsewhere. As for `kernels`, compiled functions would run as they were written under a dispatch
mode, so of a script that compiles only the kernels and the batches are counted, and on a GPU the
allocations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import CountsSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import uses_gpu
from torchlint.runtime.probe.machine.own_rank import has_ranks
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.events import LOADER
from torchlint.runtime.probe.steps.lane_clock import OpenLanes
from torchlint.runtime.probe.wrapping.flops import count
from torchlint.runtime.probe.wrapping.operations import Operations, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_OF_INSTRUMENTS = frozenset({"aten::is_pinned"})
"""What another one asks for; it computes nothing."""
_COLLECTIVES = ("c10d::", "_c10d_functional::")
_NOT_SENT = "wait_tensor"
_SAME_MEMORY = frozenset({"aten::_unsafe_view", "aten::lift"})
"""Whose results lie where their arguments do, although nothing says so."""
_NO_KERNELS = ("Memcpy", "Memset")


class CountObserver(Observer):
    """Counts what the thread that takes the steps asks for in a window."""

    def prepare(self) -> None:
        """Listen for batches."""
        self._lanes = OpenLanes()
        self._operations = Operations(self._heard)
        self.at_end(events.watch_loader(self._handed_out, self._lanes), self._operations.end)

    def rest(self) -> None:
        """This process is a copy, as a loader's worker."""
        super().rest()
        self._operations.end()

    def begin(self) -> None:
        """Open the dispatch mode, unless what it saw would not be what runs."""
        self._seen = CountsSeen()
        self._formulas = private.formulas()
        self._flops: int | None = 0 if self._formulas is not None else None
        self._on_gpu = uses_gpu(self.settings.device, torch.cuda)
        self._kernels = _Kernels() if self._on_gpu else None
        self._asked = _asked_of_allocator() if self._on_gpu else None
        if private.compiled_frames():
            self._seen.why = "compiled regions are not seen"
        else:
            self._seen.why = self._operations.begin()

    def end(self) -> CountsSeen:
        seen = self._seen
        if self._kernels is not None:
            seen.kernels = self._kernels.end()
            asked = _asked_of_allocator()
            is_known = asked is not None and self._asked is not None
            seen.allocations = asked - self._asked if is_known else None  # type: ignore[operator]
        elif seen.why:
            seen.allocations = None
        seen.flops = self._flops
        seen.on_gpu, seen.has_ranks = self._on_gpu, has_ranks()
        return seen

    def _handed_out(self, *_: object) -> None:
        if self.watching:
            self._seen.batches += 1

    def _heard(self, operation: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = name_of(operation)
        if not self.watching or self._lanes.now == LOADER or name in _OF_INSTRUMENTS:
            return
        seen = self._seen
        seen.operations += 1
        if name.startswith(_COLLECTIVES):
            seen.collectives += not name.endswith(_NOT_SENT)
        if not self._on_gpu and seen.allocations is not None and name not in _SAME_MEMORY:
            seen.allocations += _made(operation, result)
        seen.copied += sum(_copied(name, args, result))
        if self._flops is not None:
            flops = count(self._formulas, operation, args, kwargs, result)
            self._flops = None if flops is None else self._flops + flops


class _Kernels:
    """Counts the kernels that run on the GPU from now on, with torch's profiler."""

    def __init__(self) -> None:
        self._profile: Any = None
        try:
            from torch.profiler import ProfilerActivity, profile

            self._profile = profile(activities=[ProfilerActivity.CUDA])
            self._profile.start()
        except Exception:  # another profiler has the GPU, or this build has none
            self._profile = None

    def end(self) -> int | None:
        """How many there were; None if they could not be seen."""
        if self._profile is None:
            return None
        try:
            self._profile.stop()
            return sum(map(_is_kernel, self._profile.events()))
        except Exception:
            return None


def _is_kernel(event: Any) -> bool:
    on_gpu = str(getattr(event, "device_type", "")).endswith("CUDA")
    annotates = getattr(event, "is_user_annotation", False)
    return on_gpu and not annotates and not event.name.startswith(_NO_KERNELS)


def _asked_of_allocator() -> int | None:
    """How often torch's allocator of the GPU was asked for memory so far; None if it does not
    say."""
    found: Any = torch.cuda.memory_stats().get("allocation.all.allocated")
    return found if isinstance(found, int) else None


def _made(operation: Any, result: Any) -> int:
    """Tensors of a result that do not lie where an argument does."""
    schema = private.schema(operation)
    returns = schema.returns if schema is not None else ()
    results = result if len(returns) > 1 else (result,)
    return sum(
        len(_tensors(value))
        for returned, value in zip(returns, results, strict=False)
        if returned.alias_info is None
    )


def _copied(name: str, args: Any, result: Any) -> Iterator[int]:
    """Bytes that go from one device to another."""
    if name == "aten::_to_copy":
        pairs = zip(_tensors(args[0]), _tensors(result), strict=False)
    elif name in ("aten::copy_", "aten::_foreach_copy_"):
        pairs = zip(_tensors(args[1]), _tensors(args[0]), strict=False)
    else:
        return
    for source, target in pairs:
        if source.device != target.device:
            yield source.numel() * source.element_size()


def _tensors(value: Any) -> list[Any]:
    several = value if isinstance(value, (list, tuple)) else (value,)
    return [each for each in several if isinstance(each, torch.Tensor)]


watch = CountObserver

"""Lets steps pass without activation checkpointing: all activations are kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import uses_gpu
from torchlint.runtime.probe.machine.memory_limit import memory_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.wrapping.interpose import Function

_MOST = 0.5
"""Of the memory that is there. The program as it is runs at the same time."""


class Uncheckpointed(Observer):
    """Stands in for what `torch.utils.checkpoint.checkpoint` calls, in both of its variants.

    Without a GPU the process may then take no more than half of the memory that there is, so that
    too much of it ends this run with an exception and no other process.
    """

    alters = False

    def begin(self) -> None:
        for where, name, make in _PARTS:
            self.around(private.find(where), name, make)
        # Whether this torch has the functions that compute again.
        self.alters = bool(self._undo)
        if not uses_gpu(self.settings.device, torch.cuda):
            self._limit_memory()

    def _limit_memory(self) -> None:
        most = memory_limit()
        if most is None or not sys.platform.startswith("linux"):
            return
        import resource

        soft, hard = limits = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(_MOST * most)
        if soft == resource.RLIM_INFINITY or wanted < soft:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
            self.at_end(lambda: resource.setrlimit(resource.RLIMIT_DATA, limits))


watch = Uncheckpointed


def _nothing_around(_plain: Function) -> Function:
    def around(*_: Any, **__: Any) -> Iterator[None]:
        """What `checkpoint` does before a function and after it."""
        yield

    return around


def _only_the_function(_plain: Function) -> Function:
    def apply(function: Function, _preserve: bool, *args: Any) -> Any:
        """`function` as if nothing were checkpointed."""
        return function(*args)

    return apply


_PARTS = (
    ("torch.utils.checkpoint", "_checkpoint_without_reentrant_generator", _nothing_around),
    ("torch.utils.checkpoint:CheckpointFunction", "apply", _only_the_function),
)

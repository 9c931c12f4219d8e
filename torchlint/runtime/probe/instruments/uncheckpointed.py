"""Lets steps pass without activation checkpointing: all activations are kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps.clock import uses_gpu
from torchlint.runtime.probe.steps.interpose import replace
from torchlint.runtime.probe.steps.memory_limit import memory_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo

_MOST = 0.5
"""Of the memory that is there. The program as it is stands beside it."""


def install(settings: Settings) -> Uncheckpointed:
    """Nothing has to be prepared."""
    return Uncheckpointed(settings)


class Uncheckpointed:
    """Stands in for what `torch.utils.checkpoint.checkpoint` calls, in both of its variants.

    Without a GPU the process may then take no more than half of the memory that there is, so that
    too much of it ends this run with an exception and no other process.
    """

    def __init__(self, settings: Settings) -> None:
        self._device = settings.device
        self._undo: list[Undo] = []
        self._limits: tuple[int, int] | None = None

    def begin(self) -> None:
        for where, name, make in _PARTS:
            owner = private.find(where)
            if getattr(owner, name, None) is not None:
                self._undo.append(replace(owner, name, make))
        if not uses_gpu(self._device, torch.cuda):
            self._limit_memory()

    @property
    def alters(self) -> bool:
        """Whether this torch has the functions that compute again."""
        return bool(self._undo)

    def step(self) -> None:
        """Nothing belongs to a single step."""

    def end(self) -> dict[str, object]:
        """Compute again from now on."""
        while self._undo:
            self._undo.pop()()
        if self._limits is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, self._limits)
        return {}

    def _limit_memory(self) -> None:
        most = memory_limit()
        if most is None or not sys.platform.startswith("linux"):
            return
        import resource

        soft, hard = self._limits = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(_MOST * most)
        if soft == resource.RLIM_INFINITY or wanted < soft:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


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

"""Lets steps pass without compiling again: what has no compiled code runs without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings


def install(_settings: Settings) -> Stance:
    """Nothing has to be prepared."""
    return Stance("eager_on_recompile")


class Stance:
    """Since torch 2.6 dynamo can be told.

    Args:
        wanted: what `torch.compiler.set_stance` takes.
    """

    def __init__(self, wanted: str) -> None:
        self.alters = False
        self._wanted = wanted

    def begin(self) -> None:
        choose: Any = getattr(torch.compiler, "set_stance", None)
        if choose is not None:
            choose(self._wanted)
            self.alters = True

    def step(self) -> None:
        """Nothing belongs to a single step."""

    def end(self) -> dict[str, object]:
        """Compile again from now on."""
        if self.alters:
            stance: Any = torch.compiler
            stance.set_stance("default")
        return {}

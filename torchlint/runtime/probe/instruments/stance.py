"""Lets steps pass without compiling again: what has no compiled code runs without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings


def install(_settings: Settings) -> Stance:
    """Nothing has to be prepared."""
    return Stance()


class Stance:
    """Since torch 2.6 dynamo can be told."""

    def __init__(self) -> None:
        self._known = False

    def begin(self) -> None:
        choose: Any = getattr(torch.compiler, "set_stance", None)
        if choose is not None:
            choose("eager_on_recompile")
            self._known = True

    def step(self) -> None:
        """Nothing belongs to a single step."""

    def end(self) -> dict[str, object]:
        """`known`: nothing was compiled in the window."""
        if self._known:
            stance: Any = torch.compiler
            stance.set_stance("default")
        return {"known": self._known}

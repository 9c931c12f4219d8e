"""Lets steps pass without compiling again: what has no compiled code runs without it."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.runtime.probe.instruments.observer import Observer


class Stance(Observer):
    """Since torch 2.6 dynamo can be told."""

    alters = False
    wanted = "eager_on_recompile"
    """What `torch.compiler.set_stance` takes."""

    def begin(self) -> None:
        choose: Any = getattr(torch.compiler, "set_stance", None)
        if choose is not None:
            choose(self.wanted)
            self.alters = True
            self.at_end(lambda: choose("default"))


watch = Stance

"""Lets steps pass without compiled code: nothing is compiled, and no guard is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.runtime.probe.instruments.stance import Stance

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings


def install(_settings: Settings) -> Stance:
    """Nothing has to be prepared."""
    return Stance("force_eager")

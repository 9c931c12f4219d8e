"""Lets steps pass without compiled code: nothing is compiled, and no guard is asked."""

from __future__ import annotations

from torchlint.runtime.probe.instruments.stance import Stance


class Uncompiled(Stance):
    """No code that is there is used, either."""

    wanted = "force_eager"


watch = Uncompiled

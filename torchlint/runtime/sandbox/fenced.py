"""A command behind the fence of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.runtime.probe.files.territory import of_run
from torchlint.runtime.sandbox import fence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.runtime.probe.run_settings import RunSettings


def fenced(command: list[str], settings: RunSettings, environment: Mapping[str, str]) -> list[str]:
    """The command, with writes restricted to what it may write, where the kernel can do that."""
    if not settings.fenced:
        return command
    return fence.wrap(command, of_run(settings, environment).writable())

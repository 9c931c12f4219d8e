"""Which line of the user's code is responsible for what happens now."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from torchlint.runtime.probe.package import is_installed, is_ours

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.run_settings import RunSettings


class Places:
    """Finds the innermost line of the project on a stack.

    Args:
        settings: `project` is the tree whose files are the user's own.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._root = os.path.join(settings.project, "")
        self._known: dict[str, str | None] = {}

    def here(self) -> Place | None:
        """The place that called this function, however indirectly; None if no file of the project
        is on the stack of this thread."""
        return self.of(sys._getframe(1))

    def of(self, frame: FrameType | None) -> Place | None:
        """The same for a frame and those that called it."""
        while frame is not None:
            path = self.path_of(frame.f_code)
            if path is not None:
                return path, frame.f_lineno
            frame = frame.f_back
        return None

    def path_of(self, code: CodeType) -> str | None:
        """The file of the project that some code is of; None for libraries and made-up files."""
        # Not by the code object: equal code in two files is one key.
        name = code.co_filename
        try:
            return self._known[name]
        except KeyError:
            path = self._known[name] = self._resolved(name)
            return path

    def _resolved(self, path: str) -> str | None:
        if path.startswith("<"):
            return None
        real = os.path.realpath(path)
        own = real.startswith(self._root) and not is_ours(real) and not is_installed(real)
        return real if own else None

"""Which lines of the project run in some steps."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from torchlint.runtime.probe.run_settings import RunSettings

    Trace = Callable[[FrameType, str, Any], Any]


class RanLines:
    """A trace function for the project's own files, on the thread that begins.

    Args:
        settings: say whose files they are.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._places = Places(settings)
        self._rows: dict[str, set[int]] = {}
        self._thread = 0

    def begin(self) -> None:
        """See what runs from now on, also in the functions that are running."""
        if self._thread or sys.gettrace() is not None:
            return
        self._thread = threading.get_ident()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self._places.path_of(frame.f_code) is not None:
                frame.f_trace = self._line
            frame = frame.f_back
        sys.settrace(self._called)

    def end(self) -> None:
        """That was all."""
        if self._thread == threading.get_ident() and sys.gettrace() == self._called:
            sys.settrace(None)

    def take(self) -> dict[str, set[int]]:
        """Rows by real path, since this was last called."""
        taken, self._rows = self._rows, {}
        return taken

    def _called(self, frame: FrameType, *_: object) -> Trace | None:
        return self._line if self._places.path_of(frame.f_code) is not None else None

    def _line(self, frame: FrameType, event: str, _: object) -> Trace:
        if event == "line":
            path = self._places.path_of(frame.f_code)
            if path is not None:
                self._rows.setdefault(path, set()).add(frame.f_lineno)
        return self._line

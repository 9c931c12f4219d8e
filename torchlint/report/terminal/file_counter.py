"""A counter on the terminal for runs that take a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from torchlint.report.terminal.safe_text import moves

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

_PATIENCE: Final = 2.0
_PAUSE: Final = 0.1


class FileCounter:
    """Call it with (done, total); it prints on terminals only, and only after two seconds.

    Args:
        doing: what is done with the files.
        what: how they are called.
        hidden: print nothing.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        doing: str = "Checking",
        what: str = "files",
        hidden: bool = False,
    ) -> None:
        self._doing = doing
        self._what = what
        self._stream = stream
        self._clock = clock
        self._next = clock() + _PATIENCE
        self._drawn = 0
        self._hidden = hidden or not moves(stream)

    def __enter__(self) -> FileCounter:
        return self

    def __exit__(self, *_error: object) -> None:
        self.clear()

    def __call__(self, done: int, total: int) -> None:
        if self._hidden or self._clock() < self._next:
            return
        self._next = self._clock() + _PAUSE
        line = f"{self._doing}: {done} of {total} {self._what}"
        self._stream.write("\r" + line.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(line)

    def clear(self) -> None:
        """Removes the counter from the terminal."""
        if self._drawn:
            # Blanks, which every console understands.
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

"""What a run takes of the disk: a script may print or write more than anybody wants to keep."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from torchlint.runtime.probe.files.view import REDIRECTED
from torchlint.runtime.sandbox.overlayfs import UPPER

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUTS: Final = ("stdout", "stderr")
"""Files in the folder of a run. Their size is what the run has printed, kept or not."""

MOST_PRINTED: Final = 1 << 26
"""Bytes that such a file may take on the disk, until somebody looks at it again."""
_TAIL: Final = 1 << 16
_BLOCK: Final = 512
"""Bytes, as `stat` counts them on every file system."""


def cut_output(folder: str, most: int = MOST_PRINTED) -> None:
    """Give back what a run has printed, up to its last lines, if it takes more than `most`."""
    for name in OUTPUTS:
        path = os.path.join(folder, name)
        with suppress(OSError):
            if os.stat(path).st_blocks * _BLOCK > most:
                _keep_tail(path)


def release(folder: str) -> None:
    """Give back what the files take that a run has written: it has ended, and what is still asked
    for is their names."""
    cut_output(folder, _TAIL)
    for path in _written(folder):
        with suppress(OSError):
            found = os.lstat(path)
            # With a second name it may be a file of the user's.
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                os.truncate(path, 0)


def _written(folder: str) -> Iterator[str]:
    for layer in (UPPER, REDIRECTED):
        for path, _folders, files in os.walk(os.path.join(folder, layer)):
            yield from (os.path.join(path, name) for name in files)


def _keep_tail(path: str) -> None:
    """The processes that print continue where they are: before that is a hole, which takes
    nothing."""
    with open(path, "r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        start = stream.seek(max(0, size - _TAIL))
        tail = stream.read(size - start)
        stream.truncate(0)
        stream.seek(start)
        stream.write(tail)

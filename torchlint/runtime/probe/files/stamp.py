"""Lets the processes of a run see that one of them has changed something, without a system call."""

from __future__ import annotations

import itertools
import mmap
import os

from torchlint.runtime.probe.files import system


class Stamp:
    """Eight bytes that all processes see, those that are forked and those that are not.

    Args:
        path: the file that they are in; it is made if it is not there.
    """

    def __init__(self, path: str) -> None:
        descriptor = system.open_descriptor(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, 8)
            self._bytes = mmap.mmap(descriptor, 8)
        finally:
            system.close(descriptor)
        self._count = itertools.count(1)

    def read(self) -> bytes:
        """Another value after every `renew`, of whichever process."""
        return self._bytes[:]

    def renew(self) -> None:
        """Set a value that it never had before."""
        self._bytes[:] = b"%4b%4b" % (
            (os.getpid() & 0xFFFFFFFF).to_bytes(4, "little"),
            (next(self._count) & 0xFFFFFFFF).to_bytes(4, "little"),
        )


NEVER = bytes(8)
"""What a stamp reads that was never renewed."""

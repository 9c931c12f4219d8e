"""Writes down whose shared memory is whose: a process that is killed leaves it in `/dev/shm`."""

from __future__ import annotations

import os
import sys

from torchlint.runtime.probe import private
from torchlint.runtime.probe.files import system

SHARED = "shared"
"""Name of the file in the scratch folder: a line with the number of each process, or with the
name of a block after a slash."""


def install(scratch: str) -> None:
    """Note this process and those that it forks, and what they share by a name of its own."""
    if not sys.platform.startswith("linux"):
        return
    path = os.path.join(scratch, SHARED)

    def note(line: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = system.open_descriptor(path, flags, 0o600)
        try:
            system.write(descriptor, os.fsencode(f"{line}\n"))
        finally:
            system.close(descriptor)

    note(str(os.getpid()))
    os.register_at_fork(after_in_child=lambda: note(str(os.getpid())))
    private.name_semaphores(f"/mp-{os.getpid()}")
    private.watch_shared_memory(note)

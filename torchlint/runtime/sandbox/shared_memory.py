"""Removes the shared memory that a run has left, where it had none of its own."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import Final

from torchlint.runtime.probe.world.shared_memory_owners import SHARED
from torchlint.runtime.temporary_folders import remove

_WHERE: Final = "/dev/shm"  # noqa: S108
_OF_PROCESS: Final = re.compile(
    r"torch_(\d+)_ | sem\.mp-(\d+)- | sem\.loky-(\d+)- | joblib_memmapping_folder_(\d+)_", re.X
)
"""Names with the number of the process that made it."""


def sweep(folder: str) -> None:
    """Remove what the processes of the run in this folder made. They are gone by now."""
    try:
        with open(os.path.join(folder, SHARED), "rb") as stream:
            noted = set(os.fsdecode(stream.read()).split("\n"))
            begun = os.stat(os.path.join(folder, "settings.json")).st_mtime
        names = os.listdir(_WHERE)
    except OSError:
        return
    for name in names:
        match = _OF_PROCESS.match(name)
        maker = match[match.lastindex or 0] if match else f"/{name}"
        path = os.path.join(_WHERE, name)
        with suppress(OSError):
            found = os.lstat(path)
            # An older one is of an earlier process with this number.
            if maker in noted and found.st_uid == os.getuid() and found.st_ctime >= begun - 1:
                remove(path) if stat.S_ISDIR(found.st_mode) else os.unlink(path)

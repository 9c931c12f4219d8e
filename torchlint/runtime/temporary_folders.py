"""Temporary folders that a run may leave in any state."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from heapq import nlargest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST: Final = 70
"""The name of a Unix socket, with its folder, has to fit into 104 bytes on macOS."""

_MOST_SHOWN: Final = 500
_OF_PROGRAMS: Final = ("torchlint-", "pymp-", "torchelastic_", "ray")
"""How the names begin of the files that programs make for their own use, each time they run."""


def create(parent: str | None = None) -> str:
    """A new folder that only this user can enter, with a path short enough for sockets.

    It is in `parent`, or where temporary files are.
    """
    folder = os.path.realpath(tempfile.mkdtemp(prefix="torchlint-", dir=parent))
    if len(os.fsencode(folder)) <= _LONGEST:
        return folder
    os.rmdir(folder)
    return os.path.realpath(tempfile.mkdtemp(prefix="torchlint-", dir="/tmp"))


def show(real: str, folder: str) -> None:
    """Make a folder with links to what is in the real one: a script finds again what it has left
    among the temporary files, and its new files are kept apart.

    Of more than 500 entries it shows those that changed last: each costs time in every run.
    """
    os.mkdir(folder, 0o700)
    with os.scandir(real) as entries:
        kept = [entry for entry in entries if not entry.name.startswith(_OF_PROGRAMS)]
    if len(kept) > _MOST_SHOWN:
        kept = nlargest(_MOST_SHOWN, kept, key=_changed_at)
    for entry in kept:
        with suppress(OSError):
            os.symlink(os.path.join(real, entry.name), os.path.join(folder, entry.name))


def _changed_at(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def make_missing(paths: Iterable[str]) -> list[str]:
    """Make folders, and those around them; which were not there, each after the one around it."""
    made: list[str] = []
    for path in paths:
        with suppress(OSError):
            made += make_missing([os.path.dirname(path)]) if not os.path.lexists(path) else []
            os.mkdir(path, 0o700)
            made.append(path)
    return made


def remove(folder: str) -> bool:
    """Remove a folder with everything in it; whether it is gone.

    Folders without permissions (overlayfs leaves some) get them first. Links are not followed.
    """
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return True
        for path, names, _files in os.walk(folder, onerror=None):
            for name in names:
                inner = os.path.join(path, name)
                if not os.path.islink(inner):
                    with suppress(OSError):
                        os.chmod(inner, 0o700)
    return False

"""The operating system's functions as they were before the shield replaced any of them."""

from __future__ import annotations

import io
import os
import stat
import sys
from contextlib import suppress

access = os.access
chmod = os.chmod
close = os.close
getcwd = os.getcwd
link = os.link
listdir = os.listdir
lstat = os.lstat
mkdir = os.mkdir
open_descriptor = os.open
open_file = io.open
readlink = os.readlink
rename = os.rename
replace = os.replace
rmdir = os.rmdir
scandir = os.scandir
symlink = os.symlink
unlink = os.unlink
utime = os.utime
write = os.write


def status(path: str) -> os.stat_result | None:
    """What is there, without following a link; None: nothing, or nothing that may be seen."""
    try:
        return lstat(path)
    except OSError:
        return None


def is_folder(path: str) -> bool:
    """Whether a folder is there; a link to one does not count."""
    found = status(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def error(number: int, path: str) -> OSError:
    """What the system would raise; the class goes by the number."""
    return OSError(number, os.strerror(number), path)


def make_folders(path: str) -> None:
    """Make a folder and those above it, as far as they are missing."""
    with suppress(FileExistsError):
        try:
            mkdir(path)
        except FileNotFoundError:
            make_folders(os.path.dirname(path))
            mkdir(path)


def path_of(descriptor: int) -> str | None:
    """The path of an open file or folder; None where it is not known."""
    try:
        if sys.platform == "darwin":
            import fcntl

            found = fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024))
            return os.fsdecode(found.rstrip(b"\0"))
        path = readlink(f"/proc/self/fd/{descriptor}")
    except (OSError, ImportError, AttributeError):
        return None
    return path if path.startswith("/") else None

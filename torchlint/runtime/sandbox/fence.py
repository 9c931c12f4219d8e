"""Started before a run's command: has the kernel refuse writes elsewhere, then becomes the command.

`python -I -S fence.py FOLDER… -- COMMAND…`; the standard library alone. The command, and whatever
it starts, can create, change, move and remove files below these folders and nowhere else, be it in
Python, in C or in another program. What was open before stays so, and reading is free.

Landlock needs no privileges: https://docs.kernel.org/userspace-api/landlock.html. All processes of
a run are in one domain, since the kernel keeps those of two apart (`ptrace`, `pidfd_getfd`).
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import signal
import stat
import struct
import sys

REFUSED = 126
"""Exit code where the kernel did not take it; the command has not run."""

# As of Linux 5.11 a system call has one number on all machines.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_BENEATH_PATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 14))
"""Remove and make what can be in a folder, and move it into another one."""
_OLDEST, _WITH_TRUNCATE = 2, 3
"""Versions: the first (Linux 5.13) forbids to move any file to another folder; the third is of
Linux 6.2."""


def version() -> int:
    """Of Landlock; 0 where there is none that will do."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        found = _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    except OSError:
        return 0
    return found if found >= _OLDEST else 0


@functools.cache
def why_not() -> str:
    """Why writes are not held back here; empty if they are. The same for all runs of a process."""
    if not version():
        return "there is no Landlock (Linux 5.19)"
    if os.geteuid() and os.path.exists("/proc/driver/nvidia") and not _devices_are_there():
        # A program that runs as root makes them for the first user of a GPU.
        return "the NVIDIA driver has not made its devices yet"
    return ""


def _devices_are_there() -> bool:
    import shutil

    return os.path.exists("/dev/nvidia-uvm") or shutil.which("nvidia-modprobe") is None


def wrap(command: list[str], folders: list[str]) -> list[str]:
    """The command with writes restricted to these folders: it exits with 126 if that fails."""
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), *folders, "--", *command]


def restrict(folders: list[bytes]) -> None:
    """Restrict this process, which has one thread, and those that it will start.

    Args:
        folders: those that are not there are left out; a file means only itself.

    Raises:
        OSError: the kernel refuses.
    """
    rights = _WRITE_FILE | _CHANGE_FOLDERS
    if version() >= _WITH_TRUNCATE:
        rights |= _TRUNCATE
    handled = struct.pack("=Q", rights)
    rules = _call(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    for folder in folders:
        try:
            descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        allowed = rights if is_folder else rights & ~_CHANGE_FOLDERS
        _call(_ADD_RULE, rules, _BENEATH_PATH, struct.pack("=Qi", allowed, descriptor), 0)
        os.close(descriptor)
    try:
        _call(_RESTRICT_SELF, rules, 0)
    except PermissionError:
        # Who may not administrate the machine has to give up programs that would let him.
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _call(*arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(*arguments)
    if result < 0:
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    words = [os.fsencode(word) for word in sys.argv[1:]]
    at = words.index(b"--")
    try:
        restrict(words[:at])
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv(words[at + 1], words[at + 1 :])  # noqa: S606 - there is no shell on purpose
    except OSError as error:
        sys.stderr.write(f"torchlint: writes cannot be held back by Landlock: {error}\n")
        sys.exit(REFUSED)

"""Started before a run's command: lays a writable layer over the project, then becomes the command.

`python -I -S overlay_mount.py PROJECT UPPER WORK KEEP NETWORK COMMAND…`, with an empty KEEP or a
folder inside the project that stays the real one, and with an empty NETWORK or `own` for one that
is a loopback whose ports are all free. The standard library alone. The command keeps the
process, its group and its session; its writes below PROJECT land in UPPER. Shared memory that it
makes in `/dev/shm` is its own, and goes with its last process.

As https://docs.kernel.org/filesystems/overlayfs.html has it, an ordinary user may mount in a user
namespace of his own. He stays who he is there: only his own number is mapped, and `exec` takes
away what the namespace gave him.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
from contextlib import suppress

REFUSED = 125
"""Exit code where the layer could not be laid; the command has not run."""

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
SHARED_MEMORY = b"/dev/shm"


def main(
    project: bytes, upper: bytes, work: bytes, keep: bytes, network: bytes, command: list[bytes]
) -> None:
    """Lay the layer and become the command.

    Raises:
        OSError: the kernel refuses, or the command cannot be started.
    """
    here = os.getcwdb()
    libc = ctypes.CDLL(None, use_errno=True)
    _enter_namespace(libc, CLONE_NEWNS | (CLONE_NEWNET if network else 0))
    if network:
        _switch_loopback_on()
    _mount(libc, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    _refuse_inner_mounts(project)
    kept = _descriptor(keep) if keep else b""
    _mount_layers(libc, project, upper, work)
    if keep:
        _mount(libc, kept, keep, None, MS_BIND, None)
    with suppress(OSError):
        _mount_shared_memory(libc)
    # A process stays below the layer in its current folder until it enters that folder again.
    os.chdir(here)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(command[0], command)  # noqa: S606 - there is no shell on purpose


def _enter_namespace(libc: ctypes.CDLL, kinds: int) -> None:
    try:
        # Who may mount anyway needs no new user: other people's files stay his to read.
        _call(libc.unshare(kinds))
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        _call(libc.unshare(CLONE_NEWUSER | kinds))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _switch_loopback_on() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def _refuse_inner_mounts(project: bytes) -> None:
    """The layer shows one file system; whatever is mounted inside would vanish from sight."""
    inside = project.rstrip(b"/") + b"/"
    with open("/proc/self/mountinfo", "rb") as stream:
        for line in stream:
            point = line.split()[4]
            for code in (b" ", b"\t", b"\n", b"\\"):
                point = point.replace(b"\\%03o" % code[0], code)
            if point.startswith(inside):
                raise OSError(f"{os.fsdecode(point)} is mounted inside the project")


def _mount_layers(libc: ctypes.CDLL, project: bytes, upper: bytes, work: bytes) -> None:
    # By descriptor: no comma, colon or backslash of a path can be taken for an option.
    options = b"lowerdir=%b,upperdir=%b,workdir=%b" % (
        _descriptor(project),
        _descriptor(upper),
        _descriptor(work),
    )
    try:
        _mount(libc, b"overlay", project, b"overlay", 0, options + b",userxattr")
    except OSError:
        # Before Linux 5.11 there is no such option.
        _mount(libc, b"overlay", project, b"overlay", 0, options)


def _mount_shared_memory(libc: ctypes.CDLL) -> None:
    """An empty one of the same size, in which what is in the real one can still be seen: data
    that was put there, and what other programs share."""
    real, size = _descriptor(SHARED_MEMORY), os.statvfs(SHARED_MEMORY)
    names = os.listdir(SHARED_MEMORY)
    options = b"mode=1777,size=%d" % (size.f_blocks * size.f_frsize)
    _mount(libc, b"tmpfs", SHARED_MEMORY, b"tmpfs", MS_NOSUID | MS_NODEV, options)
    for name in names:
        source, target = os.path.join(real, name), os.path.join(SHARED_MEMORY, name)
        with suppress(OSError):
            kind = os.stat(source, follow_symlinks=False).st_mode
            if stat.S_ISDIR(kind):
                os.mkdir(target)
            elif stat.S_ISREG(kind):
                os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
            else:
                continue
            _mount(libc, source, target, None, MS_BIND, None)


def _descriptor(folder: bytes) -> bytes:
    return b"/proc/self/fd/%d" % os.open(folder, os.O_PATH | os.O_DIRECTORY)


def _mount(
    libc: ctypes.CDLL,
    source: bytes,
    target: bytes,
    kind: bytes | None,
    flags: int,
    options: bytes | None,
) -> None:
    _call(libc.mount(source, target, kind, ctypes.c_ulong(flags), options))


def _call(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as stream:
        stream.write(text)


if __name__ == "__main__":
    try:
        first, *rest = map(os.fsencode, sys.argv[1:])
        main(first, rest[0], rest[1], rest[2], rest[3], rest[4:])
    except OSError as error:
        sys.stderr.write(f"torchlint: the project cannot be shielded by overlayfs: {error}\n")
        sys.exit(REFUSED)

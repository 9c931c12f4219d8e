"""Writes files whole: a reader sees the old content or the new one, whenever the writer dies."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

_READ_ONLY: Final = "The file is read-only; make it writable first."
_DRAFT: Final = re.compile(r"\.torchlint-([0-9]{1,10})-[a-z0-9_]{8}\.draft")
"""The name of a draft: who writes it, and letters that make it unique."""


def write_atomically(path: str, data: bytes) -> None:
    """Replace the content of an existing file: at any moment it is the old one or the new one.

    A symlink stays and its target is replaced; the mode is kept, and the owner, the group and
    extended attributes where allowed.

    Raises:
        SourceError: of kind `write`; the file is the old one.
    """
    target = os.path.realpath(path)
    try:
        before = os.stat(target)
        if _is_read_only(target, before):
            raise SourceError(path, _READ_ONLY, kind="write")
        _put(target, data, before)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(path, f"Cannot write the file: {reason}.", kind="write") from error


def write_whole(path: str, data: bytes) -> None:
    """The same for a file that need not exist yet.

    Raises:
        SourceError: of kind `write`; there is the old file, or none.
    """
    if os.path.lexists(path):
        write_atomically(path, data)
        return
    try:
        _put(os.path.abspath(path), data, None)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a possible file name"
        raise SourceError(path, f"Cannot write the file: {reason}.", kind="write") from error


def _is_read_only(path: str, status: os.stat_result) -> bool:
    """Replacing needs no right to write the file itself, and root needs none at all; a read-only
    file is left alone nevertheless."""
    return not status.st_mode & 0o222 or not os.access(path, os.W_OK)


def why_not(path: str) -> str:
    """Why a report cannot be written there, as far as that can be seen; else empty."""
    if os.path.exists(path) and not os.path.isfile(path):
        return ""  # a device or a pipe
    import tempfile

    real = os.path.realpath(path)
    try:
        if os.path.isfile(real) and _is_read_only(real, os.stat(real)):
            return _READ_ONLY
        # Root may write wherever a file can be made.
        tempfile.TemporaryFile(dir=os.path.dirname(real)).close()
    except OSError as error:
        return f"Cannot write the file: {error.strerror or error}."
    return ""


def write_report(path: str, data: bytes) -> None:
    """The same for what may also be a device or a pipe (`/dev/stdout`, the shell's `>(...)`),
    which gets the data, and for a link to a file that does not exist yet.

    Raises:
        SourceError: of kind `write`.
    """
    if not os.path.exists(path) or (os.path.isfile(path) and not path.startswith("/dev/")):
        write_whole(os.path.realpath(path), data)
        return
    try:
        with open(path, "ab") as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(path, f"Cannot write to it: {reason}.", kind="write") from error


def remove_abandoned_drafts(paths: Iterable[str]) -> None:
    """Remove what processes that were killed left next to these files; nothing of living ones."""
    for folder in {os.path.dirname(os.path.realpath(path)) for path in paths}:
        try:
            with os.scandir(folder) as entries:
                drafts = [entry.path for entry in entries if _is_abandoned(entry)]
        except OSError:
            continue
        for draft in drafts:
            _remove(draft)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    name = _DRAFT.fullmatch(entry.name)
    if name is None or not entry.is_file(follow_symlinks=False):
        return False
    return not _lives(int(name[1]))


def _lives(process: int) -> bool:
    """Whether a process may be running; unknown on Windows, where asking would end it."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _put(target: str, data: bytes, like: os.stat_result | None) -> None:
    """Put a file in its place in one step."""
    temporary = _write_beside(target, data, like)
    try:
        os.replace(temporary, target)
    except BaseException:
        _remove(temporary)
        raise
    _sync_folder(os.path.dirname(target))


def _write_beside(target: str, data: bytes, like: os.stat_result | None) -> str:
    """A new file in the folder of `target` with this content and the mode of `like`, or that of
    any new file."""
    import tempfile

    descriptor, name = tempfile.mkstemp(
        prefix=f".torchlint-{os.getpid()}-", suffix=".draft", dir=os.path.dirname(target)
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _keep_owner(file.fileno(), like)
                _keep_attributes(file.fileno(), target)
            os.chmod(name, _mode_of_new() if like is None else stat.S_IMODE(like.st_mode))
            os.fsync(file.fileno())
    except BaseException:
        _remove(name)
        raise
    return name


def _mode_of_new() -> int:
    mask = os.umask(0o077)  # It cannot be read without setting it.
    os.umask(mask)
    return 0o666 & ~mask


def _keep_owner(descriptor: int, like: os.stat_result) -> None:
    new = os.fstat(descriptor)
    if not hasattr(os, "fchown") or (new.st_uid, new.st_gid) == (like.st_uid, like.st_gid):
        return
    for owner in (like.st_uid, -1):  # the group alone may be allowed
        with suppress(PermissionError):
            os.fchown(descriptor, owner, like.st_gid)
            return


def _keep_attributes(descriptor: int, path: str) -> None:
    """What the system or the user has noted about a file, such as its access list."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(path):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where folders can be opened at all."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)

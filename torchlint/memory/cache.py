"""Blobs stored in the user's cache folder between runs.

This module does not know what a blob contains. A blob that is truncated, corrupt or written by
another version counts as absent, and a failed write is ignored: the cache only makes runs faster.
The folder is in the user's home and not in the project, so that no repository can provide its own
entries. Where one is named, it and its entries must be private to the user, as torchlint makes
them; entries are plain data all the same.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from typing import TYPE_CHECKING, Final

from torchlint.files.digests import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE: Final = "TORCHLINT_CACHE_DIR"
TAG: Final = "CACHEDIR.TAG"
_TAG_TEXT: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# What torchlint found, so that it need not look again. Safe to delete: `torchlint clean`.\n"
    b"# About this file: https://bford.info/cachedir/\n"
)
_MARK: Final = b"torchlint 1\n"
_SUM_BYTES: Final = 16
_LARGEST: Final = 64 << 20
"""Larger blobs are neither written nor read."""
_GENERATION: Final = 16
_NAME: Final = 32
"""The number of hexadecimal digits of each."""
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_DAY_S: Final = 24 * 3600.0
_KEPT_S: Final = 30 * _DAY_S
_DRAFT: Final = ".draft-"
_SWEPT: Final = ".swept"
_BESIDE: Final = (_SWEPT, ".gitignore", TAG)
"""What is in the cache folder next to the generations."""


class Cache:
    """Blobs by kind and name.

    Args:
        root: the cache folder; created when the first blob is stored.
        generation: 16 hexadecimal digits; only blobs of the same generation are read.
    """

    def __init__(self, root: str, generation: str) -> None:
        assert _is_name(generation, _GENERATION)
        self.root = root
        self._home = os.path.join(root, generation)
        self._ready = False
        self._broken = False

    def get(self, kind: str, name: str) -> bytes | None:
        """A blob, or None if there is no valid one."""
        path = self._path(kind, name)
        blob = _content(path)
        if blob is not None:
            _refresh_date(path)
        return blob

    def put(self, kind: str, name: str, blob: bytes) -> None:
        """Store a blob, replacing any of the same name. After a failed write, store no more."""
        if self._broken or len(blob) > _LARGEST:
            return
        path = self._path(kind, name)
        try:
            if not self._ready:
                _make(self.root)
                self._ready = True
            _write(path, _MARK + _sum(blob) + blob)
        except OSError:
            self._broken = True

    def sweep(self) -> None:
        """Once a day, remove blobs unused for a month and abandoned drafts."""
        if not _is_ours(self.root):
            return
        stamp = os.path.join(self.root, _SWEPT)
        now = time.time()
        try:
            if now - os.stat(stamp).st_mtime < _DAY_S:
                return
        except OSError:
            if not os.path.isdir(self.root):
                return
        with contextlib.suppress(OSError):
            _write(stamp, b"")
        for path in _blobs(self.root):
            with contextlib.suppress(OSError):
                if now - os.lstat(path).st_mtime > _KEPT_S:
                    os.unlink(path)
        _remove_empty(self.root)

    def _path(self, kind: str, name: str) -> str:
        assert _is_name(name, _NAME)
        return os.path.join(self._home, kind, name)


def default_root() -> str:
    """The user's cache folder for torchlint; `TORCHLINT_CACHE_DIR` names another.

    That of the XDG base directory specification, of macOS, or of Windows. A library that knows
    more systems takes a sixth of each start.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "torchlint", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "torchlint")
    stated = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says to ignore a relative path.
    caches = stated if os.path.isabs(stated) else os.path.join(home, ".cache")
    return os.path.join(caches, "torchlint")


def name_of(*parts: bytes) -> str:
    """A name for a blob, different for different parts."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def clear(root: str) -> tuple[int, int]:
    """Remove the blobs of all generations, and the folder if it is then empty.

    Returns:
        the number of files and bytes removed.

    Raises:
        OSError: something could not be removed.
        ValueError: the folder does not have torchlint's tag, so it is not a cache of torchlint.
    """
    if not os.path.isdir(root):
        return 0, 0
    if not _is_ours(root) and not _has_lost_its_tag(root):
        raise ValueError(f"{root} is not a cache of torchlint: it has no {TAG} of its own.")
    count = size = 0
    for path in _blobs(root):
        with contextlib.suppress(FileNotFoundError):
            size += os.lstat(path).st_size
            os.unlink(path)
            count += 1
    _remove_empty(root)
    for name in _BESIDE:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(root, name))
    with contextlib.suppress(OSError):
        os.rmdir(root)
    return count, size


def _is_ours(root: str) -> bool:
    try:
        with open(os.path.join(root, TAG), "rb", opener=_open_safely) as file:
            return file.read(len(_TAG_TEXT) + 1) == _TAG_TEXT
    except OSError:
        return False


def _has_lost_its_tag(root: str) -> bool:
    """Whether a folder holds only what torchlint makes, although its tag is damaged or gone:
    a disk that was full, or somebody who tidied up."""
    made = [each for each in os.listdir(root) if each not in _BESIDE and not _is_draft(each)]
    if made:
        return all(
            _is_name(each, _GENERATION) and os.path.isdir(os.path.join(root, each)) for each in made
        )
    try:
        with open(os.path.join(root, TAG), "rb", opener=_open_safely) as file:
            return _TAG_TEXT.startswith(file.read(len(_TAG_TEXT) + 1))
    except OSError:
        return False


def _blobs(root: str) -> Iterator[str]:
    """Every file with a path that this module would create; links are not followed."""
    for generation in _folders(root):
        if not _is_name(os.path.basename(generation), _GENERATION):
            continue
        for kind in _folders(generation):
            with contextlib.suppress(OSError), os.scandir(kind) as entries:
                for entry in entries:
                    ours = _is_name(entry.name, _NAME) or _is_draft(entry.name)
                    if ours and entry.is_file(follow_symlinks=False):
                        yield entry.path


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _remove_empty(root: str) -> None:
    for generation in _folders(root):
        if _is_name(os.path.basename(generation), _GENERATION):
            for folder in (*_folders(generation), generation):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=_open_safely) as file:
            found = os.fstat(file.fileno())
            if not (stat.S_ISREG(found.st_mode) and _is_private(found)):
                return None
            if found.st_size > _LARGEST + 1024:
                return None
            data = file.read()
    except (OSError, ValueError):
        return None
    head = len(_MARK) + _SUM_BYTES
    blob = data[head:]
    if data[:head] != _MARK + _sum(blob):
        return None
    return blob


def _open_safely(path: str, flags: int) -> int:
    """Open a file without following a link or waiting for the writer of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _sum(blob: bytes) -> bytes:
    return blake2b(blob, digest_size=_SUM_BYTES).digest()


def _refresh_date(path: str) -> None:
    """Update the date of a blob that is used, at most once a day."""
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > _DAY_S:
            os.utime(path)


def refusal(root: str) -> str | None:
    """Why a folder cannot be used as the cache; None if it is new, empty or a cache already, with
    its tag or without."""
    if os.path.lexists(root) and not os.path.isdir(root):
        return "it is not a folder"
    try:
        used = not all(map(_is_draft, os.listdir(root)))
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror or str(error)
    if not used or _is_ours(root) or _has_lost_its_tag(root):
        return None
    return "it holds something else"


def distrust(root: str) -> str | None:
    """Why nothing in a folder can be believed: others may have put it there, or a checkout brought
    it. None if torchlint made it, and if there is nothing in it yet."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        found = os.stat(root)
        if found.st_uid != os.geteuid():
            return "it belongs to somebody else"
        if not _is_private(found) and os.listdir(root):
            return "others may read or write it, unlike a folder that torchlint makes"
    except OSError:
        return None  # there is none, or none to be read
    return None


def _is_private(found: os.stat_result) -> bool:
    """Whether a file or folder is of this user, and nobody else may use it. Nothing that comes out
    of a version control system is."""
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _make(root: str) -> None:
    """Create the cache folder with a tag for backup tools and a `.gitignore`.

    Raises:
        OSError: it cannot be created, or has other content, which the tag must not exclude from
            backups.
    """
    reason = refusal(root)
    if reason is not None:
        raise OSError(reason)
    os.makedirs(root, mode=0o700, exist_ok=True)
    if os.name != "nt" and not os.listdir(root):
        os.chmod(root, 0o700)
    if not _is_ours(root):
        _write(os.path.join(root, TAG), _TAG_TEXT)
    ignored = os.path.join(root, ".gitignore")
    if not os.path.lexists(ignored):
        _write(ignored, b"*\n")


def _is_draft(name: str) -> bool:
    return name.startswith(_DRAFT)


def _is_name(text: str, digits: int) -> bool:
    return len(text) == digits and _HEXADECIMAL.issuperset(text)


def _write(path: str, data: bytes) -> None:
    """Write a file in one step: a reader sees the old file, the new one or none. After a power
    failure the checksum shows whether it is complete."""
    import tempfile

    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=_DRAFT, dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise

"""The entries of a folder that shows two."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.files import system

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.files.view import View


class FolderEntry:
    """As `os.DirEntry`, with the path that the caller knows."""

    def __init__(self, entry: os.DirEntry[str], start: Any) -> None:
        self._entry = entry
        self.name: Any = os.fsencode(entry.name) if isinstance(start, bytes) else entry.name
        self.path: Any = os.path.join(start, self.name)

    def __getattr__(self, name: str) -> Any:
        # Its questions: is_dir, is_file, is_symlink, is_junction, stat, inode.
        return getattr(self._entry, name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


class Listing:
    """As what `os.scandir` gives: an iterator and a context manager."""

    def __init__(self, found: Iterator[FolderEntry]) -> None:
        self._found = found

    def __iter__(self) -> Listing:
        return self

    def __next__(self) -> FolderEntry:
        return next(self._found)

    def __enter__(self) -> Listing:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """The iterator is exhausted from now on."""
        self._found = iter(())


def entries(view: View, layers: tuple[str | None, str | None], start: Any) -> Iterator[FolderEntry]:
    """Each entry once, the upper one first.

    Args:
        layers: as `View.layers` has found them.
        start: what the paths of the entries begin with.

    Raises:
        OSError: one of them cannot be read.
    """
    upper, lower = ([] if layer is None else list(system.scandir(layer)) for layer in layers)
    names = {entry.name for entry in upper}
    left = (
        entry
        for entry in lower
        if entry.name not in names and not view.is_removed(f"{layers[1]}/{entry.name}")
    )
    return (FolderEntry(entry, start) for each in (upper, left) for entry in each)

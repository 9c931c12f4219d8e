"""The files of a project as they were at a revision, without a checkout.

They are compared by the names of git's objects, which are computed here: what has not changed is
read from the disk, the rest from git, and nothing is written.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from torchlint.changes.changed_lines import object_of
from torchlint.files.discover import SUFFIXES
from torchlint.files.reading import SourceError, most_bytes, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.changes.changed_lines import Changes
    from torchlint.changes.git import Entry


class FilesBefore(NamedTuple):
    """The files as they were.

    Args:
        same: those of the given paths that have not changed. A file of a submodule is among them:
            its history is not that of this repository.
        changed: what was in those that have changed, by the given path.
        gone: what was in programs and notebooks that are no longer there, by absolute path.
        renamed: the given path that git says a file that is gone has now.
    """

    same: frozenset[str]
    changed: Mapping[str, bytes]
    gone: Mapping[str, bytes]
    renamed: Mapping[str, str]


def files_before(changes: Changes, paths: Sequence[str]) -> FilesBefore:
    """The files as they were at the base of the changes.

    Args:
        paths: the files that are checked now. Those that the base does not have are new.

    Raises:
        GitError: a file is outside of the repository, or an object is missing.
    """
    tree = changes.repository.tree(changes.base)
    names = {path: changes.repository.name_of(path) for path in paths}
    same = {path for path, name in names.items() if changes.is_foreign(name)}
    objects = {path: object_of(tree.get(names[path])) for path in paths if path not in same}
    same |= {path for path, name in objects.items() if name and _is(path, name)}
    top = os.fsencode(changes.repository.top)
    gone = _gone(changes, tree, top, set(names.values()))
    renamed: dict[str, str] = {}
    if gone and any(not name for name in objects.values()):
        now = {name: path for path, name in names.items() if path not in same}
        renamed = {
            os.fsdecode(os.path.join(top, old)): now[new]
            for new, old in changes.repository.renames(changes.base).items()
            if old in gone and new in now
        }
    wanted = {path: name for path, name in objects.items() if name and path not in same}
    missing = {os.fsdecode(os.path.join(top, name)): each for name, each in gone.items()}
    largest = max(map(most_bytes, (*wanted, *missing)), default=0)
    blobs = changes.repository.blobs({*wanted.values(), *missing.values()}, largest)

    def contents(of: Mapping[str, bytes]) -> dict[str, bytes]:
        found = ((path, blobs.get(name)) for path, name in of.items())
        return {path: data for path, data in found if data and len(data) <= most_bytes(path)}

    return FilesBefore(frozenset(same), contents(wanted), contents(missing), renamed)


def _gone(
    changes: Changes, tree: Mapping[bytes, Entry], top: bytes, known: set[bytes]
) -> dict[bytes, bytes]:
    """The objects of the programs and notebooks that are no longer there, by their old names."""
    endings = tuple(map(os.fsencode, SUFFIXES))
    gone = {
        name: object_of(entry)
        for name, entry in tree.items()
        if name.endswith(endings)
        and name not in known
        and object_of(entry)
        and not os.path.lexists(os.path.join(top, name))
    }
    for name in changes.repository.left_out() if gone else ():
        gone.pop(name, None)
    return gone


def _is(path: str, name: bytes) -> bool:
    """Whether a file has the content that git has under this name."""
    try:
        data = read_bytes(path)
    except SourceError:
        return False
    kind = hashlib.sha1 if len(name) == 40 else hashlib.sha256
    header = f"blob {len(data)}\0".encode()
    return kind(header + data, usedforsecurity=False).hexdigest().encode() == name

"""The files of a project as they were at a revision, without a checkout.

They are compared by the names of git's objects, which are computed here: what has not changed is
read from the disk, the rest from git, and nothing is written. If git compared them, it would run
the filters that the repository asks for.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.changes.git import Repository
from torchlint.files.discover import SUFFIXES
from torchlint.files.reading import SourceError, most_bytes, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchlint.changes.git import TreeEntry

_FILES: Final = (b"100644", b"100755", b"100664")


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


class MergeBase:
    """Where a working tree parted from a revision.

    Args:
        revision: a branch, a tag or a commit. What counts is the merge base of it and HEAD, as in
            a pull request, so that later changes by others on that branch do not count. Before
            the first commit, as in the hook that checks it, all of the tree is new.
        folder: a folder of the working tree.

    Raises:
        GitError: there is no git, no repository, no such revision, or no merge base.
    """

    def __init__(self, revision: str, folder: str = ".") -> None:
        self._repository = repository = Repository(folder)
        head = repository.head()
        if head is None and revision == "HEAD":
            self._commit = repository.empty_tree()
        else:
            commit = repository.commit(revision)
            self._commit = commit if head is None else repository.merge_base(commit, head)

    def files(self, paths: Sequence[str]) -> FilesBefore:
        """The files as they were there.

        Args:
            paths: the files that are checked now. Those that the base does not have are new.

        Raises:
            GitError: a file is outside of the repository, or an object is missing.
        """
        repository = self._repository
        tree = repository.tree(self._commit)
        names = {path: repository.name_of(path) for path in paths}
        top = os.fsencode(repository.top)
        same = {path for path, name in names.items() if _is_foreign(top, name)}
        objects = {path: _object_of(tree.get(names[path])) for path in paths if path not in same}
        same |= {path for path, name in objects.items() if name and _is(path, name)}
        gone = self._gone(tree, top, set(names.values()))
        renamed: dict[str, str] = {}
        if gone and any(not name for name in objects.values()):
            now = {name: path for path, name in names.items() if path not in same}
            renamed = {
                os.fsdecode(os.path.join(top, old)): now[new]
                for new, old in repository.renames(self._commit).items()
                if old in gone and new in now
            }
        wanted = {path: name for path, name in objects.items() if name and path not in same}
        missing = {os.fsdecode(os.path.join(top, name)): each for name, each in gone.items()}
        largest = max(map(most_bytes, (*wanted, *missing)), default=0)
        blobs = repository.blobs({*wanted.values(), *missing.values()}, largest)

        def contents(of: Mapping[str, bytes]) -> dict[str, bytes]:
            found = ((path, blobs.get(name)) for path, name in of.items())
            return {path: data for path, data in found if data and len(data) <= most_bytes(path)}

        return FilesBefore(frozenset(same), contents(wanted), contents(missing), renamed)

    def _gone(
        self, tree: Mapping[bytes, TreeEntry], top: bytes, known: set[bytes]
    ) -> dict[bytes, bytes]:
        """The objects of programs and notebooks that are no longer there, by their old names."""
        endings = tuple(map(os.fsencode, SUFFIXES))
        gone = {
            name: _object_of(entry)
            for name, entry in tree.items()
            if name.endswith(endings)
            and name not in known
            and _object_of(entry)
            and not os.path.lexists(os.path.join(top, name))
        }
        for name in self._repository.left_out() if gone else ():
            gone.pop(name, None)
        return gone


def _is_foreign(top: bytes, name: bytes) -> bool:
    """Whether a file belongs to a repository inside this one, such as a submodule."""
    return any(os.path.lexists(os.path.join(top, above, b".git")) for above in _above(name))


def _above(name: bytes) -> Iterator[bytes]:
    """The folders on the way to a file, from the top."""
    at = name.find(b"/")
    while at >= 0:
        yield name[:at]
        at = name.find(b"/", at + 1)


def _object_of(entry: TreeEntry | None) -> bytes:
    """The object of a file, or nothing: a link or a folder that became a file is new."""
    return entry.object if entry is not None and entry.mode in _FILES else b""


def _is(path: str, name: bytes) -> bool:
    """Whether a file has the content that git has under this name."""
    try:
        data = read_bytes(path)
    except SourceError:
        return False
    kind = hashlib.sha1 if len(name) == 40 else hashlib.sha256
    header = f"blob {len(data)}\0".encode()
    return kind(header + data, usedforsecurity=False).hexdigest().encode() == name

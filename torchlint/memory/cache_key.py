"""The cache generation: it changes with the code of torchlint and of its rules.

A fully cached run imports no rule, so this reads the dates and sizes of the rules' source files.
Where these are is found through the installed packages once, and cached until a package is
installed or removed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from torchlint.files.digests import blake2b
from torchlint.memory.cache import Cache, name_of
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMAT: Final = b"11"
"""The format of stored blobs; increase it when the meaning of a blob changes."""
_ENVIRONMENTS: Final = "e" * 16
"""The generation of the blobs about installed packages."""
_KIND: Final = "packages"
_HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_WITHOUT_EFFECT: Final = frozenset(
    {"changes", "cli", "fixes", "report", "runtime", "server", "verify", "workers"}
)
"""Packages of torchlint that do not affect the result of a file. All others do."""


def generation(root: str) -> str:
    """16 hexadecimal digits that change with torchlint, its rules and plugins, LibCST and Python.

    Args:
        root: the cache folder.
    """
    digest = blake2b(digest_size=8)
    digest.update(_FORMAT)
    digest.update(repr((__version__, sys.version_info[:3])).encode())
    for place in (*_own_places(), *_rule_places(root)):
        for stamp in _stamps(place):
            digest.update(stamp)
    return digest.hexdigest()


def _own_places() -> Iterator[str]:
    for name in sorted(os.listdir(_HOME)):
        if name not in _WITHOUT_EFFECT and not name.startswith("__pycache__"):
            yield os.path.join(_HOME, name)


def _rule_places(root: str) -> list[str]:
    """The files and folders of LibCST and the rules, also those of plugins."""
    packages = Cache(root, _ENVIRONMENTS)
    name = name_of(*map(_stamp, sys.path))
    kept = packages.get(_KIND, name)
    if kept is None:
        places = list(_find_rule_places())
        packages.put(_KIND, name, b"\0".join(map(os.fsencode, places)))
        return places
    return [os.fsdecode(place) for place in kept.split(b"\0")]


def _find_rule_places() -> Iterator[str]:
    from importlib import util

    from torchlint.ruleapi.sources import roots

    parser = util.find_spec("libcst")
    if parser is not None and parser.origin is not None:
        yield os.path.join(os.path.dirname(parser.origin), "_version.py")
    for root in roots():
        if root.spec is None:
            continue
        if root.spec.submodule_search_locations is not None:
            yield from root.spec.submodule_search_locations
        elif root.spec.origin is not None:
            yield root.spec.origin


def _stamps(place: str) -> Iterator[bytes]:
    """A stamp for each source file at or below a place."""
    try:
        inside = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:  # a file, or nothing
        yield _stamp(place)
        return
    for entry in inside:
        if entry.name.endswith(".py"):
            yield _stamp(entry.path)
        elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
            yield from _stamps(entry.path)


def _stamp(path: str) -> bytes:
    """Bytes that change when the file or folder does."""
    try:
        found = os.stat(path)
        text = f"{path} {found.st_size} {found.st_mtime_ns}"
    except OSError:
        text = path
    return text.encode("utf-8", "surrogateescape")

"""The oldest torch that a project says it works with, read from its own requirements."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from torchlint.config.settings import NEWEST_TORCH, ConfigError, read_capped, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

Version = tuple[int, int]

_LAST_OF_SERIES = {0: 4, 1: 13, NEWEST_TORCH[0]: NEWEST_TORCH[1]}
_SPEC = r"torch(?![\w.-])(?:[ \t]*\[[^\]\n]{0,200}\])?[ \t(]*(?P<spec>[<>=~!^][^;#)'\"\n]*)?"


@cache
def _line() -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*(?:install_requires[ \t]*=[ \t]*)?{_SPEC}", re.MULTILINE | re.I)


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(rf"['\"]{_SPEC}", re.I)


@cache
def _clause() -> re.Pattern[str]:
    return re.compile(
        r"(?P<op>[<>=~!^]{0,3})[ \t]*v?(?P<major>[0-9]{1,4})(?:\.(?P<minor>[0-9]{1,4}))?"
        r"(?:\.(?P<patch>[0-9]{1,9}))?"
    )


class TorchBounds:
    """Looks upward from a folder for the first one that states a bound on torch.

    The search ends at the root of a version control checkout, so that a folder of clones does
    not set a bound for the clones.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[Version, str] | None] = {}

    def oldest(self, folder: str) -> Version | None:
        """The lowest torch that the project around `folder`, an absolute path, asks for."""
        found = self.stated(folder)
        return None if found is None else found[0]

    def stated(self, folder: str) -> tuple[Version, str] | None:
        """The same as `oldest`, with the file that states it."""
        chain: list[str] = []
        bound: tuple[Version, str] | None = None
        while folder not in self._found:
            chain.append(folder)
            bounds, last = _stated_in(folder)
            bound = min(bounds, default=None)
            parent = os.path.dirname(folder)
            if bound is not None or last or parent == folder:
                break
            folder = parent
        else:
            bound = self._found[folder]
        self._found.update(dict.fromkeys(chain, bound))
        return bound


def _stated_in(folder: str) -> tuple[list[tuple[Version, str]], bool]:
    """Bounds with the files that state them, and whether the search ends here."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return [], False
    bounds: list[tuple[Version, str]] = []
    for name in sorted(names):
        if name in _READERS or (name.startswith("requirements") and name.endswith(".txt")):
            path = os.path.join(folder, name)
            bounds += [(bound, path) for bound in _bounds_of(path, name)]
    return bounds, not names.isdisjoint((".git", ".hg"))


def _bounds_of(path: str, name: str) -> Iterator[Version]:
    try:
        data = read_capped(path)
        if b"torch" not in data.lower():
            return
        specs = _READERS.get(name, _lines)(path, data)
        bounds = [lower_bound(spec) for spec in specs]
    except ConfigError:
        # The requirements of a project may be in a form that is not read; that is not an error.
        return
    yield from (bound for bound in bounds if bound is not None)


def row_stating(path: str, version: Version) -> int | None:
    """The first row of a file that asks for this torch, from 1; None if it is not one row."""
    text = read_capped(path).decode("utf-8", "replace")
    for row, line in enumerate(text.split("\n"), start=1):
        hit = _line().match(line) or _quoted().search(line)
        if hit is not None and lower_bound(hit["spec"] or "") == version:
            return row
    return None


def _lines(_path: str, data: bytes) -> list[str]:
    return [hit["spec"] or "" for hit in _line().finditer(data.decode("utf-8", "replace"))]


def _setup_script(_path: str, data: bytes) -> list[str]:
    code = re.sub(r"(?m)^[ \t]*#.*", "", data.decode("utf-8", "replace"))
    return [hit["spec"] or "" for hit in _quoted().finditer(code)]


def _pyproject(path: str, _data: bytes) -> list[str]:
    data = read_toml(path)
    project = _table(data.get("project"))
    lists = [
        project.get("dependencies"),
        *_table(project.get("optional-dependencies")).values(),
        *_table(data.get("dependency-groups")).values(),
    ]
    entries = [entry for each in lists if isinstance(each, list) for entry in each]
    hits = (_line().match(entry) for entry in entries if isinstance(entry, str))
    specs = [hit["spec"] or "" for hit in hits if hit is not None]
    poetry = _table(_table(_table(data.get("tool")).get("poetry")).get("dependencies"))
    entry = poetry.get("torch")
    stated = _table(entry).get("version", entry)
    return [*specs, stated] if isinstance(stated, str) else specs


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


_READERS = {"pyproject.toml": _pyproject, "setup.cfg": _lines, "setup.py": _setup_script}


def lower_bound(spec: str) -> Version | None:
    """The oldest torch that a version specifier allows, such as (1, 13) for `>=1.13,<3`.

    An upper bound alone gives the newest version that it allows.
    """
    lower: Version | None = None
    upper: Version | None = None
    for clause in spec.split(","):
        hit = _clause().match(clause.strip())
        if hit is None:
            continue
        version = (int(hit["major"]), int(hit["minor"] or 0))
        if hit["op"] in ("<", "<="):
            below = hit["op"] == "<" and int(hit["patch"] or 0) == 0
            version = _before(version) if below else version
            upper = version if upper is None else min(upper, version)
        elif hit["op"] != "!=":
            lower = version if lower is None else max(lower, version)
    return lower if lower is not None else upper


def _before(version: Version) -> Version:
    major, minor = version
    if minor > 0:
        return (major, minor - 1)
    return (major - 1, _LAST_OF_SERIES[major - 1]) if major - 1 in _LAST_OF_SERIES else NEWEST_TORCH

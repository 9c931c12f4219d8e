"""Which files to check: the named ones as they are, folders walked for programs and notebooks."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import ConfigError, Settings, read_capped
from torchlint.files.globs import Glob, IgnoreFile, parse, parse_ignore_file
from torchlint.files.reading import NOTEBOOK, is_python
from torchlint.finding import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.config.folders import Configs

Parts = tuple[str, ...]
Ignores = tuple[tuple[IgnoreFile, int, str], ...]
"""The ignore files that apply, outermost first, with the depth of their folder and their path."""

SUFFIXES: Final = (".py", NOTEBOOK)
_NOT_PYTHON: Final = (
    "This is not a Python file; name one that ends with .py or .ipynb, or that begins with a "
    "line such as `#!/usr/bin/env python3`."
)


class Found:
    """A file to check. `path` is relative to the working directory if it is below it; `named` is
    true if the user named the file, false if it was found in a folder."""

    __slots__ = ("absolute", "named", "path", "settings")

    def __init__(self, path: str, absolute: str, settings: Settings, named: bool = False) -> None:
        self.path = path
        self.absolute = absolute
        self.settings = settings
        self.named = named


def discover(paths: Sequence[str], configs: Configs) -> tuple[list[Found], list[Diagnostic]]:
    """The files that `paths` mean, each once, in a stable order, and what could not be read.

    A named file is checked even if something excludes it, unless its name is that of something else
    than Python, and so is its first line. In a folder, excluded and git-ignored entries, virtual
    environments, links to folders and links that lead out of the folder are skipped.
    """
    search = Search(paths, configs)
    return search.found, search.problems


class Search:
    """A search for files.

    Args:
        paths: files and folders.
        configs: the settings that hold in each folder.

    Attributes:
        found: the files, as `discover` returns them.
        folders: the absolute folders that were searched.
        problems: what could not be read.
    """

    def __init__(self, paths: Sequence[str], configs: Configs) -> None:
        self.found: list[Found] = []
        self.folders: list[str] = []
        self.problems: list[Diagnostic] = []
        self._configs = configs
        self._seen: set[str] = set()
        self._reported: set[str] = set()
        self._excludes: dict[tuple[str, ...], _Excludes] = {}
        for path in paths:
            self._add(path)

    def _add(self, path: str) -> None:
        absolute = os.path.abspath(path)
        shown = shown_path(absolute, path)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            if not os.path.islink(path.replace("\0", "")):
                self.problems.append(Diagnostic(shown, why_unreadable(error), kind="unreadable"))
                return
            # Reading it gives a better message for a dangling or looping link.
            mode = stat.S_IFREG
        if stat.S_ISDIR(mode):
            self._walk(shown, absolute)
            return
        if stat.S_ISREG(mode) and not is_python(path):
            self.problems.append(Diagnostic(shown, _NOT_PYTHON, kind="unreadable"))
            return
        settings = self._settings(os.path.dirname(absolute))
        if settings is not None:
            self._take(shown, absolute, os.path.realpath(absolute), settings, named=True)

    def _settings(self, folder: str) -> Settings | None:
        try:
            return self._configs.for_folder(folder)
        except ConfigError as error:
            source = error.path or folder
            if source not in self._reported:
                self._reported.add(source)
                message = f"{error.message} Files under it were not checked."
                self.problems.append(Diagnostic(shown_path(source), message, kind="config"))
            return None

    def _take(
        self, shown: str, absolute: str, real: str, settings: Settings, *, named: bool = False
    ) -> None:
        if real not in self._seen:
            self._seen.add(real)
            self.found.append(Found(shown, absolute, settings, named))

    def _walk(self, shown: str, absolute: str) -> None:
        root = os.path.realpath(absolute)
        waiting = [(shown, absolute, root, _ignores_above(absolute))]
        links: list[Found] = []
        while waiting:
            shown, absolute, real, ignores = waiting.pop()
            self.folders.append(absolute)
            entries = self._entries(shown, absolute)
            settings = self._settings(absolute) if entries else None
            if settings is None or (real != root and "pyvenv.cfg" in entries):
                continue
            if ".git" in entries and real != root:
                ignores = ()
            if ".gitignore" in entries:
                ignores += _ignore_file(os.path.join(absolute, ".gitignore"), absolute)
            prefix = "" if shown == "." else shown.rstrip(os.sep) + os.sep
            folders = []
            for entry in self._wanted(entries, absolute, settings, ignores):
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append((prefix + name, entry.path, os.path.join(real, name), ignores))
                elif entry.is_symlink():
                    links.append(Found(prefix + name, entry.path, settings))
                else:
                    # One string for both where they are equal: there may be very many files.
                    own = entry.path if real == absolute else os.path.join(real, name)
                    self._take(prefix + name, entry.path, own, settings)
            waiting.extend(reversed(folders))
        # Links last: a file that was found under its own name is not taken again.
        for link in links:
            real = os.path.realpath(link.absolute)
            if real.startswith(root.rstrip(os.sep) + os.sep) and os.path.isfile(real):
                self._take(link.path, link.absolute, real, link.settings)

    def _entries(self, shown: str, absolute: str) -> dict[str, os.DirEntry[str]]:
        try:
            with os.scandir(absolute) as scan:
                return {entry.name: entry for entry in sorted(scan, key=lambda each: each.name)}
        except OSError as error:
            self.problems.append(Diagnostic(shown, why_unreadable(error), kind="unreadable"))
            return {}

    def _wanted(
        self,
        entries: dict[str, os.DirEntry[str]],
        folder: str,
        settings: Settings,
        ignores: Ignores,
    ) -> Iterator[os.DirEntry[str]]:
        excludes = self._excludes.get(settings.exclude)
        if excludes is None:
            excludes = self._excludes[settings.exclude] = _Excludes(settings.exclude)
        above = parts_of(folder)
        root = parts_of(settings.root)
        depth = len(root) if above[: len(root)] == root else 0
        for name, entry in entries.items():
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not (
                name.endswith(SUFFIXES)
                and (entry.is_file(follow_symlinks=False) or entry.is_symlink())
            ):
                continue
            parts = (*above, name)
            if excludes.match(parts[depth:], folder=is_folder) or _ignored_by(
                parts, ignores, folder=is_folder
            ):
                continue
            yield entry


class _Excludes:
    """The `exclude` globs of one configuration; plain names are looked up, not matched."""

    def __init__(self, patterns: Iterable[str]) -> None:
        globs = [glob for glob in map(parse, patterns) if glob is not None]
        self._names = frozenset(glob.segments[1] for glob in globs if _is_plain(glob))
        self._globs = [glob for glob in globs if not _is_plain(glob)]

    def match(self, parts: Parts, *, folder: bool) -> bool:
        if parts[-1] in self._names:
            return True
        return any(glob.matches(parts, folder=folder) for glob in self._globs)


def _is_plain(glob: Glob) -> bool:
    if glob.folders_only or len(glob.segments) != 2 or glob.segments[0] != "**":
        return False
    return not any(sign in glob.segments[1] for sign in "*?[\\")


def _ignored_by(parts: Parts, ignores: Ignores, *, folder: bool) -> str | None:
    """The ignore file that excludes a path, or None."""
    for ignore_file, depth, path in reversed(ignores):
        verdict = ignore_file.verdict(parts[depth:], folder=folder)
        if verdict is not None:
            return path if verdict else None
    return None


def _ignores_above(folder: str) -> Ignores:
    """The ignore files between the root of the checkout and a named folder.

    None of them if they ignore the folder itself: the user named it.
    """
    ignores, ignoring = ignores_of(folder, folder=True)
    return () if ignoring else ignores


def ignores_of(absolute: str, *, folder: bool) -> tuple[Ignores, str | None]:
    """The ignore files that apply to a path, and the one that excludes it or a folder above it."""
    here = checkout_of(absolute if folder else os.path.dirname(absolute))
    if here is None:
        return (), None
    ignores = _ignore_file(os.path.join(here, ".git", "info", "exclude"), here)
    parts = parts_of(absolute)
    for depth in range(len(parts_of(here)) + 1, len(parts) + 1):
        ignores += _ignore_file(os.path.join(here, ".gitignore"), here)
        here = os.path.join(here, parts[depth - 1])
        found = _ignored_by(parts[:depth], ignores, folder=folder or depth < len(parts))
        if found is not None:
            return ignores, found
    return ignores, None


def _ignore_file(path: str, folder: str) -> Ignores:
    try:
        text = os.fsdecode(read_capped(path)) if os.path.isfile(path) else ""
    except ConfigError:
        return ()
    parsed = parse_ignore_file(text.removeprefix("\ufeff").split("\n"))
    return ((parsed, len(parts_of(folder)), path),) if parsed.lines else ()


def checkout_of(folder: str) -> str | None:
    """The git checkout that contains an absolute folder, or None."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def shown_path(absolute: str, named: str | None = None) -> str:
    """How messages name a path: relative to the working directory if it is below it."""
    here = os.getcwd()
    if absolute == here:
        return "."
    inside = here.rstrip(os.sep) + os.sep
    if absolute.startswith(inside):
        return absolute[len(inside) :]
    return os.path.normpath(named) if named else absolute


def parts_of(absolute: str) -> Parts:
    """The names on an absolute path, without the root."""
    return tuple(part for part in absolute.split(os.sep) if part)


def why_unreadable(error: OSError | ValueError) -> str:
    """Why a path cannot be used, and what to do."""
    if isinstance(error, FileNotFoundError):
        name = str(error.filename)
        is_code = name.isalnum() and name.isupper() and name[-1:].isdigit()
        more = ", or separate the codes by commas" if is_code else ""
        return f"There is no such file or folder; check the name{more}."
    reason = error.strerror if isinstance(error, OSError) else "not a possible file name"
    return f"Cannot be read: {reason}."

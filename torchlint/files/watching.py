"""Waits for changes to what a check depends on.

Only the folders that a search for files goes through are watched, each without its subfolders:
excluded folders, links to folders and folders of data cost nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from torchlint.config.folders import Configs
from torchlint.config.settings import ConfigError
from torchlint.files.discover import SUFFIXES, Search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CONFIGURATION: Final = ("pyproject.toml", "torchlint.toml", ".gitignore", "setup.cfg", "setup.py")
_TICK_MS: Final = 50
_BURST_MS: Final = 1_000
"""Changes without a pause, such as a checkout of another branch, count as one for this long."""


class WatchError(Exception):
    """Nothing can be watched; the message says what to do."""


class Watched:
    """The files and folders that decide the outcome of a check, at one moment.

    Args:
        paths: as for `discover`.
        file: the one configuration file in use, if it was named.
        others: further files that decide, such as a baseline.
        isolated: no configuration file is in use.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        file: str | None = None,
        isolated: bool = False,
        others: Sequence[str] = (),
    ) -> None:
        try:
            configs = Configs(file=file, isolated=isolated)
        except ConfigError:
            # It may be valid again the next time.
            configs = Configs(isolated=True)
        search = Search(paths, configs)
        found_files = search.found
        self.files = frozenset(each.absolute for each in found_files)
        given = (*paths, *([file] if file else []), *others)
        known = {each.settings.baseline for each in found_files} - {None}
        self._named = frozenset(map(os.path.abspath, (*given, *map(str, known))))
        self._searched = frozenset(search.folders)
        around = {_existing(path) for path in self._named}
        around.update(above for folder in list(around) for above in _up_to_checkout(folder))
        sources = {each.settings.source for each in found_files} - {None}
        around.update(os.path.dirname(os.path.abspath(str(source))) for source in sources)
        self.folders = tuple(sorted(self._searched | around))

    def may_change_with(self, path: str) -> bool:
        """Whether to check again after a change of this absolute path."""
        folder, name = os.path.split(path)
        return (
            self.decided_by(path)
            or path in self.folders
            or (folder in self._searched and (name.endswith(SUFFIXES) or os.path.isdir(path)))
        )

    def decided_by(self, path: str) -> bool:
        """Whether this absolute path is checked, or configures the check."""
        name = os.path.basename(path)
        return (
            path in self.files
            or path in self._named
            or name in _CONFIGURATION
            or (name.startswith("requirements") and name.endswith(".txt"))
        )


def changes(look: Callable[[], Watched]) -> Iterator[list[str]]:
    """Yields an empty list at once, then the absolute paths of each change.

    Changes while the caller is busy are in the next list.

    Raises:
        WatchError: the operating system cannot watch files.
    """
    before: Watched | None = None
    changed: list[str] | None = []
    while True:
        watched = look()
        try:
            batches = _batches(watched.folders)
            next(batches)
            if look().folders != watched.folders:
                continue
            if before is not None and not changed and before.files != watched.files:
                changed = sorted(before.files ^ watched.files)
            if changed is not None:
                yield changed
            for batch in batches:
                if not any(map(watched.may_change_with, batch)):
                    continue
                before, watched = watched, look()
                changed = (
                    sorted(
                        path
                        for path in batch
                        if before.decided_by(path) or watched.decided_by(path)
                    )
                    or sorted(before.files ^ watched.files)
                    or None
                )
                if watched.folders != before.folders:
                    break
                if changed:
                    yield changed
        except FileNotFoundError:
            # A folder was removed before it was watched.
            continue


def _batches(folders: Sequence[str]) -> Iterator[set[str]]:
    """An empty set once these folders are watched; then sets of changed paths, some empty."""
    try:
        import watchfiles
    except ImportError:
        raise WatchError(
            "--watch needs the package watchfiles; run `pip install watchfiles`."
        ) from None
    batches = watchfiles.watch(
        *folders,
        watch_filter=None,
        recursive=False,
        debounce=_BURST_MS,
        step=_TICK_MS,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    try:
        for batch in batches:
            yield {path for _, path in batch}
    except FileNotFoundError:
        raise
    except OSError as error:
        raise WatchError(
            f"The system does not watch {len(folders)} folders ({error}); name fewer, raise its "
            "limit, or set WATCHFILES_FORCE_POLLING=1."
        ) from None


def _existing(folder: str) -> str:
    """The path itself if it is a folder, else the nearest one above it that exists."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _up_to_checkout(folder: str) -> list[str]:
    """The folders above, up to the root of the checkout: their files may configure the check."""
    chain = [folder]
    while not any(os.path.lexists(os.path.join(chain[-1], mark)) for mark in (".git", ".hg")):
        above = os.path.dirname(chain[-1])
        if above == chain[-1]:
            return []
        chain.append(above)
    return chain

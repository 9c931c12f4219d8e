"""Waits until something changes that a check depends on.

Each folder that a search for files goes through is watched by itself, and no other: what is
excluded, links to folders and folders of data below them cost nothing.
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
"""Changes without a pause, such as a checkout of another branch, count as one for so long."""


class WatchError(Exception):
    """Nothing can be watched; the message says what to do."""


class Watched:
    """What decides the outcome of a check, as it lies there now.

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
            # It may be whole again the next time.
            configs = Configs(isolated=True)
        search = Search(paths, configs)
        found = search.found
        self.files = frozenset(each.absolute for each in found)
        given = (*paths, *([file] if file else []), *others)
        known = {each.settings.baseline for each in found} - {None}
        self._named = frozenset(map(os.path.abspath, (*given, *map(str, known))))
        self._searched = frozenset(search.folders)
        around = {_existing(path) for path in self._named}
        around.update(above for folder in list(around) for above in _up_to_checkout(folder))
        sources = {each.settings.source for each in found} - {None}
        around.update(os.path.dirname(os.path.abspath(str(source))) for source in sources)
        self.folders = tuple(sorted(self._searched | around))

    def may_change_with(self, path: str) -> bool:
        """Whether a new look is worth it after a change of this absolute path."""
        folder, name = os.path.split(path)
        return (
            self.decided_by(path)
            or path in self.folders
            or (folder in self._searched and (name.endswith(SUFFIXES) or os.path.isdir(path)))
        )

    def decided_by(self, path: str) -> bool:
        """Whether this absolute path is checked, or says how to check."""
        name = os.path.basename(path)
        return (
            path in self.files
            or path in self._named
            or name in _CONFIGURATION
            or (name.startswith("requirements") and name.endswith(".txt"))
        )


def changes(look: Callable[[], Watched]) -> Iterator[list[str]]:
    """Nothing at once, then the absolute paths that changed, whenever some did.

    What changes between two values is in the second one: nothing is lost while the caller is
    busy.

    Raises:
        WatchError: the operating system does not watch.
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
            # A folder went between the look and the watch.
            continue


def _batches(folders: Sequence[str]) -> Iterator[set[str]]:
    """First nothing, once these folders are watched; then changes, and nothing now and then."""
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
    """The folders above, up to the root of the checkout: their files may say how to check."""
    chain = [folder]
    while not any(os.path.lexists(os.path.join(chain[-1], mark)) for mark in (".git", ".hg")):
        above = os.path.dirname(chain[-1])
        if above == chain[-1]:
            return []
        chain.append(above)
    return chain

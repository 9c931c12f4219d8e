"""The files of a folder on disk, and what an open document is among them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.config.settings import ConfigError
from torchlint.engine.targets import plan, plan_text
from torchlint.files.discover import shown_path
from torchlint.files.reading import SourceError, most_bytes
from torchlint.project.target import Known, digest_of, known_of
from torchlint.report.terminal.safe_text import visible_path
from torchlint.server.buffers import data_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.engine.targets import Wishes
    from torchlint.project.target import Target
    from torchlint.server.buffers import Buffer
    from torchlint.server.server_store import ServerStore

    Stamp = tuple[int, int, int]


class Files:
    """What `torchlint check` would look at, with what it found there the last time.

    Args: as for `OpenProject`.
    """

    def __init__(
        self, root: str | None, store: ServerStore, wishes: Wishes, say: Callable[[str], None]
    ) -> None:
        self.root = root
        self._store = store
        self._wishes = wishes
        self._say = say
        self._disk: dict[str, Known] = {}
        """By absolute path, in the order of a check."""
        self._stamps: dict[str, Stamp] = {}

    def on_disk(self) -> Iterable[Known]:
        """In the order of a check."""
        return self._disk.values()

    def refresh(self) -> bool:
        """Looks which files there are on disk, and says whether they or their settings have
        changed."""
        if self.root is None:
            return False
        try:
            planned = plan([self.root], self._wishes)
        except ConfigError as error:
            self._say(str(error))
            return False
        for each in planned.diagnostics:
            if each.kind == "config":
                self._say(f"{visible_path(each.path)}: {each.message}")
        before, self._disk = self._disk, {}
        for target in planned.targets:
            path = os.path.abspath(target.path)
            known = self._seen(path, target, before.get(path))
            if known is not None:
                self._disk[path] = known
        for gone in before.keys() - self._disk.keys():
            self._store.forget(before[gone].target.path)
            self._stamps.pop(gone, None)
        return list(before.values()) != list(self._disk.values())

    def lacks(self, buffer: Buffer) -> bool:
        """Whether a buffer is not one of the files on disk."""
        return buffer.path not in self._disk

    def _seen(self, path: str, target: Target, before: Known | None) -> Known | None:
        try:
            found = os.stat(path)
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            same = before is not None and before.target._replace(brought=()) == target
            if same and self._stamps.get(path) == stamp:
                return before
            data = target.read()
        except (OSError, SourceError):
            return None
        self._stamps[path] = stamp
        digest = digest_of(data)
        if before is not None and same and before.digest == digest:
            return before
        return known_of(target, data)

    def known(self, buffer: Buffer) -> Known | None:
        """What a buffer is to the engine; None if the configuration leaves it out."""
        path = buffer.path
        try:
            target = self._target(buffer.name, is_file=path is not None)
        except ConfigError as error:
            self._say(str(error))
            return None
        if target is None:
            return None
        try:
            target = target._replace(data=data_of(buffer))
            code = target.read()
        except SourceError:
            return None
        if len(target.data or b"") > most_bytes(target.path):
            return None
        return known_of(target, code)

    def _target(self, path: str, *, is_file: bool) -> Target | None:
        """
        Raises:
            ConfigError: a configuration file, or a setting, cannot be used.
        """
        on_disk = self._disk.get(path)
        if on_disk is not None:
            return on_disk.target
        if self.root is not None and is_file and os.path.exists(path):
            return None  # it is there, and no folder that is checked has it
        found = plan_text(b"", shown_path(path) if is_file else path, self._wishes)
        for each in found.diagnostics:
            self._say(f"{visible_path(each.path)}: {each.message}")
        return found.targets[0]._replace(named=False) if found.targets else None

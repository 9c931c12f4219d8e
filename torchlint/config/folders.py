"""Which settings hold in which folder: those of the nearest configuration file above it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.config.settings import (
    ConfigError,
    Settings,
    read_capped,
    read_toml,
    tool_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Configs:
    """Finds the settings that hold in a folder; reads each configuration file once.

    Args:
        file: the one file to use everywhere; its globs are relative to the working directory.
        isolated: read no configuration file at all.

    Raises:
        ConfigError: `file` cannot be used.
    """

    def __init__(self, *, file: str | None = None, isolated: bool = False) -> None:
        self.isolated = isolated
        self._found: dict[str, Settings | ConfigError] = {}
        self._fixed: Settings | None = None
        if isolated or file is not None:
            here = Settings(os.getcwd())
            self._fixed = here if file is None else _load_named(file, here)

    def for_folder(self, folder: str) -> Settings:
        """The settings for the files right in `folder`, an absolute path.

        Raises:
            ConfigError: the configuration file that governs the folder cannot be used.
        """
        if self._fixed is not None:
            return self._fixed
        found = self._search(folder)
        if isinstance(found, ConfigError):
            raise found
        return found

    def _search(self, folder: str) -> Settings | ConfigError:
        chain: list[str] = []
        settings: Settings | ConfigError | None = None
        while settings is None:
            settings = self._found.get(folder)
            if settings is None:
                chain.append(folder)
                settings = _load_or_error(folder)
            parent = os.path.dirname(folder)
            if settings is None and parent == folder:
                settings = Settings(os.getcwd())
            folder = parent
        self._found.update(dict.fromkeys(chain, settings))
        return settings


def _load_or_error(folder: str) -> Settings | ConfigError | None:
    try:
        return _load_folder(folder)
    except ConfigError as error:
        return error


def _load_folder(folder: str) -> Settings | None:
    path = os.path.join(folder, "torchlint.toml")
    if os.path.lexists(path):
        return _settings(read_toml(path), Settings(folder, path))
    path = os.path.join(folder, "pyproject.toml")
    # A broken pyproject.toml without a word about torchlint is not reported.
    if not os.path.isfile(path) or b"torchlint" not in read_capped(path):
        return None
    table = tool_table(read_toml(path), path)
    return None if table is None else _settings(table, Settings(folder, path))


def _load_named(file: str, here: Settings) -> Settings:
    data = read_toml(file)
    table = tool_table(data, file)
    if table is None:
        table = {} if os.path.basename(file) == "pyproject.toml" else data
    return _settings(table, here._replace(source=file))


def _settings(table: Mapping[str, object], base: Settings) -> Settings:
    # Imported late: without a configuration file no key is needed.
    from torchlint.config.keys import from_table

    return from_table(table, base)

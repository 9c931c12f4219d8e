"""The settings that apply to one file or folder, and where each value comes from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.config.folders import Configs
from torchlint.config.settings import (
    NEWEST_TORCH,
    ConfigError,
    Selection,
    Settings,
    read_capped,
    read_toml,
    tool_table,
    unknown_selector,
)
from torchlint.config.torch_bounds import TorchBounds, row_stating
from torchlint.engine.targets import Wishes, planned_selection
from torchlint.files.discover import shown_path
from torchlint.files.excluded import why_left_out
from torchlint.silence.per_file_ignores import off_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT: Final = "default"
_NOT_KEYS: Final = frozenset({"root", "source"})


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting under its name in the configuration file, and where its value comes from."""

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class RuleState:
    """Whether a rule is on, and which setting decides it."""

    code: str
    name: str
    on: bool
    why: str


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """The settings that apply to `path`.

    `source` is the configuration file; `left_out` is why a search for files skips this path.
    """

    path: str
    source: str | None
    values: tuple[SettingValue, ...]
    rules: tuple[RuleState, ...]
    left_out: str | None


def effective_settings(path: str, wishes: Wishes, names: Mapping[str, str]) -> EffectiveSettings:
    """The settings that apply to a file or folder, which need not exist.

    Args:
        names: the name of every rule by its code.

    Raises:
        ConfigError: a configuration file or an option of the command line is invalid.
    """
    absolute = os.path.abspath(path)
    is_folder = os.path.isdir(absolute)
    folder = absolute if is_folder else os.path.dirname(absolute)
    configs = Configs(file=wishes.config, isolated=wishes.isolated)
    settings = configs.for_folder(folder)
    for words, source in (
        ((*(wishes.select or ()), *wishes.ignore), None),
        (settings.selectors, settings.source),
    ):
        wrong = unknown_selector(words, names)
        if wrong is not None:
            raise ConfigError(wrong, source)
    off = () if is_folder else off_for(absolute, settings)
    selection = planned_selection(settings, wishes, off)
    origins = _Origins(settings)
    values = tuple(_values(settings, wishes, origins, folder))
    return EffectiveSettings(
        path=shown_path(absolute, path),
        source=None if settings.source is None else shown_path(settings.source),
        values=values,
        rules=tuple(_rules(selection, {each.key: each.origin for each in values}, names)),
        left_out=why_left_out(absolute, settings, folder=is_folder),
    )


class _Origins:
    """Finds the lines of the keys in one configuration file."""

    def __init__(self, settings: Settings) -> None:
        self._lines: list[str] = []
        self._table: Mapping[str, object] = {}
        if settings.source is None:
            return
        self._file = shown_path(settings.source)
        data = read_toml(settings.source)
        table = tool_table(data, settings.source)
        named = os.path.basename(settings.source) == "pyproject.toml"
        self._table = table or ({} if named else data)
        text = read_capped(settings.source).decode("utf-8-sig", "replace")
        self._lines = text.splitlines()

    def of(self, key: str) -> str:
        """Such as `pyproject.toml:12`, with the place of its `extend-` key if there is one."""
        own = self._place(key) if key in self._table else DEFAULT
        extra = f"extend-{key}"
        return f"{own}, {extra} in {self._place(extra)}" if extra in self._table else own

    def _place(self, key: str) -> str:
        word = re.compile(rf"\s*(?:\[[^\]#]*\b)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
        mixed = any("tool.torchlint" in line for line in self._lines)
        inside = not mixed
        for row, line in enumerate(self._lines, start=1):
            if mixed and re.fullmatch(r"\s*\[[^\[\]]+\]\s*(#.*)?", line):
                inside = "tool.torchlint" in line
            if (inside or "tool.torchlint" in line) and word.match(line):
                return f"{self._file}:{row}"
        return self._file


def _values(
    settings: Settings, wishes: Wishes, origins: _Origins, folder: str
) -> Iterator[SettingValue]:
    for field in settings._fields:
        if field in _NOT_KEYS:
            continue
        key = field.replace("_", "-")
        value, origin = getattr(settings, field), origins.of(key)
        if key == "select" and wishes.select is not None:
            value, origin = wishes.select, "--select"
        elif key == "ignore" and wishes.select is not None:
            value, origin = (
                wishes.ignore,
                "--ignore" if wishes.ignore else "--select, which replaces it",
            )
        elif key == "ignore" and wishes.ignore:
            value, origin = (*value, *wishes.ignore), f"{origin}, --ignore" if value else "--ignore"
        elif key == "target-torch":
            value, origin = _torch(settings, wishes, origin, folder)
        yield SettingValue(key, value, origin)


def _torch(
    settings: Settings, wishes: Wishes, origin: str, folder: str
) -> tuple[tuple[int, int], str]:
    if wishes.target_torch is not None:
        return wishes.target_torch, "--target-torch"
    if settings.target_torch is not None:
        return settings.target_torch, origin
    stated = None if wishes.isolated else TorchBounds().stated(folder)
    if stated is None:
        return NEWEST_TORCH, "default, the newest: no requirements say otherwise"
    version, file = stated
    row = row_stating(file, version)
    return version, f"torch in {shown_path(file)}{f':{row}' if row else ''}"


def _rules(
    selection: Selection, origins: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[RuleState]:
    for code, name in names.items():
        on = selection.enabled(code, name)
        if on:
            why = _word(selection.select, code, name, "select", origins)
        elif not Selection(("ALL",), (), selection.off).enabled(code, name):
            why = _word(selection.off, code, name, "per-file-ignores", origins)
        elif Selection(selection.select).enabled(code, name):
            why = _word(selection.ignore, code, name, "ignore", origins)
        else:
            why = f"not in select, {origins['select']}"
        yield RuleState(code, name, on, why)


def _word(
    entries: tuple[str, ...], code: str, name: str, key: str, origins: Mapping[str, str]
) -> str:
    """The most specific entry that selects this rule, with its key and place."""
    fitting = [entry for entry in entries if Selection((entry,)).enabled(code, name)]
    entry = max(fitting, key=lambda each: (each in (code, name), each != "ALL", len(each)))
    return f"{key} {entry}, {origins[key]}"

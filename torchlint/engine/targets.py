"""Turns the arguments of a command into targets: files with their rules and torch version."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.config.folders import Configs
from torchlint.config.settings import (
    NEWEST_TORCH,
    ConfigError,
    Selection,
    Settings,
    unknown_selector,
)
from torchlint.config.torch_bounds import TorchBounds
from torchlint.files.discover import Found, discover, shown_path
from torchlint.finding import Diagnostic
from torchlint.project.target import Target
from torchlint.ruleapi.rule_names import rule_names
from torchlint.silence.per_file_ignores import off_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Names = Callable[[], Mapping[str, str]]


class Wishes:
    """The options of the command line, which override the configuration file.

    `select` replaces the file's `select` and `ignore`; `ignore` is added to its `ignore`.
    """

    def __init__(
        self,
        select: tuple[str, ...] | None = None,
        ignore: tuple[str, ...] = (),
        target_torch: tuple[int, int] | None = None,
        config: str | None = None,
        *,
        isolated: bool = False,
        require_reason: bool = False,
    ) -> None:
        self.select = select
        self.ignore = ignore
        self.target_torch = target_torch
        self.config = config
        self.isolated = isolated
        self.require_reason = require_reason


class Plan:
    """The files to check, and diagnostics from the search for them.

    `baselines` has the baseline named in each file's configuration, by the path of the file.
    """

    def __init__(
        self,
        targets: tuple[Target, ...],
        diagnostics: tuple[Diagnostic, ...],
        baselines: Mapping[str, str] | None = None,
    ) -> None:
        self.targets = targets
        self.diagnostics = diagnostics
        self.baselines = baselines or {}


def plan(paths: Sequence[str], wishes: Wishes, names: Names = rule_names) -> Plan:
    """The targets for these paths.

    Args:
        names: returns the name of every rule by its code; called if a rule is mentioned.

    Raises:
        ConfigError: an option of the command line or the file given with `--config` is invalid.
    """
    planner = _Planner(wishes, names)
    found, diagnostics = discover(paths, planner.configs)
    targets = tuple(planner.target(file) for file in found if planner.usable(file.settings))
    return Plan(targets, (*diagnostics, *planner.diagnostics), planner.baselines)


def plan_text(data: bytes, filename: str | None, wishes: Wishes, names: Names = rule_names) -> Plan:
    """The target for text from standard input.

    Args:
        filename: decides the configuration and is shown in reports; it need not exist.
        names: as for `plan`.

    Raises:
        ConfigError: an option of the command line or a configuration file is invalid.
    """
    planner = _Planner(wishes, names)
    absolute = os.path.abspath(filename or "stdin")
    settings = planner.configs.for_folder(os.path.dirname(absolute))
    if not planner.usable(settings):
        return Plan((), tuple(planner.diagnostics))
    text = Found(filename or "<stdin>", absolute, settings, named=True)
    return Plan((planner.target(text, data),), (), planner.baselines)


def plan_gone(
    texts: Mapping[str, bytes], wishes: Wishes, names: Names = rule_names
) -> tuple[Target, ...]:
    """The targets for files that are no longer there, under the settings of today, without those
    that a search for files would skip.

    Args:
        texts: their contents, by absolute path.
        names: as for `plan`.

    Raises:
        ConfigError: as for `plan`.
    """
    from torchlint.files.excluded import why_left_out

    planner = _Planner(wishes, names)
    targets = []
    for absolute, data in texts.items():
        try:
            settings = planner.configs.for_folder(os.path.dirname(absolute))
        except ConfigError:
            continue  # reported where files are under it; without any, it says nothing
        if planner.usable(settings) and why_left_out(absolute, settings, folder=False) is None:
            file = Found(shown_path(absolute), absolute, settings)
            targets.append(planner.target(file, data))
    return tuple(targets)


class _Planner:
    def __init__(self, wishes: Wishes, names: Names) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.baselines: dict[str, str] = {}
        self.configs = Configs(file=wishes.config, isolated=wishes.isolated)
        self._wishes = wishes
        self._bounds = TorchBounds()
        self._usable: dict[Settings, bool] = {}
        self._selections: dict[tuple[Settings, tuple[str, ...]], Selection] = {}
        self._names = names
        wrong = self._unknown((*(wishes.select or ()), *wishes.ignore))
        if wrong is not None:
            raise ConfigError(wrong)

    def usable(self, settings: Settings) -> bool:
        """Whether every rule that the settings mention exists; reported once if not."""
        cached = self._usable.get(settings)
        if cached is None:
            wrong = self._unknown(settings.selectors)
            cached = self._usable[settings] = wrong is None
            if wrong is not None:
                source = shown_path(settings.source or settings.root)
                message = f"{wrong} Files under it were not checked."
                self.diagnostics.append(Diagnostic(source, message, kind="config"))
        return cached

    def _unknown(self, entries: tuple[str, ...]) -> str | None:
        """A message about the first entry that selects no rule, or None."""
        if all(entry == "ALL" for entry in entries):
            return None
        return unknown_selector(entries, self._names())

    def target(self, file: Found, data: bytes | None = None) -> Target:
        if file.settings.baseline is not None:
            self.baselines[file.path] = file.settings.baseline
        return Target(
            path=file.path,
            selection=self._selection(file.absolute, file.settings),
            torch=self._torch(file.absolute, file.settings),
            data=data,
            named=file.named,
        )

    def _selection(self, absolute: str, settings: Settings) -> Selection:
        off = off_for(absolute, settings) if settings.per_file_ignores else ()
        selection = self._selections.get((settings, off))
        if selection is None:
            selection = planned_selection(settings, self._wishes, off)
            self._selections[settings, off] = selection
        return selection

    def _torch(self, absolute: str, settings: Settings) -> tuple[int, int]:
        stated = self._wishes.target_torch or settings.target_torch
        if stated is None and not self._wishes.isolated:
            stated = self._bounds.oldest(os.path.dirname(absolute))
        return stated or NEWEST_TORCH


def planned_selection(settings: Settings, wishes: Wishes, off: tuple[str, ...]) -> Selection:
    """Which rules are on under these settings and the options of the command line."""
    select, ignore = wishes.select, settings.ignore
    if select is not None:
        ignore = ()
    chosen = settings.select if select is None else select
    demand = wishes.require_reason or settings.require_reason
    return Selection(chosen, ignore + wishes.ignore, off, demand)

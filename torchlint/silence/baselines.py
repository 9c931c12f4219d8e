"""The baselines of a check, and what they cover."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from torchlint.config.settings import ConfigError, Selection
from torchlint.files.discover import shown_path
from torchlint.finding import Tier
from torchlint.silence import baseline_file, until
from torchlint.silence.baseline_file import in_file
from torchlint.silence.known_findings import (
    BaselineEntry,
    Coverage,
    compare,
    key_of,
)
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torchlint.finding import Finding
    from torchlint.project.target import Target
    from torchlint.silence.tiers import Wanted


class CheckScope(NamedTuple):
    """What a check looked at.

    Args:
        targets: the files that were checked.
        wanted: the tiers that are shown.
        rules: the name of every rule by its code.
        sound: whether every file could be checked.
    """

    targets: Sequence[Target]
    wanted: Wanted
    rules: Mapping[str, str]
    sound: bool


class Baseline:
    """A baseline and how it names files: relative to its own folder, with slashes.

    Args:
        path: where it is; it need not exist.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.name = shown_path(self.path)
        self.entries: tuple[BaselineEntry, ...] = ()
        self._root = os.path.realpath(os.path.dirname(self.path))
        self._here = os.path.realpath(os.getcwd())
        self._beside = self._root == self._here

    @property
    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def load(self) -> None:
        """Reads the entries.

        Raises:
            ConfigError: there is no such file, or it is not a baseline.
        """
        with in_file(self.name):
            if not self.exists:
                raise ConfigError("There is no such file; make it with `torchlint baseline write`.")
            self.entries = baseline_file.read(self.path)

    def compare(
        self,
        findings: Iterable[Finding],
        scope: CheckScope,
        newer: Callable[[Finding], bool] = lambda _: False,
    ) -> Coverage:
        """Compares the entries with these findings; those that are `newer` than equal ones are
        the last to be covered."""
        selections = {self.called(each.path): each.selection for each in scope.targets}
        missing: dict[str, bool] = {}

        def gone(path: str) -> bool:
            if path not in missing:
                there = path in selections or os.path.lexists(os.path.join(self._root, path))
                missing[path] = not there
            return missing[path]

        return compare(
            self.entries,
            [(key_of(self.called(each.path), each), each) for each in findings],
            judged=_judge(scope, selections, gone),
            gone=gone,
            today=until.today(),
            newer=newer,
        )

    def called(self, path: str) -> str:
        """What the entries call a file."""
        inside = not os.path.isabs(path) and not path.startswith(os.pardir)
        if not (inside and self._beside):
            with contextlib.suppress(ValueError):  # On another drive.
                path = os.path.relpath(os.path.join(self._here, path), self._root)
        return path.replace(os.sep, "/")


def _judge(
    scope: CheckScope, selections: Mapping[str, Selection], gone: Callable[[str], bool]
) -> Callable[[BaselineEntry], bool]:
    """Whether the check would have found the findings of an entry.

    No entry is judged if a file could not be checked: it may make code in other files hot.
    """
    every = set(selections.values()) or {Selection()}

    def judged(entry: BaselineEntry) -> bool:
        path, code = entry.key.path, entry.key.rule
        mine = selections.get(path)
        if not scope.sound or (mine is None and not gone(path)) or entry.key.is_of_a_run:
            return False
        name = scope.rules.get(code)
        if name is None:
            return True
        return any(
            each.enabled(code, name) and scope.wanted.shows(Tier(entry.key.tier), code, name, each)
            for each in (every if mine is None else (mine,))
        )

    return judged


class Baselines:
    """The baselines of a check: the given one, or those that the configuration of each file names.

    Args:
        configured: the path of the baseline of each file that has one.

    Raises:
        ConfigError: one of them cannot be used.
    """

    def __init__(
        self, targets: Iterable[Target], configured: Mapping[str, str], given: str | None = None
    ) -> None:
        self._of = configured if given is None else {each.path: given for each in targets}
        paths = dict.fromkeys(self._of.values() if given is None else [given])
        self._loaded = {path: Baseline(path) for path in paths}
        for each in self._loaded.values():
            each.load()

    def compare(
        self,
        findings: Sequence[Finding],
        scope: CheckScope,
        newer: Callable[[Finding], bool] = lambda _: False,
    ) -> list[tuple[Baseline, Coverage]]:
        """What each says about the findings in its files; `newer` as for `Baseline.compare`."""
        compared = []
        for path, baseline in self._loaded.items():
            own = [each for each in findings if self._of.get(each.path) == path]
            targets = [each for each in scope.targets if self._of.get(each.path) == path]
            coverage = baseline.compare(own, scope._replace(targets=targets), newer)
            compared.append((baseline, coverage))
        return compared

    def hide(
        self,
        shown: Shown,
        scope: CheckScope,
        newer: Callable[[Finding], bool] = lambda _: False,
    ) -> tuple[Shown, list[tuple[Baseline, Coverage]]]:
        """The findings that none of them covers, and what each says."""
        compared = self.compare(shown.findings, scope, newer)
        left = [each for each in shown.findings if each.path not in self._of]
        for _, coverage in compared:
            left += coverage.left
        ordered = tuple(sorted(left, key=lambda each: each.sort_key))
        return Shown(ordered, shown.hidden_hints), compared

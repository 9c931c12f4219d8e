"""The baselines of a run, and what they cover."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

import click

from torchlint.cli.dates import today
from torchlint.config.folders import Configs
from torchlint.config.keys import leads_out
from torchlint.config.settings import ConfigError, Selection
from torchlint.files.discover import shown_path
from torchlint.finding import Tier
from torchlint.report import baseline as report
from torchlint.report.terminal.safe_text import visible_path
from torchlint.silence import baseline_file
from torchlint.silence.known_findings import Comparison, Entry, compare, key_of
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from torchlint.cli.options import Options
    from torchlint.engine.targets import Plan
    from torchlint.finding import Finding
    from torchlint.project.target import Target
    from torchlint.silence.tiers import Wanted


class Run(NamedTuple):
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
        self.name = visible_path(shown_path(self.path))
        self.entries: tuple[Entry, ...] = ()
        self._root = os.path.realpath(os.path.dirname(self.path))
        self._here = os.path.realpath(os.getcwd())
        self._beside = self._root == self._here

    @property
    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def load(self) -> None:
        """Reads the entries.

        Raises:
            click.ClickException: there is no such file, or it is not a baseline.
        """
        if not self.exists:
            raise click.ClickException(
                f"{self.name}: There is no such file; make it with `torchlint baseline write`."
            )
        try:
            self.entries = baseline_file.read(self.path)
        except ConfigError as error:
            raise click.ClickException(f"{self.name}: {error.message}") from None

    def compare(
        self,
        findings: Iterable[Finding],
        run: Run,
        newer: Callable[[Finding], bool] = lambda _: False,
    ) -> Comparison:
        """Compares the entries with these findings; those that are `newer` than equal ones are
        the last to be covered."""
        selections = {self._called(each.path): each.selection for each in run.targets}
        missing: dict[str, bool] = {}

        def gone(path: str) -> bool:
            if path not in missing:
                there = path in selections or os.path.lexists(os.path.join(self._root, path))
                missing[path] = not there
            return missing[path]

        return compare(
            self.entries,
            [(key_of(self._called(each.path), each), each) for each in findings],
            judged=_judge(run, selections, gone),
            gone=gone,
            today=today(),
            newer=newer,
        )

    def _called(self, path: str) -> str:
        inside = not os.path.isabs(path) and not path.startswith(os.pardir)
        if not (inside and self._beside):
            with contextlib.suppress(ValueError):  # On another drive.
                path = os.path.relpath(os.path.join(self._here, path), self._root)
        return path.replace(os.sep, "/")


def _judge(
    run: Run, selections: Mapping[str, Selection], gone: Callable[[str], bool]
) -> Callable[[Entry], bool]:
    """Whether the run would have found the findings of an entry.

    No entry is judged if a file could not be checked: it may make code in other files hot.
    """
    every = set(selections.values()) or {Selection()}

    def judged(entry: Entry) -> bool:
        path, code = entry.key.path, entry.key.rule
        mine = selections.get(path)
        if not run.sound or (mine is None and not gone(path)):
            return False
        name = run.rules.get(code)
        if name is None:
            return True
        return any(
            each.enabled(code, name) and run.wanted.shows(Tier(entry.key.tier), code, name, each)
            for each in (every if mine is None else (mine,))
        )

    return judged


class Baselines:
    """The baselines of a plan: the given one, or those that the configuration of each file names.

    Raises:
        click.ClickException: one of them cannot be used.
    """

    def __init__(self, plan: Plan, given: str | None) -> None:
        self.notes: list[str] = []
        self._of = plan.baselines if given is None else dict.fromkeys(_paths(plan), given)
        self._given = given
        self._loaded = {path: Baseline(path) for path in dict.fromkeys(self._of.values())}
        if given is not None and not self._loaded:
            self._loaded[given] = Baseline(given)
        for each in self._loaded.values():
            each.load()

    def hide(
        self, shown: Shown, run: Run, newer: Callable[[Finding], bool] = lambda _: False
    ) -> Shown:
        """The findings that no baseline covers; afterwards `notes` has sentences about the rest.

        Args:
            newer: as for `Baseline.compare`.
        """
        left = [each for each in shown.findings if each.path not in self._of]
        for path, baseline in self._loaded.items():
            mine = [each for each in shown.findings if self._of.get(each.path) == path]
            targets = [each for each in run.targets if self._of.get(each.path) == path]
            comparison = baseline.compare(mine, run._replace(targets=targets), newer)
            left += comparison.left
            self.notes += report.notes(comparison, baseline.name, prune_words(self._given))
        return Shown(tuple(sorted(left, key=lambda each: each.sort_key)), shown.hidden_hints)


def _paths(plan: Plan) -> Iterator[str]:
    return (target.path for target in plan.targets)


def the_baseline(plan: Plan, options: Options, given: str | None) -> Baseline:
    """The one baseline of all files: as given, as configured, or of the usual name.

    Raises:
        click.ClickException: the configurations of the files name several.
    """
    if given is not None:
        return Baseline(given)
    named = {plan.baselines.get(path) for path in _paths(plan)}
    if not named and not options.isolated:
        try:
            named = {Configs(file=options.config).for_folder(os.getcwd()).baseline}
        except ConfigError as error:
            raise click.ClickException(str(error)) from None
    if len(named) > 1:
        raise click.UsageError(
            "The configurations of these files do not agree on one baseline; "
            "check one project at a time, or name the file with --baseline."
        )
    configured = named.pop() if named else None
    if configured is None and leads_out(baseline_file.NAME, os.getcwd()):
        raise click.ClickException(
            f"{baseline_file.NAME} is a link that leads out of this folder; name another file with "
            "--baseline."
        )
    return Baseline(configured or baseline_file.NAME)


def prune_words(given: str | None) -> str:
    """The command that shrinks a baseline."""
    return "torchlint baseline prune" + (f" --baseline {given}" if given else "")

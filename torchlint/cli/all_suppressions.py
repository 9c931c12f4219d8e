"""Collects what silences findings: comments, `per-file-ignores` and the entries of baselines."""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.changes.line_ages import line_ages
from torchlint.cli.baselines import Baseline, Run
from torchlint.config.folders import Configs
from torchlint.config.settings import ConfigError, read_capped
from torchlint.engine.targets import off_for
from torchlint.files.discover import shown_path
from torchlint.files.reading import SourceError, decode
from torchlint.finding import Position
from torchlint.report.terminal.progress import Progress
from torchlint.silence.baseline_file import NAME, rows_of
from torchlint.silence.listed import Listed, listed_comments
from torchlint.silence.until import has_ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from torchlint.cli.options import Options
    from torchlint.config.settings import Settings
    from torchlint.engine.targets import Plan
    from torchlint.finding import Finding
    from torchlint.project.target import Target

_BLAMED_S: Final = 30.0
"""What git may take for all files together."""
_UNUSED: Final = "unused-suppression"
_RULE: Final = re.compile(r"`([^`]+)`")


class Asked(NamedTuple):
    """What the command line asks about.

    Args:
        paths: files and folders.
        options: where the settings are.
        baseline: by default those that the configuration names, or the usual one.
        today: the day for which an end is judged.
    """

    paths: Sequence[str]
    options: Options
    baseline: str | None
    today: date


def all_suppressions(
    asked: Asked, plan: Plan, findings: Sequence[Finding], run: Run
) -> list[Listed]:
    """Everything that silences findings in the files of a plan, by place.

    Args:
        findings: those that a check found in them, hints included.

    Raises:
        click.ClickException: a baseline cannot be used.
    """
    found = [
        *_comments(plan.targets, findings),
        *_settings(plan.targets, asked),
        *_entries(plan, findings, run, asked.baseline),
    ]
    rows: dict[str, set[int]] = defaultdict(set)
    for each in found:
        if each.start is not None and each.start.cell is None:
            rows[each.path].add(each.start.row)
    with Progress(sys.stderr, doing="Dating") as progress:
        ages = line_ages(rows, asked.today, budget_s=_BLAMED_S, progress=progress)
    dated = [
        replace(
            each,
            ended=has_ended(each.until, asked.today),
            age_days=None if each.start is None else ages.get((each.path, each.start.row)),
        )
        for each in found
    ]
    return sorted(dated, key=_place)


def _place(listed: Listed) -> tuple[str, int, int, int]:
    start = listed.start or Position(0, 0)
    return (listed.path, start.cell or 0, start.row, start.column)


# comments ----------------------------------------------------------------------------------


def _comments(targets: Iterable[Target], findings: Sequence[Finding]) -> Iterator[Listed]:
    """The comments of files that can be read; what cannot be is a finding of the check."""
    unused = {(each.path, each.start): each for each in findings if each.name == _UNUSED}
    for target in targets:
        try:
            data = target.content()
            if b"torchlint:" not in data and b"noqa" not in data.lower():
                continue
            text = decode(target.path, target.read()).text
        except SourceError:
            continue
        for each in listed_comments(target.path, text):
            place = _in_cell(target, each)
            yield _judged(place, unused.get((place.path, place.start or Position(0, 0))))


def _in_cell(target: Target, listed: Listed) -> Listed:
    if not target.is_notebook or listed.start is None:
        return listed
    from torchlint.notebooks.cells import Borders

    borders = Borders(target.read().decode("utf-8"))
    return replace(listed, start=borders.located(listed.start))


def _judged(listed: Listed, unused: Finding | None) -> Listed:
    """The comment with what the rule about unused ones says of it."""
    if listed.invalid:
        return replace(listed, used=False)
    if unused is None or unused.fix is None:
        return listed
    rules = tuple(_RULE.findall(unused.fix.message))
    return replace(listed, unused=rules) if rules else replace(listed, used=False)


# settings ----------------------------------------------------------------------------------


def _settings(targets: Sequence[Target], asked: Asked) -> Iterator[Listed]:
    """The patterns of `per-file-ignores`. One that matches nothing is unused if its whole project
    was asked about."""
    configs = Configs(file=asked.options.config, isolated=asked.options.isolated)
    folders = tuple(os.path.join(os.path.abspath(each), "") for each in asked.paths)
    files: dict[Settings, list[str]] = defaultdict(list)
    for target in targets:
        absolute = os.path.abspath(target.path)
        files[configs.for_folder(os.path.dirname(absolute))].append(absolute)
    for settings, paths in files.items():
        whole = os.path.join(settings.root, "").startswith(folders)
        for entry in settings.per_file_ignores:
            alone = settings._replace(per_file_ignores=(entry,))
            matches = any(off_for(path, alone) for path in paths)
            source = settings.source or settings.root
            yield Listed(
                "per-file-ignores",
                shown_path(source),
                _row_of(source, entry[0]),
                entry[1],
                covers=entry[0],
                used=False if whole and not matches else None,
            )


def _row_of(source: str, pattern: str) -> Position | None:
    """The first row with the pattern in quotes."""
    try:
        lines = read_capped(source).decode("utf-8", "replace").split("\n")
    except ConfigError:
        return None
    quoted = re.compile(f"([\"']){re.escape(pattern)}\\1")
    rows = (row for row, line in enumerate(lines, 1) if quoted.search(line))
    row = next(rows, None)
    return None if row is None else Position(row, 1)


# baselines ---------------------------------------------------------------------------------


def _entries(
    plan: Plan, findings: Sequence[Finding], run: Run, given: str | None
) -> Iterator[Listed]:
    """
    Raises:
        click.ClickException: a baseline cannot be used.
    """
    usual = (NAME,) if os.path.lexists(NAME) else ()
    paths = (given,) if given is not None else (*plan.baselines.values(),) or usual
    for path in dict.fromkeys(paths):
        baseline = Baseline(path)
        baseline.load()
        targets = run.targets
        if given is None and plan.baselines:
            targets = [each for each in targets if plan.baselines.get(each.path) == path]
        mine = {each.path for each in targets}
        found = [each for each in findings if each.path in mine]
        compared = baseline.compare(found, run._replace(targets=targets))
        left = {each.entry.key: each.found for each in compared.stale}
        rows = rows_of(baseline.path)
        for entry in baseline.entries:
            key = entry.key
            yield Listed(
                "baseline",
                shown_path(baseline.path),
                Position(rows[key], 1) if key in rows else None,
                (key.rule,),
                entry.reason or "",
                entry.owner or "",
                key.path + (f" in {key.scope}" if key.scope else ""),
                entry.size,
                "" if entry.expires is None else entry.expires.isoformat(),
                used=False if left.get(key) == 0 else None,
            )

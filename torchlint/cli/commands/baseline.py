"""`torchlint baseline`: writes down what is known, so that only new findings fail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from torchlint.baselines import file as baseline_file
from torchlint.baselines.known_findings import Comparison, Entry, grown
from torchlint.cli import reports
from torchlint.cli.baselines import Baseline, prune_words, run_of, the_baseline, today
from torchlint.cli.command import Command
from torchlint.cli.options import (
    Words,
    cache_options,
    plan_from,
    pool_from,
    rule_options,
    store_from,
)
from torchlint.cli.printing import paint_for, print_diagnostics, print_lines
from torchlint.engine.tiers import Shown
from torchlint.files.reading import SourceError
from torchlint.report import baseline as report

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from torchlint.engine.check import Target
    from torchlint.finding import Diagnostic

_EPILOG = """\b
Adopt torchlint in an old repository:
  torchlint baseline write         writes down what is found today; commit the file
  torchlint baseline check         in CI: fails on what is new, and on entries that are stale
  torchlint baseline prune         takes out what was mended; the numbers only go down

\b
The file is torchlint-baseline.json in this folder, unless --baseline names another, or the key
`baseline` of [tool.torchlint], relative to the configuration. With that key `torchlint check`
leaves out what is known as well.

\b
An entry is known by rule, file, class and function, and code, not by line. `owner`, `reason` and
`expires` ("2027-01-31", the last day that it is covered) are yours to edit in the file.
"""
_CHECK_EPILOG = """\b
Give the same PATHS to write, check and prune: helpers are hot through the files that call them.
Entries of files and rules that a run does not check are left in peace.

\b
Exit codes:
  0  nothing new, and every entry holds; hints do not count
  1  findings that the baseline does not cover, or has covered until a day that is over, or
     stale entries
  2  something could not be done: wrong usage, no baseline, a file that cannot be read
"""
_WRITE_EPILOG = """\b
Examples:
  torchlint baseline write                         all of this folder
  torchlint baseline write src --owner vision      names who mends what is added
  torchlint baseline write --allow-growth          also accepts what is new

\b
An entry that is there keeps its owner, reason and date. Hints are left out unless --hints is given.

\b
Exit codes:
  0  written, or nothing to change
  1  it would grow, which needs --allow-growth; nothing was written
  2  something could not be done; what could be checked is in the file
"""
_PRUNE_EPILOG = """\b
Exit codes:
  0  pruned, or nothing to prune
  2  something could not be done; if a file cannot be checked, nothing is pruned
"""


class _Group(Command, click.Group):
    """A group with the `--help` of the other commands."""


@click.group("baseline", cls=_Group, epilog=_EPILOG)
def command() -> None:
    """Write down what is known, so that only new findings fail."""


def _options(command: Callable[..., None]) -> Callable[..., None]:
    named = click.option(
        "--baseline", metavar="FILE", help="The baseline. Default: torchlint-baseline.json."
    )
    return named(rule_options(cache_options(command)))


def _paths(command: Callable[..., None]) -> Callable[..., None]:
    return click.argument("paths", nargs=-1, metavar="[PATHS]...")(command)


class _Look(NamedTuple):
    """What a check found, beside the baseline."""

    baseline: Baseline
    configured: bool
    comparison: Comparison
    shown: Shown
    targets: tuple[Target, ...]
    files: int
    diagnostics: list[Diagnostic]


def _look(
    paths: tuple[str, ...],
    words: Words,
    given: str | None,
    cache_dir: str | None,
    *,
    no_cache: bool,
    needed: bool = True,
) -> _Look:
    """Checks the files and compares; without `needed` the baseline may be missing.

    Raises:
        click.ClickException: the words or the baseline cannot be used.
    """
    from torchlint.cli.commands.check import told
    from torchlint.engine import check as engine
    from torchlint.report.terminal.progress import Progress

    if "-" in paths:
        raise click.UsageError("A baseline is for files; name files and folders instead of `-`.")
    store = store_from(cache_dir, no_cache=no_cache)
    plan = plan_from(paths, words, store.rule_names)
    baseline = the_baseline(plan, words, given)
    if needed or baseline.exists:
        baseline.load()
    progress = Progress(sys.stderr)
    try:
        found = engine.check(plan.targets, pool=pool_from(words), progress=progress, store=store)
    finally:
        progress.clear()
    shown, diagnostics = told(found, plan, words)
    run = run_of(plan.targets, words, store, sound=not diagnostics)
    comparison = baseline.compare(shown.findings, run)
    configured = baseline.path in plan.baselines.values()
    return _Look(baseline, configured, comparison, shown, plan.targets, found.files, diagnostics)


@command.command("write", cls=Command, epilog=_WRITE_EPILOG)
@_paths
@click.option("--owner", metavar="NAME", help="Who mends the findings that are added.")
@click.option("--reason", metavar="TEXT", help="Why they are not mended yet.")
@click.option("--expires", metavar="DATE", help="The last day that they are covered: 2027-01-31.")
@click.option("--allow-growth", is_flag=True, help="Add new findings to a baseline that is there.")
@_options
def write(
    paths: tuple[str, ...],
    owner: str | None,
    reason: str | None,
    expires: str | None,
    allow_growth: bool,
    words: Words,
    baseline: str | None,
    cache_dir: str | None,
    no_cache: bool,
) -> None:
    """Write down the findings of today.

    What is gone leaves the file, and what has moved keeps its entry. New findings go into a new
    file, but into one that is there only with --allow-growth.
    """
    day = _date(expires)
    look = _look(paths, words, baseline, cache_dir, no_cache=no_cache, needed=False)
    new = look.comparison.new
    if look.baseline.exists and new and not allow_growth:
        from torchlint.report.formats import concise

        print_lines(concise.render([finding for _, finding in new], paint_for(sys.stdout)))
        print_diagnostics(look.diagnostics)
        print_lines([report.refusal(look.baseline.name, len(new))], err=True)
        raise click.exceptions.Exit(2 if look.diagnostics else 1)
    made = not look.baseline.exists
    after = grown(look.comparison.entries, new, owner=owner, reason=reason, expires=day)
    _replace(look.baseline, after)
    if made:
        print_lines(report.made(look.baseline.name, after, configured=look.configured))
    else:
        _say_change(look, after)
    print_diagnostics(look.diagnostics)
    raise click.exceptions.Exit(2 if look.diagnostics else 0)


def _date(text: str | None) -> date | None:
    if text is None:
        return None
    day = baseline_file.parse_date(text)
    if day is None or day < today():
        raise click.UsageError("--expires needs a day to come, such as 2027-01-31.")
    return day


@command.command("check", cls=Command, epilog=_CHECK_EPILOG)
@_paths
@reports.report_options
@_options
def check(
    paths: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    words: Words,
    baseline: str | None,
    cache_dir: str | None,
    no_cache: bool,
) -> None:
    """Fail on findings beyond the baseline, and on entries that no longer hold."""
    look = _look(paths, words, baseline, cache_dir, no_cache=no_cache)
    place = reports.destination(output_file, look.targets, output_format)
    shown = Shown(look.comparison.left, look.shown.hidden_hints)
    checked = reports.Checked(shown, look.diagnostics, look.targets, look.files)
    reports.report(checked, output_format, place)
    # The other formats are for programs, which read all of standard output.
    aside = output_format != "text"
    print_lines(report.stale(look.comparison), err=aside)
    notes = report.notes(look.comparison, look.baseline.name, prune_words(baseline))
    print_lines(notes, err=aside)
    print_diagnostics(look.diagnostics)
    if look.diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if shown.problems or look.comparison.stale else 0)


@command.command("prune", cls=Command, epilog=_PRUNE_EPILOG)
@_paths
@_options
def prune(
    paths: tuple[str, ...],
    words: Words,
    baseline: str | None,
    cache_dir: str | None,
    no_cache: bool,
) -> None:
    """Take out what is gone, and follow files that have moved; nothing is added."""
    look = _look(paths, words, baseline, cache_dir, no_cache=no_cache)
    if look.diagnostics:
        print_diagnostics(look.diagnostics)
        raise click.ClickException(
            "Nothing was pruned, since not every file could be checked; mend or exclude the others."
        )
    _replace(look.baseline, look.comparison.entries)
    _say_change(look, look.comparison.entries)
    if look.comparison.new:
        print_lines([report.beyond(look.baseline.name, len(look.comparison.new))])


def _replace(baseline: Baseline, entries: tuple[Entry, ...]) -> None:
    """
    Raises:
        click.ClickException: the file cannot be written.
    """
    if baseline.exists and tuple(sorted(baseline.entries)) == entries:
        return
    try:
        baseline_file.write(baseline.path, entries)
    except SourceError as error:
        raise click.ClickException(f"{baseline.name}: {error.message}") from None


def _say_change(look: _Look, after: tuple[Entry, ...]) -> None:
    print_lines(report.stale(look.comparison))
    print_lines(report.moved(look.comparison))
    print_lines([report.change(look.baseline.name, look.baseline.entries, after)])
    print_lines(report.expired(look.comparison, look.baseline.name))

"""`torchlint baseline`: records known findings, so that only new ones fail."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from torchlint.cli import reports
from torchlint.cli.checking import check as run_check
from torchlint.cli.command import Command, refused
from torchlint.cli.options import Options, cache_options, rule_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import print_diagnostics, print_lines, write_baseline
from torchlint.cli.resources import store_from
from torchlint.config.folders import Configs
from torchlint.config.keys import leads_out
from torchlint.report import baseline_notes as report
from torchlint.silence import baseline_file
from torchlint.silence.baselines import Baseline, CheckScope
from torchlint.silence.known_findings import BaselineEntry, Coverage, grown
from torchlint.silence.tiers import Shown
from torchlint.silence.until import day_to_come

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.cli.reports import Checked
    from torchlint.engine.targets import Plan
    from torchlint.finding import Diagnostic


class _Group(Command, click.Group):
    """A group with the same `--help` as the other commands."""


@click.group("baseline", cls=_Group)
def command() -> None:
    """Record known findings, so that only new ones fail.

    \f
    Adopt torchlint in an old repository:
      torchlint baseline write         record today's findings; commit the file
      torchlint baseline check         in CI: fail on new findings and on stale entries
      torchlint baseline prune         remove what was fixed; the file only shrinks
      torchlint baseline write         later: also accept what is new, which the diff shows

    The file is torchlint-baseline.json in this folder. --baseline names another one, and so does
    the key `baseline` of [tool.torchlint], relative to the configuration file. With that key,
    `torchlint check` hides known findings too.

    An entry identifies a finding by rule, file, class and function, and code, not by line. Edit
    `owner`, `reason` and `expires` ("2027-01-31", the last day it is covered) in the file;
    `torchlint suppressions` lists them.

    Exit codes: see the `--help` of each of the three.
    """


def _options(command: Callable[..., None]) -> Callable[..., None]:
    named = click.option(
        "--baseline", metavar="FILE", help="The baseline file. Default: torchlint-baseline.json."
    )
    return named(rule_options(cache_options(command)))


def _paths(command: Callable[..., None]) -> Callable[..., None]:
    return click.argument("paths", nargs=-1, metavar="[PATHS]...")(command)


class _Compared(NamedTuple):
    """What a check found, and what the baseline says about it."""

    baseline: Baseline
    configured: bool
    coverage: Coverage
    checked: Checked

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        return self.checked.diagnostics


def _compare(
    paths: tuple[str, ...], options: Options, given: str | None, *, needed: bool = True
) -> _Compared:
    """Checks the files and compares; without `needed` the baseline may be missing.

    Raises:
        click.ClickException: the options or the baseline cannot be used.
    """
    if "-" in paths:
        raise click.UsageError("A baseline is for files; name files and folders instead of `-`.")
    store = store_from(options)
    plan = plan_from(paths, options, store.rule_names)
    baseline = _the_baseline(plan, options, given)
    if needed or baseline.exists:
        baseline.load()
    checked = run_check(plan, options, store)
    names, sound = store.rule_names(), not checked.diagnostics
    coverage = baseline.compare(
        checked.findings, CheckScope(plan.targets, options.wanted, names, sound)
    )
    configured = baseline.path in plan.baselines.values()
    return _Compared(baseline, configured, coverage, checked)


def _the_baseline(plan: Plan, options: Options, given: str | None) -> Baseline:
    """The one baseline of all files: as given, as configured, or of the usual name.

    Raises:
        click.ClickException: the configurations of the files name several.
        ConfigError: the configuration cannot be used.
    """
    if given is not None:
        return Baseline(given)
    named = {plan.baselines.get(target.path) for target in plan.targets}
    if not named and not options.isolated:
        named = {Configs(file=options.config).for_folder(os.getcwd()).baseline}
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


@command.command("write", cls=Command)
@_paths
@click.option("--owner", metavar="NAME", help="Who fixes the new findings.")
@click.option("--reason", metavar="TEXT", help="Why they are not fixed yet.")
@click.option(
    "--until",
    "--expires",
    metavar="DATE",
    help="The last day on which they are covered, such as 2027-01-31.",
)
@refused(
    "--allow-growth",
    "`baseline write` records new findings without --allow-growth; leave it out. "
    "`baseline prune` only removes entries.",
    is_flag=True,
)
@_options
def write(
    paths: tuple[str, ...],
    owner: str | None,
    reason: str | None,
    until: str | None,
    options: Options,
    baseline: str | None,
) -> None:
    """Record today's findings.

    Fixed findings are removed from an existing file, and moved ones keep their entry.

    \f
    Examples:
      torchlint baseline write                         everything in this folder
      torchlint baseline write src --owner vision      with an owner for the new entries

    Existing entries keep their owner, reason and date. Hints are only included with --hints.

    Exit codes:
      0  written, or nothing to change
      2  an error; the file has the findings of the files that could be checked
    """
    day = day_to_come(until)
    compared = _compare(paths, options, baseline, needed=False)
    made = not compared.baseline.exists
    after = grown(
        compared.coverage.entries, compared.coverage.new, owner=owner, reason=reason, expires=day
    )
    write_baseline(compared.baseline, after)
    if made:
        print_lines(report.made(compared.baseline.name, after, configured=compared.configured))
    else:
        _say_change(compared, after)
    print_diagnostics(compared.diagnostics)
    raise click.exceptions.Exit(2 if compared.diagnostics else 0)


@command.command("check", cls=Command)
@_paths
@reports.report_options
@_options
def check(
    paths: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    options: Options,
    baseline: str | None,
) -> None:
    """Fail on new findings and on stale entries.

    \f
    Pass the same PATHS to write, check and prune: whether a helper is hot depends on the files that
    call it. Entries of files and rules that a run does not check are left alone.

    Exit codes:
      0  nothing new, and no stale entry; hints do not count
      1  findings that the baseline does not cover or no longer covers, or stale entries
      2  an error: wrong usage, no baseline, a file that cannot be read
    """
    compared = _compare(paths, options, baseline)
    checked = compared.checked
    place = reports.destination(output_file, checked.targets, output_format)
    checked.shown = Shown(compared.coverage.left, checked.shown.hidden_hints)
    reports.report(checked, output_format, place)
    # The other formats are for programs, which read all of standard output.
    aside = output_format != "text"
    print_lines(report.stale(compared.coverage), err=aside)
    notes = report.notes([(compared.baseline, compared.coverage)], baseline)
    print_lines(notes, err=aside)
    print_diagnostics(compared.diagnostics)
    if compared.diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if checked.shown.problems or compared.coverage.stale else 0)


@command.command("prune", cls=Command)
@_paths
@_options
def prune(
    paths: tuple[str, ...],
    options: Options,
    baseline: str | None,
) -> None:
    """Remove fixed findings, and follow moved files; add nothing.

    \f
    Exit codes:
      0  pruned, or nothing to prune
      2  an error; if a file cannot be checked, nothing is pruned
    """
    compared = _compare(paths, options, baseline)
    if compared.diagnostics:
        print_diagnostics(compared.diagnostics)
        raise click.ClickException(
            "Nothing was pruned, since not every file could be checked; fix or exclude the others."
        )
    write_baseline(compared.baseline, compared.coverage.entries)
    _say_change(compared, compared.coverage.entries)
    if compared.coverage.new:
        print_lines([report.beyond(compared.baseline.name, len(compared.coverage.new))])


def _say_change(compared: _Compared, after: tuple[BaselineEntry, ...]) -> None:
    print_lines(report.stale(compared.coverage))
    print_lines(report.moved(compared.coverage))
    print_lines([report.change(compared.baseline.name, compared.baseline.entries, after)])
    print_lines(report.expired(compared.coverage, compared.baseline.name))

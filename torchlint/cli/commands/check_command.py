"""`torchlint check`: reports what makes code slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from torchlint.cli import reports
from torchlint.cli.checking import check
from torchlint.cli.command import Command, refused
from torchlint.cli.options import Options, cache_options, cluster_options, selection_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import print_diagnostics, print_lines
from torchlint.cli.resources import store_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.cli.reports import Checked
    from torchlint.engine.targets import Plan
    from torchlint.memory.store import Store
    from torchlint.project.target import Target


@click.command("check", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@selection_options
@reports.report_options
@click.option(
    "--since",
    metavar="REF",
    help="Show only findings that the project did not have where this branch left REF, such as "
    "main: also on lines that did not change, but not what only moved. Checks both states.",
)
@click.option("--statistics", is_flag=True, help="Count findings per rule instead of listing them.")
@click.option("--show-fixes", is_flag=True, help="Show each fix as a small diff (text only).")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@refused("--fix", "`check` writes nothing; write `torchlint fix --apply`.", is_flag=True)
@refused("--diff-base", "There is no --diff-base any more; write `--since REF`.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option(
    "--baseline",
    metavar="FILE",
    help="Hide known findings: those in this file, written by `torchlint baseline write`.",
)
@click.option("--no-baseline", is_flag=True, help="Show known findings too.")
@click.option(
    "--profile",
    "profile_file",
    metavar="FILE",
    help="Add to the messages what a step gains at most, by this file of `torchlint profile "
    "--json`, and show hints that it confirms. Nothing is run.",
)
@click.option(
    "--add-ignore",
    is_flag=True,
    help="Add a suppression comment for each finding, instead of printing it.",
)
@click.option("--reason", metavar="TEXT", help="With --add-ignore: the reason in each comment.")
@click.option(
    "--until",
    metavar="DATE",
    help="With --add-ignore: the last day on which the comments silence anything, such as "
    "2027-01-31.",
)
@cache_options
@cluster_options
def command(
    paths: tuple[str, ...],
    options: Options,
    output_format: str,
    since: str | None,
    output_file: str | None,
    statistics: bool,
    show_fixes: bool,
    exit_zero: bool,
    watch: bool,
    baseline: str | None,
    no_baseline: bool,
    profile_file: str | None,
    add_ignore: bool,
    reason: str | None,
    until: str | None,
) -> None:
    """Report what makes PyTorch training code slow.

    PATHS are files and folders, or `-` for standard input; the default is this folder. Folders
    are searched for *.py and *.ipynb files that .gitignore and the configuration do not exclude.

    \f
    Examples:
      torchlint check                            everything in this folder
      torchlint check train.py --hints           also what is likely but not certainly slow
      torchlint check src --select TL2           only waiting for the device
      torchlint check --show-fixes --watch       while you write; Ctrl-C ends it
      torchlint check --output-format github     annotations in a pull request
      torchlint check --since main               only what this branch made slow
      torchlint check --output-format sarif --output-file torchlint.sarif
                                                 a file for code scanning
      torchlint check - --stdin-filename a.py    text from standard input
      torchlint check --profile profile.json     with what each line cost in a run
      torchlint check --add-ignore               silence today's findings, to see only new ones
      torchlint check --add-ignore --until 2027-01-31
                                                 the same up to that day

    Configuration: [tool.torchlint] in the nearest pyproject.toml, or torchlint.toml, with the keys
    select, ignore, per-file-ignores, exclude, extend-exclude, target-torch, require-reason and
    baseline; `torchlint config` shows which settings apply and where they come from.

    A comment silences a finding: `# torchlint: ignore[TL201] -- reason` on the line or alone above
    it, `disable[TL201]` and `enable[TL201]` around statements, `ignore-file[TL201]` for the file.
    With `until=2027-01-31` in front of the `--` it ends after that day; `torchlint suppressions`
    lists all of them.

    Exit codes:
      0  nothing found; hints do not count
      1  findings
      2  an error: wrong usage, a path that does not exist, a file that cannot be read or
         parsed; findings in other files are still printed
    """
    if add_ignore:
        from torchlint.cli.commands import add_ignore as adding

        if watch or any(each is not None for each in (baseline, since)):
            raise click.UsageError(adding.ALL_OR_NOTHING)
        adding.add_ignore(paths, options, reason, until, no_baseline=no_baseline)
    if reason is not None or until is not None:
        raise click.UsageError(f"--{'until' if reason is None else 'reason'} needs --add-ignore.")
    if baseline is not None and no_baseline:
        raise click.UsageError("--baseline and --no-baseline exclude each other; give one of them.")
    if since is not None and "-" in paths:
        raise click.UsageError("--since compares files; name files and folders instead of `-`.")
    if show_fixes and (output_format != "text" or statistics):
        raise click.UsageError("--show-fixes is for text; drop --output-format and --statistics.")
    if watch:
        from torchlint.cli.check_on_changes import check_on_changes

        check_on_changes(paths, options)
    store = store_from(options)
    plan = plan_from(paths, options, store.rule_names)
    add_ceilings = _adding_ceilings(profile_file, plan.targets, hints=options.hints)
    options.hints = options.hints or profile_file is not None  # which may confirm some
    plan.targets = options.wanted.asked_of(plan.targets)  # frees the others: may be many
    place = reports.destination(output_file, plan.targets, output_format, statistics=statistics)
    known = baseline is not None or (bool(plan.baselines) and not no_baseline)
    hide = _hiding(plan, options, store, _Bases(known, baseline, since))
    checked = check(plan, options, store)
    notes = hide(checked)
    add_ceilings(checked)
    reports.report(checked, output_format, place, statistics=statistics, fixes=show_fixes)
    if output_format == "text" and not statistics and not options.quiet:
        print_lines(notes)
    print_diagnostics(checked.diagnostics)
    if checked.diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if checked.shown.problems and not exit_zero else 0)


def _adding_ceilings(
    profile_file: str | None, targets: Iterable[Target], *, hints: bool
) -> Callable[[Checked], None]:
    """A function that adds to the findings of a check what a profile says about them.

    Raises:
        click.ClickException: the profile cannot be used; raised before the check.
    """
    if profile_file is None:
        return lambda _: None
    from torchlint.cli.ceilings import Seen, read_profile, with_ceilings

    seen = Seen(read_profile(profile_file), targets)

    def add(checked: Checked) -> None:
        checked.shown = with_ceilings(checked.shown, seen, hints=hints)

    return add


class _Bases(NamedTuple):
    """What a check is compared with: a baseline, if any is `known`, and a revision."""

    known: bool
    baseline: str | None
    since: str | None


def _hiding(
    plan: Plan, options: Options, store: Store, bases: _Bases
) -> Callable[[Checked], list[str]]:
    """A function that takes known findings out of a check, and returns sentences about them.

    The baseline goes first: a known finding that is old is not counted twice.

    Raises:
        ConfigError: the baseline, or git, cannot be used; raised before the check, which may take
            a while.
    """
    baselines = since = None
    if bases.known:
        from torchlint.silence.baselines import Baselines

        baselines = Baselines(plan.targets, plan.baselines, bases.baseline)
    if bases.since is not None:
        from torchlint.cli.since import Since

        since = Since(bases.since, plan, options, store)

    def hide(checked: Checked) -> list[str]:
        notes: list[str] = []
        if since is not None:
            since.compare(checked)
        if baselines is not None:
            from torchlint.report import baseline_notes as report
            from torchlint.silence.baselines import CheckScope

            names, sound = store.rule_names(), not checked.diagnostics
            scope = CheckScope(plan.targets, options.wanted, names, sound)
            newer = since.is_new if since is not None else lambda _: False
            checked.shown, compared = baselines.hide(checked.shown, scope, newer)
            notes += report.notes(compared, bases.baseline)
        if since is not None:
            checked.shown, others = since.narrow(checked.shown)
            notes += others
        return notes

    return hide

"""`torchlint check`: reports what makes code slow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli import formats
from torchlint.cli.command import Command
from torchlint.cli.options import (
    Words,
    cache_options,
    cluster_options,
    connected_pool,
    plan_from,
    selection_options,
    store_from,
)
from torchlint.cli.output import print_diagnostics, print_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.engine.check import Report
    from torchlint.engine.targets import Plan
    from torchlint.engine.tiers import Shown
    from torchlint.finding import Diagnostic
    from torchlint.memory.store import Store

_EPILOG = """\b
Examples:
  torchlint check                            everything in this folder
  torchlint check train.py --hints           also what is likely but not certainly slow
  torchlint check src --select TL2           only waiting for the device
  torchlint check --show-fixes --watch       while you write; Ctrl-C ends it
  torchlint check --output-format github     annotations in a pull request
  torchlint check --diff-base origin/main    only what this branch changed
  torchlint check --output-format sarif --output-file torchlint.sarif
                                             a file for code scanning
  torchlint check - --stdin-filename a.py    text from standard input
  torchlint check --add-ignore               silence today's findings, to see only new ones

\b
Configuration: [tool.torchlint] in the nearest pyproject.toml, or torchlint.toml, with the keys
select, ignore, per-file-ignores, exclude, extend-exclude, target-torch, require-reason and
baseline; `torchlint config` shows which settings apply and where they come from.

\b
A comment silences a finding: `# torchlint: ignore[TL201] -- reason` on the line or alone above
it, `disable[TL201]` and `enable[TL201]` around statements, `ignore-file[TL201]` for the file.

\b
Exit codes:
  0  nothing found; hints do not count
  1  findings
  2  an error: wrong usage, a path that does not exist, a file that cannot be read or
     parsed; findings in other files are still printed
"""


def _no_fix(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.fail("`check` writes nothing; write `torchlint fix --apply`.")


@click.command("check", cls=Command, epilog=_EPILOG)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@selection_options
@formats.report_options
@click.option(
    "--diff-base",
    metavar="REV",
    help="Show only findings on lines that changed since this branch left REV, such as "
    "origin/main: in commits, in the working tree and in new files. The whole project is still "
    "checked.",
)
@click.option("--statistics", is_flag=True, help="Count findings per rule instead of listing them.")
@click.option("--show-fixes", is_flag=True, help="Show each fix as a small diff (text only).")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--fix", is_flag=True, hidden=True, expose_value=False, callback=_no_fix)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option(
    "--baseline",
    metavar="FILE",
    help="Hide known findings: those in this file, written by `torchlint baseline write`.",
)
@click.option("--no-baseline", is_flag=True, help="Show known findings too.")
@click.option(
    "--add-ignore",
    is_flag=True,
    help="Add a suppression comment for each finding, instead of printing it.",
)
@click.option("--reason", metavar="TEXT", help="With --add-ignore: the reason in each comment.")
@cache_options
@cluster_options
def command(
    paths: tuple[str, ...],
    words: Words,
    output_format: str,
    diff_base: str | None,
    output_file: str | None,
    statistics: bool,
    show_fixes: bool,
    exit_zero: bool,
    watch: bool,
    baseline: str | None,
    no_baseline: bool,
    add_ignore: bool,
    reason: str | None,
    no_cache: bool,
    cache_dir: str | None,
    backend: str | None,
    cluster: str | None,
) -> None:
    """Report what makes PyTorch training code slow.

    PATHS are files and folders, or `-` for standard input; the default is this folder. Folders
    are searched for *.py and *.ipynb files that .gitignore and the configuration do not exclude.
    """
    if add_ignore:
        from torchlint.cli.commands import add_ignore as adding

        if watch or baseline is not None or diff_base is not None:
            raise click.UsageError(adding.ALL_OR_NOTHING)
        adding.add_ignore(paths, words, reason, no_baseline=no_baseline)
    if reason is not None:
        raise click.UsageError("--reason needs --add-ignore.")
    if watch:
        from torchlint.cli.watch import again_and_again

        again_and_again(paths, words)
    if baseline is not None and no_baseline:
        raise click.UsageError("--baseline and --no-baseline exclude each other; give one of them.")
    if show_fixes and (output_format != "text" or statistics):
        raise click.UsageError("--show-fixes is for text; leave out --output-format, --statistics.")
    from torchlint.engine import check as engine
    from torchlint.report.terminal.progress import Progress

    store = store_from(cache_dir, no_cache=no_cache)
    plan = plan_from(paths, words, store.rule_names)
    place = formats.destination(output_file, plan.targets, output_format, statistics=statistics)
    known = baseline is not None or (bool(plan.baselines) and not no_baseline)
    sieves = list(_sieves(plan, words, store, baseline, diff_base, known=known))
    with Progress(sys.stderr) as progress, connected_pool(words, backend, cluster) as pool:
        report = engine.check(plan.targets, pool=pool, progress=progress, store=store)
    shown, diagnostics = told(report, plan, words)
    notes: list[str] = []
    for sieve in sieves:
        shown, left_out = sieve(shown, not diagnostics)
        notes += left_out
    checked = formats.Checked(shown, diagnostics, plan.targets, report.files, fixes=show_fixes)
    formats.report(checked, output_format, place, statistics=statistics)
    if output_format == "text" and not statistics:
        print_lines(notes)
    print_diagnostics(diagnostics)
    if diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if shown.problems and not exit_zero else 0)


def _sieves(
    plan: Plan,
    words: Words,
    store: Store,
    baseline: str | None,
    diff_base: str | None,
    *,
    known: bool,
) -> Iterator[Callable[[Shown, bool], tuple[Shown, list[str]]]]:
    """What leaves out findings, in turn, and says in sentences what it left out.

    Each takes what is to be shown, and whether every file could be checked. The baseline goes
    first: what it knows of a line that did not change is no news of the baseline.

    Raises:
        click.ClickException: the baseline, or git, cannot be used; said before the check, which
            may take a while.
    """
    if known:
        from torchlint.cli.baseline_options import Baselines

        baselines = Baselines(plan, baseline)

        def unknown(shown: Shown, sound: bool) -> tuple[Shown, list[str]]:
            shown = baselines.hide(shown, plan.targets, words, store, sound=sound)
            return shown, baselines.notes

        yield unknown
    if diff_base is not None:
        from torchlint.cli.diff_base import changes_since, narrow

        changes = changes_since(diff_base)
        yield lambda shown, _sound: narrow(shown, plan.targets, changes)


def told(report: Report, plan: Plan, words: Words) -> tuple[Shown, list[Diagnostic]]:
    """What to show of a report, and all that went wrong, in the places that people see."""
    from torchlint.engine.tiers import Wanted, choose

    wanted = Wanted(hints=words.hints, pedantic=words.pedantic)
    shown = choose(report.findings, plan.targets, wanted)
    said = report.diagnostics
    if report.borders:
        from torchlint.notebooks.module import diagnosed_in_cells, in_cells

        shown.findings = tuple(in_cells(each, report.borders) for each in shown.findings)
        said = tuple(diagnosed_in_cells(each, report.borders) for each in said)
    return shown, sorted({*plan.diagnostics, *said}, key=lambda each: each.sort_key)

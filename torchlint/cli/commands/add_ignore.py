"""`torchlint check --add-ignore`: suppresses the findings of today, so that only new ones show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

import click

from torchlint.cli.planning import plan_from
from torchlint.cli.printing import print_diagnostics, print_lines
from torchlint.cli.resources import pool_from
from torchlint.silence.until import day_to_come

if TYPE_CHECKING:
    from torchlint.cli.options import Options


ALL_OR_NOTHING: Final = (
    "--add-ignore silences all that is found; drop --watch, --baseline and --since."
)


def add_ignore(
    paths: tuple[str, ...],
    options: Options,
    reason: str | None,
    until: str | None,
    *,
    no_baseline: bool,
) -> NoReturn:
    """Adds comments to the files, and says how many.

    Raises:
        click.UsageError: standard input was asked for, a baseline hides some of what is found, or
            the reason or the day is missing or unfit.
        click.exceptions.Exit: with 2 if a file could not be changed.
    """
    from torchlint.fixes.add_ignores import Note, add_ignores, wrong_reason
    from torchlint.fixes.fixer import apply
    from torchlint.report.fixes import silenced

    if "-" in paths:
        raise click.UsageError("--add-ignore writes files; name some instead of `-`.")
    reason = (reason or "").strip()
    wrong = wrong_reason(reason)
    if wrong is not None:
        raise click.UsageError(wrong)
    note = Note(reason, day_to_come(until))
    plan = plan_from(paths, options)
    if plan.baselines and not no_baseline:
        message = "A baseline hides what is known; give --no-baseline to silence that, too."
        raise click.UsageError(message)
    if not reason and any(target.selection.require_reason for target in plan.targets):
        raise click.UsageError("Reasons are required; give one with --reason TEXT.")
    pool = pool_from(options)
    comments = add_ignores(plan.targets, wanted=options.wanted, note=note, pool=pool)
    failed = apply(comments.files)
    diagnostics = [*plan.diagnostics, *comments.diagnostics, *failed]
    print_diagnostics(diagnostics)
    written = len(comments.files) - len(failed)
    if not options.quiet:
        print_lines([silenced(comments.findings, written, len(plan.targets))])
    raise click.exceptions.Exit(2 if diagnostics else 0)

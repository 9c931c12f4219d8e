"""`torchlint fix`: fixes what can be fixed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, selection_options
from torchlint.cli.printing import (
    paint_for,
    print_diagnostics,
    print_diff,
    print_lines,
    print_made,
    written,
)
from torchlint.cli.resources import pool_from
from torchlint.cli.targets import plan_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.engine.check import Target
    from torchlint.fixes.fixer import FixReport

_EPILOG = """\b
Examples:
  torchlint fix train.py                     the diff, nothing is written
  torchlint fix train.py | git apply         the same as --apply
  torchlint fix --apply --unsafe src         also fixes that may change results or memory
  torchlint fix - --stdin-filename a.py      a diff for text from standard input
  torchlint fix --verified train.py          runs train.py; only what proves faster, and right

\b
Fixes are safe (same values for every program that matches) unless --unsafe is given;
`torchlint rule CODE` says what an unsafe one may change. What was withheld is listed on
standard error, with the reason.

\b
--verified executes the script, as `torchlint verify` does, and makes the fixes that came out
CONFIRMED with numbers that are bitwise equal or equal to rounding; the script's own arguments
go after `--`. If none came out so, nothing is changed, and the exit code is verify's.

\b
Exit codes:
  0  nothing to fix, or everything was written
  1  a diff was printed
  2  something could not be done
"""


@click.command("fix", cls=Command, epilog=_EPILOG)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@selection_options
@click.option("--apply", is_flag=True, help="Write the files instead of printing a diff.")
@click.option("--unsafe", is_flag=True, help="Also fixes that may change results or memory.")
@click.option(
    "--show-fixes",
    is_flag=True,
    help="List on standard error what was fixed, file by file and rule by rule.",
)
@click.option(
    "--verified",
    is_flag=True,
    help="Run the script first, and make just the fixes that proved faster and right.",
)
@click.option("--yes", is_flag=True, help="With --verified: run the script without asking.")
def command(
    paths: tuple[str, ...],
    options: Options,
    apply: bool,
    unsafe: bool,
    show_fixes: bool,
    verified: bool,
    yes: bool,
) -> None:
    """Mend what makes PyTorch training code slow.

    Prints a unified diff; --apply writes the files. PATHS are files and folders, or `-` for
    standard input; the default is this folder.
    """
    if yes and not verified:
        raise click.UsageError("--yes is for --verified; nothing is run without it.")
    if verified:
        from torchlint.cli.commands.fix_verified import fix_verified

        fix_verified(paths, options, apply=apply, yes=yes, show_fixes=show_fixes)
        return
    from torchlint.fixes import fixer
    from torchlint.report import fixes
    from torchlint.report.terminal.progress import Progress

    plan = plan_from(paths, options)
    with Progress(sys.stderr) as progress:
        report = fixer.fix_targets(
            plan.targets,
            unsafe=unsafe,
            pool=pool_from(options),
            wanted=options.wanted,
            progress=progress,
        )
    diagnostics = [*plan.diagnostics, *report.diagnostics]
    if not apply:
        print_diff(report.files)
    elif "-" in paths:
        _print_text(report, plan.targets)
    else:
        diagnostics += fixer.apply(report.files)
    done = written(report.files, diagnostics)
    if show_fixes:
        print_made(done, apply=apply)
    print_lines(fixes.withheld(report.withheld, paint_for(sys.stderr)), err=True)
    print_diagnostics(diagnostics)
    sentence = fixes.sentence(
        [finding for file in done for finding in file.applied],
        report.remaining,
        changed=len(done),
        files=len(plan.targets),
        apply=apply,
    )
    print_lines([sentence], err=True)
    if diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if report.files and not apply else 0)


def _print_text(report: FixReport, targets: Sequence[Target]) -> None:
    stream = sys.stdout.buffer
    fixed = {file.path: file.after for file in report.files}
    for target in targets:
        stream.write(fixed.get(target.path, target.data or b""))
    stream.flush()

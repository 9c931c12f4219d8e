"""`torchlint fix`: makes fixes, or prints them as a diff."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from torchlint.cli.command import Command
from torchlint.cli.duration import duration_options
from torchlint.cli.options import Options, selection_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import (
    paint_for,
    print_diagnostics,
    print_diff,
    print_lines,
    print_made,
    written,
)
from torchlint.cli.resources import pool_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import FixReport
    from torchlint.project.target import Target

_OF_VERIFIED: Final = {
    "finished": "--from",
    "module": "-m",
    "yes": "--yes",
    "pairs": "--pairs",
    "budget": "--budget",
}


@click.command("fix", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@selection_options
@click.option("--apply", is_flag=True, help="Write the files instead of printing a diff.")
@click.option("--unsafe", is_flag=True, help="Also make fixes that may change results or memory.")
@click.option(
    "--show-fixes",
    is_flag=True,
    help="List on standard error what was fixed, by file and rule.",
)
@click.option(
    "--verified",
    is_flag=True,
    help="Run the script first, and make only the fixes that are faster and correct.",
)
@click.option("-m", "module", metavar="MODULE", help="With --verified: run a module.")
@click.option(
    "--from",
    "finished",
    metavar="FILE",
    help="With --verified: take the result of `torchlint verify --json FILE` and run nothing.",
)
@click.option("--yes", is_flag=True, help="With --verified: run the script without asking.")
@duration_options
def command(paths: tuple[str, ...], options: Options, verified: bool, **given: Any) -> None:
    """Fix what makes PyTorch training code slow.

    Prints a unified diff; --apply writes the files. PATHS are files and folders, or `-` for
    standard input; the default is this folder.

    \f
    Examples:
      torchlint fix train.py                     print a diff, write nothing
      torchlint fix train.py | git apply         the same as --apply
      torchlint fix --apply --unsafe src         also fixes that may change results or memory
      torchlint fix - --stdin-filename a.py      print a diff for text from standard input
      torchlint fix --verified train.py          only fixes that are measurably faster and correct
      torchlint fix --verified train.py --from verify.json    those that `verify --json` measured

    By default only safe fixes are made: they keep the values of every program that matches.
    `torchlint rule CODE` says what an unsafe fix may change. Withheld fixes are listed on standard
    error, with the reason.

    --verified runs the script, as `torchlint verify` does, and makes the fixes that are CONFIRMED
    and whose numbers are bitwise equal or equal to rounding. The script's own arguments go after
    `--`. If there is no such fix, nothing is changed, and the exit code is the one of verify. With
    --from FILE nothing is run: FILE must be a verification of the same script, arguments, sources
    and machine.

    Exit codes:
      0  nothing to fix, or everything was written
      1  a diff was printed
      2  an error
    """
    if verified:
        from torchlint.cli.commands.fix_verified import fix_verified

        fix_verified(paths, options, given)
    _refuse_without_verified()
    from torchlint.fixes import fixer
    from torchlint.report.terminal.file_counter import FileCounter

    plan = plan_from(paths, options)
    with FileCounter(sys.stderr, hidden=options.quiet) as progress:
        report = fixer.fix_targets(
            plan.targets,
            unsafe=given["unsafe"],
            pool=pool_from(options),
            wanted=options.wanted,
            progress=progress,
        )
    diagnostics = [*plan.diagnostics, *report.diagnostics]
    if not given["apply"]:
        print_diff(report.files)
    elif "-" in paths:
        _print_text(report, plan.targets)
    else:
        diagnostics += fixer.apply(report.files)
    _say(report, diagnostics, len(plan.targets), given, quiet=options.quiet)
    if diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if report.files and not given["apply"] else 0)


def _say(
    report: FixReport,
    diagnostics: list[Diagnostic],
    files: int,
    given: Mapping[str, Any],
    *,
    quiet: bool,
) -> None:
    """On standard error: what was fixed in these many files, what was not, and why."""
    from torchlint.fixes.fixer import before
    from torchlint.report import fixes

    apply, done = given["apply"], written(report.files, diagnostics)
    if given["show_fixes"]:
        print_made(done, apply=apply)
    withheld = report.withheld if apply else before(report.withheld, report.files)
    if not quiet:
        print_lines(fixes.withheld(withheld, paint_for(sys.stderr)), err=True)
    print_diagnostics(diagnostics)
    sentence = fixes.sentence(
        [finding for file in done for finding in file.applied],
        report.remaining,
        changed=len(done),
        files=files,
        apply=apply,
        errors=len(diagnostics),
        unsafe=given["unsafe"],
    )
    if not quiet:
        print_lines([sentence], err=True)


def _refuse_without_verified() -> None:
    """Options that would do nothing are mistakes."""
    context = click.get_current_context()
    for name, option in _OF_VERIFIED.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is for --verified; nothing is run without it.")


def _print_text(report: FixReport, targets: Sequence[Target]) -> None:
    stream = sys.stdout.buffer
    fixed = {file.path: file.after for file in report.files}
    for target in targets:
        stream.write(fixed.get(target.path, target.data or b""))
    stream.flush()

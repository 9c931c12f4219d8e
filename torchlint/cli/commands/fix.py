"""`torchlint fix`: makes fixes, or prints them as a diff."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Words, plan_from, pool_from, selection_options
from torchlint.cli.output import asked_colour, paint_for, print_diagnostics, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.engine.check import Target
    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import FixedFile, FixReport

_EPILOG = """\b
Examples:
  torchlint fix train.py                     print a diff, write nothing
  torchlint fix train.py | git apply         the same as --apply
  torchlint fix --apply --unsafe src         also fixes that may change results or memory
  torchlint fix - --stdin-filename a.py      print a diff for text from standard input
  torchlint fix --verified train.py          only fixes that are measurably faster and correct

\b
By default only safe fixes are made: they keep the values of every program that matches.
`torchlint rule CODE` says what an unsafe fix may change. Withheld fixes are listed on standard
error, with the reason.

\b
--verified runs the script, as `torchlint verify` does, and makes the fixes that are CONFIRMED and
whose numbers are bitwise equal or equal to rounding. The script's own arguments go after `--`. If
there is no such fix, nothing is changed, and the exit code is the one of verify.

\b
Exit codes:
  0  nothing to fix, or everything was written
  1  a diff was printed
  2  an error
"""


@click.command("fix", cls=Command, epilog=_EPILOG)
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
@click.option("--yes", is_flag=True, help="With --verified: run the script without asking.")
def command(
    paths: tuple[str, ...],
    words: Words,
    apply: bool,
    unsafe: bool,
    show_fixes: bool,
    verified: bool,
    yes: bool,
) -> None:
    """Fix what makes PyTorch training code slow.

    Prints a unified diff; --apply writes the files. PATHS are files and folders, or `-` for
    standard input; the default is this folder.
    """
    if yes and not verified:
        raise click.UsageError("--yes is for --verified; nothing is run without it.")
    if verified:
        from torchlint.cli.commands.fix_verified import fix_verified

        fix_verified(paths, words, apply=apply, yes=yes, show_fixes=show_fixes)
        return
    from torchlint.engine.tiers import Wanted
    from torchlint.fixes import fixer
    from torchlint.report.terminal.progress import Progress

    plan = plan_from(paths, words)
    wanted = Wanted(hints=words.hints, pedantic=words.pedantic)
    with Progress(sys.stderr) as progress:
        report = fixer.fix_targets(
            plan.targets, unsafe=unsafe, pool=pool_from(words), wanted=wanted, progress=progress
        )
    diagnostics = {*plan.diagnostics, *report.diagnostics}
    if not apply:
        print_diff(report.files)
    elif "-" in paths:
        _print_text(report, plan.targets)
    else:
        diagnostics.update(fixer.apply(report))
    if show_fixes:
        print_made(report.files, diagnostics, apply=apply)
    _print_outcome(report, diagnostics, files=len(plan.targets), apply=apply)
    if diagnostics:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if report.files and not apply else 0)


def print_diff(files: Sequence[FixedFile]) -> None:
    from torchlint.fixes.fixer import unified_diff

    if sys.stdout.isatty() or asked_colour():
        from torchlint.report.terminal import diff

        paint = paint_for(sys.stdout)
        for file in files:
            print_lines(diff.render(unified_diff(file), paint))
        return
    stream = sys.stdout.buffer
    for file in files:
        stream.write(unified_diff(file))
    stream.flush()


def print_made(
    files: Iterable[FixedFile], diagnostics: Iterable[Diagnostic], *, apply: bool
) -> None:
    """On standard error, what was fixed; not what could not be written."""
    from torchlint.report import fixes

    done = _written(files, diagnostics)
    print_lines(fixes.made(done, paint_for(sys.stderr), apply=apply), err=True)


def _written(files: Iterable[FixedFile], diagnostics: Iterable[Diagnostic]) -> list[FixedFile]:
    failed = {each.path for each in diagnostics if each.kind == "write"}
    return [file for file in files if file.path not in failed]


def _print_text(report: FixReport, targets: Sequence[Target]) -> None:
    stream = sys.stdout.buffer
    fixed = {file.path: file.after for file in report.files}
    for target in targets:
        stream.write(fixed.get(target.path, target.data or b""))
    stream.flush()


def _print_outcome(
    report: FixReport, diagnostics: set[Diagnostic], *, files: int, apply: bool
) -> None:
    from torchlint.report import fixes

    print_lines(fixes.withheld(report.withheld, paint_for(sys.stderr)), err=True)
    print_diagnostics(sorted(diagnostics, key=lambda each: each.sort_key))
    done = _written(report.files, diagnostics)
    sentence = fixes.sentence(
        [finding for file in done for finding in file.applied],
        report.remaining,
        changed=len(done),
        files=files,
        apply=apply,
    )
    print_lines([sentence], err=True)

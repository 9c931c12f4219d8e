"""`torchlint fix --verified`: measures first, and makes the fixes that are faster and correct."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torchlint.cli.printing import (
    print_diagnostics,
    print_diff,
    print_lines,
    print_made,
    written,
)
from torchlint.cli.verification import fixes_of, print_result, program_from, run

if TYPE_CHECKING:
    from torchlint.cli.options import Options
    from torchlint.verify.compared.measured_fixes import Fixes


def fix_verified(
    arguments: tuple[str, ...], options: Options, *, apply: bool, yes: bool, show_fixes: bool
) -> None:
    """Verify the script that `arguments` begin with, then print or write the good fixes.

    Raises:
        click.exceptions.Exit: always, with the exit code.
    """
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.request import Request

    program = program_from(arguments, None)
    fixes = fixes_of(program, options, unsafe=True)
    result = run(Request(program), Changes(program, fixes), yes=yes)
    if result is None:
        raise click.exceptions.Exit(0)
    print_result(result, err=True)
    chosen = tuple(fix.id for fix in result.fixes if fix.is_proven)
    if not chosen:
        print_lines(["No fix proved both faster and right; nothing is changed."], err=True)
        raise click.exceptions.Exit(result.exit)
    raise click.exceptions.Exit(_make(fixes, chosen, apply=apply, show_fixes=show_fixes))


def _make(fixes: Fixes, chosen: tuple[str, ...], *, apply: bool, show_fixes: bool) -> int:
    from torchlint.fixes import fixer
    from torchlint.report.terminal.safe_text import plural

    files = fixes.fixed_files(chosen)
    if not apply:
        print_diff(files)
    failed = fixer.apply(files) if apply else ()
    done = written(files, failed)
    if show_fixes:
        print_made(done, apply=apply)
    if not apply:
        return 1
    print_diagnostics(failed)
    verified = plural(len(chosen), "verified fix", "verified fixes")
    print_lines([f"Made {verified} in {plural(len(done), 'file')}."], err=True)
    return 2 if failed else 0

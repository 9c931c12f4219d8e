"""`torchlint fix --verified`: measures first, and makes the fixes that are faster and correct."""

from __future__ import annotations

import io
import os
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from torchlint.cli.measured_reports import columns
from torchlint.cli.printing import (
    paint_for,
    print_diagnostics,
    print_diff,
    print_lines,
    print_made,
    written,
)
from torchlint.cli.script_runs import checked, given_to, in_time, program_from, request_from, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.cli.options import Options
    from torchlint.cli.program_check import ProgramCheck
    from torchlint.experiment.request import Request
    from torchlint.report.verify.verification_progress import VerificationProgress
    from torchlint.verify.compared.measured_fixes import Fixes


def fix_verified(
    arguments: tuple[str, ...], options: Options, given: Mapping[str, Any]
) -> NoReturn:
    """Verify a script or module, then print or write the good fixes.

    Args:
        arguments: the script, then its own arguments; of a module, only those.
        options: that choose the rules.
        given: the other options of `fix`.

    Raises:
        click.exceptions.Exit: always, with the exit code.
    """
    begun = time.monotonic()
    finished: str | None = given["finished"]
    program = program_from(arguments, given["module"], runs=finished is None)
    from torchlint.cli.program_check import ProgramCheck
    from torchlint.report.verify.verification_progress import VerificationProgress

    progress = VerificationProgress(io.StringIO() if options.quiet else sys.stderr)
    request = request_from(program, given, begun, runs=finished is None)
    check = ProgramCheck(program, options, progress)
    if finished is not None:
        proven = _from_file(finished, request, check)
    else:
        proven = _measured(request, check, progress, given, quiet=options.quiet)
    if not proven.ids:
        what = "No fix proved both faster and right" if check.known.ids else "There is no fix"
        print_lines([] if options.quiet else [f"{what}; nothing is changed."], err=True)
        raise click.exceptions.Exit(proven.exit)
    apply, show_fixes = given["apply"], given["show_fixes"]
    code, said = _make(check.known, proven, apply=apply, show_fixes=show_fixes)
    print_lines([] if options.quiet else said, err=True)
    raise click.exceptions.Exit(code)


class _Proven(NamedTuple):
    """The fixes to make, how far their numbers were compared, the exit code if there is none."""

    ids: tuple[str, ...]
    coverage: str
    exit: int


def _from_file(path: str, request: Request, check: ProgramCheck) -> _Proven:
    from torchlint.report.verify.verification_words import coverage
    from torchlint.verify.finished import read_finished, require_current

    finished = checked(lambda: read_finished(path))
    # Also those that only its run has shown.
    fixes = in_time(request, check.fixes, [os.path.realpath(path) for path in finished.sources])
    if not fixes.ids:  # if there were some, they have been made
        return _Proven((), "", 0 if finished.fixes else finished.exit)
    checked(lambda: require_current(finished, path, request.program, fixes))
    return _Proven(finished.proven(), coverage(finished.steps, finished.unreached), finished.exit)


def _measured(
    request: Request,
    check: ProgramCheck,
    progress: VerificationProgress,
    options: Mapping[str, Any],
    *,
    quiet: bool,
) -> _Proven:
    from torchlint.report.verify.verification_text import render
    from torchlint.report.verify.verification_words import coverage
    from torchlint.verify.compared.changes import Changes

    changes = Changes(request.program, in_time(request, check.fixes), more=check.fixes)
    result = run(request, changes, progress, yes=options["yes"])
    context = click.get_current_context()
    given = None
    if not options["apply"]:
        given = replace(given_to(context, context.command), stdin=bool(request.stdin))
    if not quiet:
        print_lines(
            render(replace(result, given=given), paint_for(sys.stderr), columns()), err=True
        )
    ids = tuple(fix.id for fix in result.fixes if fix.is_proven)
    numerics = result.total.numerics if result.total else None
    said = coverage(numerics.steps if numerics else 0, result.unreached)
    return _Proven(ids, said, result.exit)


def _make(fixes: Fixes, proven: _Proven, *, apply: bool, show_fixes: bool) -> tuple[int, list[str]]:
    """Print or write the fixes; the exit code, and what there is to say about it."""
    from torchlint.fixes import fixer
    from torchlint.report.terminal.safe_text import plural

    files = fixes.fixed_files(proven.ids)
    if not apply:
        print_diff(files)
    failed = fixer.apply(files) if apply else ()
    done = written(files, failed)
    if show_fixes:
        print_made(done, apply=apply)
    compared = [proven.coverage] if proven.coverage else []
    if not apply:
        return 1, compared
    print_diagnostics(failed)
    paths = {file.path for file in done}
    verified = sum(fix.id in proven.ids and fix.path in paths for fix in fixes.fixes)
    if not verified:
        return 2, []
    made = plural(verified, "verified fix", "verified fixes")
    said = [f"Made {made} in {plural(len(done), 'file')}.", *compared]
    return 2 if failed else 0, said

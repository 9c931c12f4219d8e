"""The verification that `verify` and `fix --verified` run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torchlint.cli.launching import AGREED, processes_on_a_node, spread_from
from torchlint.cli.printing import paint_for, print_diagnostics, print_lines
from torchlint.cli.resources import pool_from
from torchlint.cli.targets import plan_from
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torchlint.cli.options import Options
    from torchlint.finding import Finding
    from torchlint.project.target import Target
    from torchlint.report.verify.progress import Progress
    from torchlint.runtime.program import Program
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.compared.measured_fixes import Fixes
    from torchlint.verify.request import Request
    from torchlint.verify.result import Result
    from torchlint.workers.pool import Pool

_T = TypeVar("_T")
_MOST_INPUT = 1 << 26
_PATIENCE_S = 0.5


def require_packages() -> None:
    """Comes first in a command that runs a script: other modules import these packages.

    Raises:
        click.ClickException: torch or another package that measuring needs is not installed.
    """
    from torchlint.verify.missing_packages import require_packages as require

    checked(require)


def program_from(arguments: tuple[str, ...], module: str | None) -> Program:
    """What to run.

    Args:
        arguments: the script and its own arguments, or only those of the module.
        module: its name, if it is one.

    Raises:
        click.ClickException: there is no such script or module.
    """
    from torchlint.runtime import program

    if module is not None:
        return checked(lambda: program.module(module, arguments))
    if not arguments:
        raise click.UsageError("Give the script that trains, or a module with -m.")
    return checked(lambda: program.script(arguments[0], arguments[1:]))


def fixes_of(program: Program, options: Options, progress: Progress, *, unsafe: bool) -> Fixes:
    """The fixes in the files that a program runs."""
    from torchlint.ruleapi.registry import all_rules
    from torchlint.verify.compared.measured_fixes import find_fixes

    targets = _files_of(program, options, progress)
    with _pool(options) as pool:
        fixes = find_fixes(
            targets,
            all_rules(),
            unsafe=unsafe,
            wanted=options.wanted,
            pool=pool,
            progress=progress.step,
        )
    progress.done()
    print_diagnostics(fixes.diagnostics)
    return fixes


def _files_of(program: Program, options: Options, progress: Progress) -> list[Target]:
    """The script and what it imports of its project."""
    from torchlint.project.program_files import program_files

    progress.stage(f"Reading {os.path.relpath(program.file)} and what it imports")
    plan = plan_from((os.path.relpath(program.root), os.path.relpath(program.file)), options)
    targets = [target for target in plan.targets if not target.is_notebook]
    start = (each.path for each in targets if os.path.realpath(each.path) == program.file)
    found = program_files(next(start, ""), targets)
    kept = {target.path for target in found}
    progress.done()
    print_diagnostics(each for each in plan.diagnostics if each.path in kept)
    return found


@contextmanager
def _pool(options: Options) -> Iterator[Pool]:
    """Processes that are gone before anything is measured."""
    pool = pool_from(options)
    try:
        yield pool
    finally:
        pool.close()


def changes_from(
    program: Program, options: Options, given: Mapping[str, object], progress: Progress
) -> Changes:
    """What to compare the program with.

    Raises:
        click.ClickException: the options exclude each other, or name what cannot be used.
    """
    from torchlint.runtime.program import script
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.compared.patches import patched

    patch, other = given["patch"], given["against"]
    if patch and other:
        raise click.UsageError("--with and --against exclude each other; give one of them.")
    if patch:
        return Changes(program, patched=checked(lambda: patched(str(patch), program.root)))
    if other:
        return Changes(program, other=checked(lambda: script(str(other), program.argv)))
    return Changes(program, fixes_of(program, options, progress, unsafe=not given["safe_only"]))


def request_from(program: Program, options: Mapping[str, Any], begun: float) -> Request:
    """How to measure, from the options of the command.

    Args:
        begun: when the command began, by `time.monotonic`.
    """
    from torchlint.verify.request import Design, Request

    return Request(
        program=program,
        per_fix=options["per_fix"],
        steps=options["steps"],
        warmup=options["warmup"],
        budget_s=options["budget"],
        begun=begun,
        numbers_steps=options["numbers_steps"],
        numbers_from=options["numbers_from"],
        threads=options["threads"],
        device=options["device"],
        nproc=processes_on_a_node(options),
        spread=spread_from(options),
        seed=options["seed"],
        keep_env=options["keep_env"],
        stdin=_standard_input(),
        design=Design(looks=options["pairs"]),
    )


def request_for(program: Program, options: Mapping[str, Any], begun: float) -> Request:
    """How to run the program where nothing is compared; the same."""
    from torchlint.verify.request import Request

    names = ("steps", "warmup", "threads", "device", "seed", "keep_env")
    return Request(
        program=program,
        nproc=processes_on_a_node(options),
        spread=spread_from(options),
        budget_s=options["budget"],
        begun=begun,
        stdin=_standard_input(),
        **{name: options[name] for name in names},
    )


def static_findings(program: Program, options: Options, progress: Progress) -> tuple[Finding, ...]:
    """What `check` finds in the files that a program runs, hints included."""
    from torchlint.engine.check import check
    from torchlint.engine.tiers import Wanted, choose

    targets = _files_of(program, options, progress)
    with _pool(options) as pool:
        report = check(targets, pool=pool, progress=progress.step)
    progress.done()
    print_diagnostics(report.diagnostics)
    wanted = Wanted(hints=True, pedantic=options.wanted.pedantic)
    return tuple(choose(report.findings, targets, wanted).findings)


def _standard_input() -> bytes | None:
    """What a file or a pipe has for the script, which runs many times; None from a terminal, or if
    a pipe does not end soon."""
    import select
    import stat

    try:
        kind = os.fstat(0).st_mode
        if stat.S_ISREG(kind):
            with open(0, "rb", closefd=False) as stream:
                return stream.read(_MOST_INPUT)
        if not stat.S_ISFIFO(kind):
            return None
        found = b""
        while len(found) < _MOST_INPUT and select.select([0], [], [], _PATIENCE_S)[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return found
            found += chunk
    except OSError:
        pass  # closed
    return None


def run(request: Request, changes: Changes, progress: Progress, *, yes: bool) -> Result:
    """Say what will be executed, ask if the terminal is interactive, and verify.

    Raises:
        click.exceptions.Exit: the user does not want the program to run.
    """
    from torchlint.verify.session import verify

    if changes.fixes is not None and not changes.ids:
        words = shlex.join(changes.program.words)
        sentence = (
            f"There is no fix to verify; verify executes `{words}` once, for a few seconds, to see "
            "where its step goes."
        )
        waited_s = consent(sentence, yes=yes)
    else:
        waited_s = agree(changes.program, "", yes=yes)
    with progress:
        return verify(replace(request, begun=request.begun + waited_s), changes, progress)


def agree(program: Program, where: str, *, yes: bool) -> float:
    """Ask before a program is run many times.

    Args:
        where: ` in a Slurm job`; empty: here.

    Raises:
        click.exceptions.Exit: the user does not want it.
    """
    words = shlex.join(program.words)
    said = f"verify executes `{words}` many times{where}, for a few seconds each"
    return consent(f"{said}, without and with the changes.", yes=yes)


def consent(sentence: str, *, yes: bool) -> float:
    """Say what will be executed, and ask if the terminal is interactive.

    Returns:
        the seconds that the user took for the answer.

    Raises:
        click.exceptions.Exit: the user does not want it.
    """
    if AGREED in os.environ:
        return 0.0
    from torchlint.runtime.sandbox import fence

    print_lines([visible(sentence)], err=True)
    if fence.why_not():
        lets = f"Files that libraries in C or other programs write are not kept: {fence.why_not()}."
        print_lines([lets], err=True)
    begun = time.monotonic()
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    if asks and not yes and not click.confirm("Run it?", default=True, err=True):
        raise click.exceptions.Exit(2)
    return time.monotonic() - begun


def print_result(result: Result, *, err: bool = False, details: bool = False) -> None:
    """Print the report for people, to standard output or standard error."""
    from torchlint.report.verify.text import render

    width = shutil.get_terminal_size((100, 40)).columns
    paint = paint_for(sys.stderr if err else sys.stdout)
    print_lines(render(result, paint, width, details=details), err=err)


def checked(call: Callable[[], _T]) -> _T:
    """What the call returns; an error of the program or the verification ends the command."""
    from torchlint.runtime.program import ProgramError
    from torchlint.verify.errors import VerifyError

    try:
        return call()
    except (ProgramError, VerifyError) as error:
        raise click.ClickException(error.message) from None

"""What `verify`, `fix --verified`, `profile` and `rehearse` do with the script that they run."""

from __future__ import annotations

import os
import shlex
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from torchlint.cli.launching import (
    AGREED,
    help_another_node,
    processes_on_a_node,
    run_in_a_job,
    spread_from,
)
from torchlint.cli.measured_reports import refuse_unwritable
from torchlint.cli.printing import print_lines
from torchlint.cli.script_options import given_on
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from torchlint.cli.options import Options
    from torchlint.experiment.request import Request
    from torchlint.report.verify.verification_progress import VerificationProgress
    from torchlint.runtime.program import Program
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.result import Given, Result

_T = TypeVar("_T")
_MOST_INPUT = 1 << 26
_PATIENCE_S = 0.5
_OUT_OF_TIME = 7
_HOW: Final = tuple(
    "per_fix steps warmup numbers_steps numbers_from threads device seed keep_env nproc "
    "tolerance".split()
)
_OFTEN: Final = {
    "verify": "many times{}, for a few seconds each",
    "profile": "several times{}, for a few seconds each",
    "tune": "many times{}, for a few seconds each",
    "rehearse": "once{}, for some steps, with a GPU that is played on the CPU",
}
_TIME: Final = ("pairs", "budget")
_OF_FIXES: Final = ("select", "ignore", "hints", "pedantic", "target_torch", "safe_only")
NOT_MEASURED: Final = frozenset(
    (
        *("words", "paths", "module", "yes", "require_confirmed", "required"),
        *("verified", "apply", "unsafe", "show_fixes", "quiet"),
        *("details", "json_file", "html_file", "output_format"),
    )
)
"""They change nothing of what is measured, or are part of the program."""


def program_from(arguments: tuple[str, ...], module: str | None, *, runs: bool = True) -> Program:
    """What to run, by a command that has everything that it needs for that.

    Args:
        arguments: the script and its own arguments, or only those of the module.
        module: its name, if it is one.
        runs: whether it runs at all.

    Raises:
        click.ClickException: there is no such script or module, or a package that measuring needs
            is not installed.
    """
    from torchlint.experiment.missing_packages import require_packages
    from torchlint.runtime import program

    if module is not None:
        program_to_run = checked(lambda: program.module(module, arguments))
    elif arguments:
        program_to_run = checked(lambda: program.script(arguments[0], arguments[1:]))
    else:
        raise click.UsageError("Give the script that trains, or a module with -m.")
    if runs:  # last: nobody should install packages for a script that cannot be run
        checked(require_packages)
    return program_to_run


def go_where_it_runs(command: str, program: Program, given: Mapping[str, Any]) -> None:
    """If this is another node, help node 0; if it runs in a Slurm job, run the command there. Both
    end it here.

    Raises:
        click.ClickException: a report cannot be written, or the options do not fit together.
        click.exceptions.Exit: it has run, or the user does not want it; with its exit code.
    """
    refuse_unwritable(given, program.file)
    help_another_node(given)
    run_in_a_job(given, lambda where: agree(command, program, where, yes=given["yes"]))


def changes_from(
    request: Request, options: Options, given: Mapping[str, object], progress: VerificationProgress
) -> Changes:
    """What to compare the program with.

    Raises:
        click.ClickException: the options exclude each other, or name what cannot be used.
        click.exceptions.Exit: as for `in_time`.
    """
    from torchlint.runtime.program import script
    from torchlint.verify.compared.changes import Changes
    from torchlint.verify.compared.patches import patched

    program, patch, other = request.program, given["patch"], given["against"]
    if patch and other:
        raise click.UsageError("--with and --against exclude each other; give one of them.")
    if patch or other:
        _refuse_rules("--with" if patch else "--against")
    elif given["tolerance"] is not None:
        raise click.UsageError(
            "--tolerance is for --with and --against; fixes declare what they may change."
        )
    if patch:
        return Changes(program, patched=checked(lambda: patched(str(patch), program.root)))
    if other:
        return Changes(program, other=checked(lambda: script(str(other), program.argv)))
    from torchlint.cli.program_check import ProgramCheck

    check = ProgramCheck(program, options, progress, unsafe=not given["safe_only"])
    return Changes(program, in_time(request, check.fixes), more=check.fixes)


def _refuse_rules(change: str) -> None:
    """Options that choose fixes would do nothing."""
    for name, words in given_on(click.get_current_context()):
        if name in _OF_FIXES:
            raise click.UsageError(
                f"{words[0]} chooses among torchlint's fixes, and {change} measures a change of "
                "your own; leave one of them out."
            )


def in_time(
    request: Request,
    find: Callable[[Collection[str], float | None], _T],
    loaded: Collection[str] = (),
    *,
    option: str = "--budget",
) -> _T:
    """What is found in a program's files before any is run.

    Args:
        find: a method of `ProgramCheck`.
        loaded: real paths of files that it is known to load.
        option: gives more time.

    Raises:
        click.exceptions.Exit: the budget ended before.
    """
    from torchlint.runtime.failures import OutOfTime

    try:
        return find(loaded, request.deadline)
    except OutOfTime:
        spent = f"The budget of {request.budget_s:g} s ended before the script's files were checked"
        print_lines([f"{spent}; give more with {option}."], err=True)
        raise click.exceptions.Exit(_OUT_OF_TIME) from None


def request_from(
    program: Program, given: Mapping[str, Any], begun: float, *, runs: bool = True
) -> Request:
    """How to run the program, by those of the options that the command has.

    Args:
        begun: when the command began, by `time.monotonic`.
        runs: whether it runs at all, and may read what this command has to read.
    """
    from torchlint.experiment.request import Design, Request

    how = {name: given[name] for name in _HOW if name in given}
    if "launcher" in given:
        how |= {"nproc": processes_on_a_node(given), "spread": spread_from(given)}
    if "pairs" in given:
        how["design"] = Design(looks=given["pairs"])
    stdin = standard_input() if runs else None
    return Request(program, budget_s=given["budget"], begun=begun, stdin=stdin, **how)


def standard_input() -> bytes | None:
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
        data = b""
        while len(data) < _MOST_INPUT and select.select([0], [], [], _PATIENCE_S)[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return data
            data += chunk
    except OSError:
        pass  # closed
    return None


def run(request: Request, changes: Changes, progress: VerificationProgress, *, yes: bool) -> Result:
    """Say what will be executed, ask if the terminal is interactive, and verify.

    Raises:
        click.exceptions.Exit: the user does not want the program to run.
    """
    from torchlint.verify.verification import verify

    if changes.fixes is not None and not changes.ids:
        words = shlex.join(changes.program.words)
        sentence = (
            f"There is no fix to verify yet; verify executes `{words}` for a few seconds, to see "
            "where its step goes, and many times if it loads other files that have fixes."
        )
        waited_s = consent(sentence, yes=yes)
    else:
        waited_s = agree("verify", changes.program, yes=yes)
    with progress:
        return verify(replace(request, begun=request.begun + waited_s), changes, progress)


def agree(command: str, program: Program, where: str = "", *, yes: bool) -> float:
    """Ask before a program is run many times; see `consent`.

    Args:
        command: `verify`, `tune`, `profile` or `rehearse`.
        where: ` in a Slurm job`; empty: here.
    """
    said = f"{command} executes `{shlex.join(program.words)}` {_OFTEN[command].format(where)}"
    more = ", without and with the changes" if command in ("tune", "verify") else ""
    return consent(f"{said}{more}.", yes=yes)


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
        print_lines(["The script was not run."], err=True)
        raise click.exceptions.Exit(2)
    return time.monotonic() - begun


def given_to(context: click.Context, fix: click.Command) -> Given:
    """The options on the command line of `verify` or `fix --verified`.

    Args:
        fix: the command `fix`.
    """
    from torchlint.verify.result import Given

    of_fix = {param.name for param in fix.params}
    rules: list[str] = []
    time: list[str] = []
    others = False
    for name, words in given_on(context):
        if name in of_fix and name not in NOT_MEASURED:
            (time if name in _TIME else rules).extend(words)
        else:
            others |= name not in NOT_MEASURED
    return Given(tuple(rules), tuple(time), others, context.params.get("json_file"))


def checked(call: Callable[[], _T]) -> _T:
    """What the call returns; an error of the program or the verification ends the command."""
    from torchlint.experiment.errors import ExperimentError
    from torchlint.runtime.program import ProgramError

    try:
        return call()
    except (ProgramError, ExperimentError) as error:
        raise click.ClickException(error.message) from None

"""`torchlint profile`: runs the script, and says what its step waits for."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.command import Count
from torchlint.cli.duration import seconds
from torchlint.cli.held_against import held_against, held_against_options
from torchlint.cli.measured_reports import OF_PROFILE, report, report_options
from torchlint.cli.options import Options, rule_options
from torchlint.cli.script_options import ScriptCommand, how_it_was_run, run_options
from torchlint.cli.script_runs import (
    agree,
    go_where_it_runs,
    in_time,
    program_from,
    request_from,
)

if TYPE_CHECKING:
    from torchlint.profile.wish import Wish

_EPILOG = """\
Examples:
  torchlint profile train.py                       what a step waits for, line by line
  torchlint profile train.py -- --epochs 5         with the script's own arguments
  torchlint profile -m pkg.train                   a module, as with `python -m`
  torchlint profile train.py --quick               the largest costs, in half a minute
  torchlint profile train.py --only reads,input    only these runs
  torchlint profile train.py --sweep workers       how many workers pay
  torchlint profile train.py --json profile.json   everything, for programs
  torchlint profile train.py --html profile.html   a page with charts
  torchlint profile train.py --compare profile.json
                                                   what has changed since then
  torchlint profile train.py --budget torchlint-baseline.json
                                                   in CI: fail on what is new

The script runs several times, each time for some steps, and is then stopped: once to time its
step, and once for each kind of thing that is watched, since watching costs time. A finding says
what it costs at most, as a factor of the step: no fix can give more, and most give less. Measure a
fix with `torchlint verify`. The project's files stay as they are.

Exit codes:
  0  the script was profiled, whatever was found; what did not fit into the time is named under
     `not measured`
  1  it does not keep to the budget
  2  wrong usage, a package is missing, or a budget or an earlier profile cannot be read
  4  the script failed
  6  no training or inference steps were found
  7  the time budget ran out before the step was timed, or a run stopped responding
  130  stopped by Ctrl-C; what was known is printed
"""


class _Runs(click.Option):
    """Its help names all runs, which are looked up when it is shown and not when torchlint
    starts."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from torchlint.profile.run_names import in_words

        self.help = (
            f"Watch only in these runs, separated by commas: {in_words()}. A name in brackets, "
            "and the code or name of a finding, means its run."
        )
        return super().get_help_record(ctx)


def _only(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, ...]:
    from torchlint.profile.run_names import chosen

    try:
        return chosen(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def _wish(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Wish | None:
    from torchlint.profile.wish import wish
    from torchlint.workers.pool import processors

    try:
        return None if value is None else wish(value, processors())
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


@click.command("profile", cls=ScriptCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="SCRIPT [-- ARGS]...")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script.")
@click.option(
    "--only",
    cls=_Runs,
    callback=_only,
    default="",
    metavar="NAMES",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Only the runs that show most: input, pauses, reads, operations.",
)
@click.option(
    "--sweep",
    callback=_wish,
    metavar="WHAT",
    help="Time the step with other values instead: `workers`, or a batch size that the script "
    "takes as an argument, such as `batch-size=--batch-size:32,64,128`.",
)
@click.option("--steps", type=Count(1), metavar="N", help="Watched steps of each run.")
@click.option("--warmup", type=Count(0), metavar="N", help="Warm-up steps before them.")
@click.option(
    "--budget-time",
    "budget",
    callback=seconds,
    default="5m",
    show_default=True,
    metavar="TIME",
    help="End after this time; what does not fit is named.",
)
@run_options
@rule_options
@held_against_options
@report_options(
    OF_PROFILE,
    details="Print all findings, counts and layers.",
    json="Write everything to FILE as JSON.",
    html="Write a page with charts to FILE.",
)
@click.option(
    "--trace",
    "trace_file",
    metavar="FILE",
    help="Write the first steps to FILE as a trace for Perfetto or chrome://tracing.",
)
@click.option("--yes", is_flag=True, help="Run the script without asking.")
def command(words: tuple[str, ...], module: str | None, options: Options, **given: Any) -> None:
    """Run the script, and say what its step waits for.

    This runs your script for some steps. Each finding names a line, what it costs, and the most
    that a step could gain; what `torchlint check` says about the same line is named next to it.
    """
    begun = time.monotonic()
    program = program_from(words, module)
    if given["quick"] and (given["only"] or given["sweep"]):
        raise click.UsageError("--quick chooses the runs itself; leave out --only and --sweep.")
    hold = held_against(given)
    go_where_it_runs("profile", program, given)
    from torchlint.cli.program_check import ProgramCheck
    from torchlint.experiment.subject import Linted
    from torchlint.profile.profiling import profile
    from torchlint.report.profile.profile_progress import ProfileProgress

    progress = ProfileProgress(sys.stderr)
    check = ProgramCheck(program, options, progress)
    request = request_from(program, given, begun)
    findings = in_time(request, check.findings, option="--budget-time")
    subject = Linted(program, findings, check.findings)
    request = replace(request, begun=begun + agree("profile", program, yes=given["yes"]))
    with progress:
        result = profile(
            request, subject, given["only"], progress, given["sweep"], quick=given["quick"]
        )
    result = hold(replace(result, options=how_it_was_run(click.get_current_context())))
    report(result, given, OF_PROFILE)
    raise click.exceptions.Exit(result.exit)

"""`torchlint verify`: runs the original and the fixed program, and measures each fix."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import click

from torchlint.cli.command import Count, Share
from torchlint.cli.duration import duration_options
from torchlint.cli.measured_reports import OF_VERIFICATION, report, report_options
from torchlint.cli.options import Options, rule_options
from torchlint.cli.script_options import ScriptCommand, run_options
from torchlint.cli.script_runs import (
    changes_from,
    given_to,
    go_where_it_runs,
    program_from,
    request_from,
    run,
)

_EPILOG = """\
Examples:
  torchlint verify train.py                        every fix that `fix --unsafe` would make
  torchlint verify train.py -- --epochs 5          with the script's own arguments
  torchlint verify -m pkg.train -- --epochs 5      a module, as with `python -m`
  torchlint verify train.py --total-only           all fixes together, in half the time
  torchlint verify train.py --with mine.patch      your own change instead of torchlint's fixes
  torchlint verify train.py --against other.py     another script; the same one shows the noise
  torchlint verify train.py --require 'reads<=0'   fail if a step still reads values of tensors
  torchlint fix --verified train.py --apply        make only the fixes that are faster and correct

The script runs many times, for a few seconds each, and is then stopped. Changed sources are
served from memory; the project's files stay as they are. Results are valid for this machine,
these arguments and this session.

Exit codes:
  0  no fix is SLOWER, and no numbers DIFFER
  1  a fix is SLOWER, its numbers DIFFER, or a bound of `--require` does not hold
  2  wrong usage, a package is missing, or `--device cuda` and the script uses no GPU
  3  inconclusive: the machine is too noisy, nothing of the change was run, it is not
     CONFIRMED with `--require-confirmed`, or a counter of `--require` is not known
  4  the original script failed
  5  the changed script failed, and the original did not
  6  no training or inference steps were found
  7  the time budget ran out, or a run stopped responding
  130  stopped by Ctrl-C; what was known is printed
"""


def _bounds(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> Any:
    """Bounds on counters; ends the command where a word is none."""
    from torchlint.verify.counts.requirements import RequirementError, bounds

    try:
        return bounds(words)
    except RequirementError as error:
        raise click.BadParameter(str(error), ctx, param) from None


@click.command("verify", cls=ScriptCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="SCRIPT [-- ARGS]...")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script.")
@rule_options
@click.option("--safe-only", is_flag=True, help="Measure only safe fixes.")
@click.option(
    "--per-fix/--total-only",
    default=True,
    help="Measure each fix alone and after the others (default), or only all fixes together.",
)
@click.option(
    "--with",
    "patch",
    metavar="PATCH",
    help="Measure this diff instead of the fixes.",
)
@click.option("--against", metavar="OTHER.py", help="Measure this script instead of the fixes.")
@click.option("--steps", type=Count(1), metavar="N", help="Measured steps per process.")
@click.option("--warmup", type=Count(0), metavar="N", help="Warm-up steps before measuring.")
@duration_options
@click.option(
    "--numbers-steps",
    type=Count(1),
    metavar="N",
    help="Compare the numbers of this many steps. Default: 30, fewer if they are slow.",
)
@click.option(
    "--numbers-from",
    type=Count(0),
    default=0,
    metavar="STEP",
    help="Compare the numbers from this step on, such as one after an epoch's end.",
)
@click.option(
    "--tolerance",
    type=Share(),
    metavar="SHARE",
    help="How far the mean loss may move if --with or --against computes other numbers on purpose.",
)
@run_options
@click.option("--require-confirmed", is_flag=True, help="Exit with 3 unless CONFIRMED in total.")
@click.option(
    "--require",
    "required",
    callback=_bounds,
    multiple=True,
    metavar="COUNTER<=N",
    help="Exit with 1 unless a step of the changed program does no more than this, as "
    "'reads<=0,recompiles<=0'; may be repeated.",
)
@report_options(
    OF_VERIFICATION,
    details="Print the plan, the noise and the machine as well.",
    json="Write all results to FILE as JSON.",
    html="Write a report with charts to FILE.",
)
@click.option("--yes", is_flag=True, help="Run the script without asking.")
def command(words: tuple[str, ...], module: str | None, options: Options, **given: Any) -> None:
    """Run the script, and measure what each fix is worth.

    This runs your script. The original and the fixed program take turns on this machine until the
    difference is settled or the plan ends. Their computed numbers are compared too.
    """
    begun = time.monotonic()
    program = program_from(words, module)
    go_where_it_runs("verify", program, given)
    from torchlint.cli.commands.fix_command import command as fix
    from torchlint.report.verify.verification_progress import VerificationProgress

    request = request_from(program, given, begun)
    progress = VerificationProgress(sys.stderr)
    changes = changes_from(request, options, given, progress)
    required = given["required"]
    request = replace(request, must_count=bool(required))
    result = run(request, changes, progress, yes=given["yes"])
    if required:
        from torchlint.verify.counts.requirements import held_to

        result = held_to(result, required)
    given_words = given_to(click.get_current_context(), fix)
    # Whoever runs the offered command may have nothing for the script to read.
    others = given_words.others or bool(request.stdin)
    result = replace(result, given=replace(given_words, others=others))
    report(result, given, OF_VERIFICATION)
    confirmed = result.total is not None and result.total.verdict.value == "CONFIRMED"
    if result.exit == 0 and given["require_confirmed"] and not confirmed:
        raise click.exceptions.Exit(3)
    raise click.exceptions.Exit(result.exit)

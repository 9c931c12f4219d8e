"""`torchlint rehearse`: runs the script on a GPU that is played, and counts what it would wait
for."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import click

from torchlint.cli.command import Count, WordChoice
from torchlint.cli.duration import seconds
from torchlint.cli.held_against import held_against, held_against_options
from torchlint.cli.measured_reports import OF_REHEARSAL, refuse_unwritable, report, report_options
from torchlint.cli.options import Options, rule_options
from torchlint.cli.script_options import ScriptCommand, how_it_was_run, rehearsal_options
from torchlint.cli.script_runs import agree, program_from, request_from
from torchlint.runtime.probe.played.cards import CARDS, DEFAULT

_EPILOG = """\
Examples:
  torchlint rehearse train.py                      what each step would wait for on a GPU
  torchlint rehearse train.py -- --epochs 5        with the script's own arguments
  torchlint rehearse -m pkg.train --card t4        on another card
  torchlint rehearse train.py --nproc-per-node 2   two ranks, started by torchrun
  torchlint rehearse train.py --json rehearsal.json
                                                   everything, for programs
  torchlint rehearse train.py --budget torchlint-baseline.json
                                                   in CI: fail on a new read
  torchlint check --profile rehearsal.json         what was seen, at the lines of check

No GPU is needed. The script runs unchanged on the CPU, with tensors that answer as if they were on
a GPU, for some steps. It counts where the host would wait for the GPU, what would be copied and
how, which tensors are made in the wrong place, and how many operations are ordered, line by line.
Counts are exact; nothing is timed, and no time is claimed. What torch.compile would compile runs as
it is written. The project's files stay as they are.

Exit codes:
  0  the script was rehearsed, whatever was found
  1  it does not keep to the budget
  2  wrong usage, a package is missing, or a budget or an earlier rehearsal cannot be read
  4  the script failed, or asks for what cannot be played
  6  no training or inference steps were found
  7  the time budget ran out, or the run stopped responding
  130  stopped by Ctrl-C; nothing was counted to the end
"""


@click.command("rehearse", cls=ScriptCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="SCRIPT [-- ARGS]...")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script.")
@click.option(
    "--card",
    type=WordChoice(list(CARDS)),
    default=DEFAULT,
    show_default=True,
    help="The GPU that is played: what the script is told about it, and the limits that the counts "
    "are held against.",
)
@click.option(
    "--devices",
    type=Count(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many of them each process sees.",
)
@click.option("--steps", type=Count(1), metavar="N", help="Steps that are counted. Default: 10.")
@click.option(
    "--budget-time",
    "budget",
    callback=seconds,
    default="10m",
    show_default=True,
    metavar="TIME",
    help="End after this time.",
)
@rehearsal_options
@rule_options
@held_against_options
@report_options(
    OF_REHEARSAL,
    details="Print all findings and lines.",
    json="Write everything to FILE as JSON.",
    html="Write a page with charts to FILE.",
)
@click.option("--yes", is_flag=True, help="Run the script without asking.")
def command(words: tuple[str, ...], module: str | None, options: Options, **given: Any) -> None:
    """Run the script without a GPU, and count what it would wait for on one.

    This runs your script for some steps. Each finding names a line and what it asks of the GPU on
    each step; what `torchlint check` says about the same line is named next to it.
    """
    begun = time.monotonic()
    program = program_from(words, module)
    hold = held_against(given)
    refuse_unwritable(given, program.file)
    from torchlint.cli.program_check import ProgramCheck
    from torchlint.experiment.subject import Linted
    from torchlint.rehearse.rehearsing import rehearse
    from torchlint.report.measured.progress_line import ProgressLine
    from torchlint.runtime.probe.run_settings import PlayedDevice

    progress = ProgressLine(sys.stderr)
    check = ProgramCheck(program, options, progress)
    request = request_from(program, given, begun)
    played = PlayedDevice(given["card"], given["devices"])
    waited_s = agree("rehearse", program, yes=given["yes"])
    request = replace(request, begun=begun + waited_s, played=played, device="cpu")
    with progress:
        result = rehearse(request, Linted(program, (), check.findings), progress)
    result = hold(replace(result, options=how_it_was_run(click.get_current_context())))
    report(result, given, OF_REHEARSAL)
    raise click.exceptions.Exit(result.exit)

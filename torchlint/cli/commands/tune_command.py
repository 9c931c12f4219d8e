"""`torchlint tune`: from a slow script to a faster one that was measured."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.command import Count, Share
from torchlint.cli.duration import seconds
from torchlint.cli.measured_reports import OF_TUNING, report, report_options
from torchlint.cli.options import Options, rule_options
from torchlint.cli.printing import print_diagnostics, write_report
from torchlint.cli.script_options import ScriptCommand, given_on, how_it_was_run, run_options
from torchlint.cli.script_runs import (
    NOT_MEASURED,
    agree,
    checked,
    go_where_it_runs,
    in_time,
    program_from,
    request_from,
)

if TYPE_CHECKING:
    from torchlint.experiment.request import Request
    from torchlint.fixes.fixer import FixedFile
    from torchlint.tune.earlier_tuning import EarlierTuning
    from torchlint.tune.tune_result import TuneResult

_EPILOG = """\
Examples:
  torchlint tune train.py                      try everything for 15 minutes, print what helps
  torchlint tune train.py -- --epochs 5        with the script's own arguments
  torchlint tune train.py --apply              the same, and write what is faster for certain
  torchlint tune train.py --patch fast.patch   write it as a patch, which `git apply` takes
  torchlint tune train.py --budget 5m          end earlier
  torchlint tune train.py --json t.json        write what was found, and go on later:
  torchlint tune train.py --from t.json        what did not help then is not tried again
  torchlint tune train.py --tolerance 0        keep nothing that rounds differently on purpose

It tries every fix that `check` has, hints and pedantic ones as well, and experiments that no
linter can propose: worker processes, bfloat16, `torch.compile`, fused updates, threads, and more.
What the step does not wait for is not tried. What helps is combined, what then adds nothing is left
out, the numbers are compared, and at the end all that is kept is measured together.

The script runs many times, for a few seconds each, and is then stopped. Changed sources are
served from memory; the project's files stay as they are without --apply.

Exit codes:
  0  it is faster for certain, or nothing that was tried helps
  2  wrong usage, a package is missing, or `--device cuda` and the script uses no GPU
  3  inconclusive: the machine is too noisy, or what looked faster is not certain to be
  4  the script failed
  5  the script failed with the changes that it worked with before
  6  no training or inference steps were found
  7  the time budget ran out before anything was certain
  130  stopped by Ctrl-C; the best that was known is printed
"""


@click.command("tune", cls=ScriptCommand, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="SCRIPT [-- ARGS]...")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script.")
@click.option(
    "--budget",
    callback=seconds,
    default="15m",
    show_default=True,
    metavar="TIME",
    help="End after this time (90s, 5m, 1h); what was not tried is named.",
)
@click.option(
    "--tolerance",
    type=Share(),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="How far the mean loss may move where a change computes other numbers on purpose, as "
    "bfloat16 does.",
)
@click.option(
    "--memory",
    "memory_mb",
    type=Count(1),
    metavar="MB",
    help="Reject what needs more memory: of the GPU if the script uses one, else of the process.",
)
@click.option(
    "--from",
    "earlier",
    metavar="FILE",
    help="Go on where a search ended that wrote this file with --json: what did not help there is "
    "not tried again.",
)
@click.option("--apply", is_flag=True, help="Write what is kept, if it is faster for certain.")
@click.option("--patch", "patch_file", metavar="FILE", help="The same, as a patch into FILE.")
@run_options
@rule_options
@report_options(
    OF_TUNING,
    details="Print all that was tried, and the patch.",
    json="Write everything to FILE as JSON.",
    html="Write a page with charts to FILE.",
)
@click.option("--yes", is_flag=True, help="Run the script without asking.")
def command(words: tuple[str, ...], module: str | None, options: Options, **given: Any) -> None:
    """Try what may make the script faster, and keep what does.

    This runs your script, with and without each change. It ends with what is faster together, by
    how much, whether the numbers stay right, and what did not help.
    """
    begun = time.monotonic()
    program = program_from(words, module)
    go_where_it_runs("tune", program, given)
    from torchlint.cli.tune_candidates import TuneCandidates
    from torchlint.report.tune.tune_progress import TuneProgress
    from torchlint.tune.tuning import tune

    progress = TuneProgress(sys.stderr)
    request = _as_it_is_run(request_from(program, given, begun))
    earlier = _earlier(given["earlier"], request)
    bench = in_time(request, TuneCandidates(program, options, progress).workbench)
    request = replace(request, begun=request.begun + agree("tune", program, yes=given["yes"]))
    with progress:
        result, files = tune(
            request,
            bench,
            progress,
            memory_mb=given["memory_mb"],
            earlier=earlier,
        )
    context = click.get_current_context()
    result = replace(
        result, given=_searched_with(context), how=_measured_with(context, result, request)
    )
    result, code = _written(result, files, given)
    report(result, given, OF_TUNING)
    raise click.exceptions.Exit(code or result.exit)


def _searched_with(context: click.Context) -> tuple[str, ...]:
    """The options on the command line that decide what is searched, and the file to go on from."""
    searched = tuple(
        word
        for name, options in given_on(context)
        if name not in NOT_MEASURED and name not in ("patch_file", "earlier")
        for word in options
    )
    finished = context.params["json_file"] or context.params["earlier"]
    return (*searched, "--from", finished) if finished else searched


def _measured_with(context: click.Context, result: TuneResult, request: Request) -> tuple[str, ...]:
    """The options with which `verify` measures a patch as the search did."""
    from torchlint.verify.result import Agreement

    how = how_it_was_run(context, checked=False)
    if request.threads is not None and "--threads" not in how:
        how += ("--threads", str(request.threads))
    numerics = result.total.numerics if result.total is not None else None
    if numerics is not None and numerics.agreement is Agreement.DECLARED:
        how += ("--tolerance", f"{request.tolerance:g}")
    return how


def _earlier(path: str | None, request: Request) -> EarlierTuning | None:
    from torchlint.tune.earlier_tuning import earlier_tuning

    return None if path is None else checked(lambda: earlier_tuning(path, request.program))


def _as_it_is_run(request: Request) -> Request:
    """With as many threads as torch takes by itself: to leave some out is one of the changes."""
    from torchlint.workers.pool import processors

    if request.threads is not None or request.keep_env:
        return request
    return replace(request, threads=max(1, processors() // request.nproc))


def _written(
    result: TuneResult, files: tuple[FixedFile, ...], given: dict[str, Any]
) -> tuple[TuneResult, int]:
    """Write what is kept, as it was asked for; the result says what was written. The code is 2 if a
    file could not be."""
    from torchlint.files.diffs import unified
    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import apply

    written: list[str] = []
    written_patch = ""
    failed: tuple[Diagnostic, ...] = ()
    if files and given["patch_file"]:
        patch = b"".join(unified(each.path, each.before, each.after) for each in files)
        try:
            write_report(given["patch_file"], patch)
            written_patch = given["patch_file"]
            written.append(written_patch)
        except click.ClickException as error:  # the result is not lost for it
            failed = (Diagnostic(given["patch_file"], error.message, kind="write"),)
    if files and given["apply"]:
        failed += apply(files)
        written += sorted({each.path for each in files} - {each.path for each in failed})
    print_diagnostics(failed)
    notes = result.notes
    if given["patch_file"] and not files:
        why = "the search was stopped" if result.is_faster else "nothing is faster for certain"
        notes += (f"{given['patch_file']} is not written: {why}.",)
    result = replace(result, written=tuple(written), patch=written_patch, notes=notes)
    return result, 2 if failed else 0

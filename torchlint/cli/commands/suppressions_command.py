"""`torchlint suppressions`: lists what silences findings."""

from __future__ import annotations

import os
import sys

import click

from torchlint.cli.checking import check
from torchlint.cli.command import Command
from torchlint.cli.options import Options, cache_options, output_format, tree_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import paint_for, print_diagnostics, print_lines
from torchlint.cli.resources import store_from


@click.command("suppressions", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--baseline",
    metavar="FILE",
    help="The baseline. Default: the one that the configuration names, else "
    "torchlint-baseline.json.",
)
@tree_options
@cache_options
@output_format("text", "json")
def command(
    paths: tuple[str, ...], baseline: str | None, options: Options, output_format: str
) -> None:
    """List what silences findings, and what has ended.

    Comments, per-file-ignores and entries of a baseline silence findings. PATHS are files and
    folders; the default is this folder. The files are checked, to know what is unused. Nothing is
    executed.

    \f
    Examples:
      torchlint suppressions                          everything in this folder
      torchlint suppressions src | grep ended         what has ended
      torchlint suppressions | grep unused            what can be removed
      torchlint suppressions --output-format json     for programs

    A line for each, with its rules, its end and its reason:
      ignore, ignore-file, disable   comments: `# torchlint: ignore[TL201] until=2027-01-31
                                     -- reason`
      noqa                           `# noqa: TL201`
      per-file-ignores               patterns of the configuration
      baseline                       entries of the baseline

      ended     its last day has passed, and its findings are reported again
      unused    it certainly silences nothing; `torchlint fix --apply` removes such comments, and
                `torchlint baseline prune` such entries
      invalid   it silences nothing, since it cannot be read; `torchlint check` says why

    Pass the same PATHS as to `check`.

    Exit codes: 0, or 2 for a file that cannot be read or parsed.
    """
    from torchlint.config.folders import Configs
    from torchlint.report import silence_list as report
    from torchlint.silence import listed
    from torchlint.silence.baseline_file import NAME
    from torchlint.silence.baselines import Baselines, CheckScope

    if "-" in paths:
        raise click.UsageError("`suppressions` reads files; name a path instead of `-`.")
    options.hints = True  # a baseline may have entries for them
    store = store_from(options)
    plan = plan_from(paths, options, store.rule_names)
    checked = check(plan, options, store)
    if baseline is None and not plan.baselines and os.path.lexists(NAME):
        baseline = NAME
    sound = not checked.diagnostics
    scope = CheckScope(plan.targets, options.wanted, store.rule_names(), sound)
    baselines = Baselines(plan.targets, plan.baselines, baseline)
    configs = Configs(file=options.config, isolated=options.isolated)
    comments = [
        *listed.listed_comments(plan.targets, checked.findings),
        *listed.listed_settings(plan.targets, configs, paths or (".",)),
    ]
    for each, coverage in baselines.compare(checked.findings, scope):
        comments += listed.listed_entries(each, coverage)
    comments.sort(key=lambda each: each.place)
    if output_format == "json":
        print_lines([report.as_json(comments)])
    else:
        print_lines(report.render(comments, paint_for(sys.stdout)))
    print_diagnostics(checked.diagnostics)
    if checked.diagnostics:
        raise click.exceptions.Exit(2)

"""`torchlint hot`: shows what runs on each training step."""

from __future__ import annotations

import sys

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, output_format, tree_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import paint_for, print_diagnostics, print_lines
from torchlint.cli.resources import pool_from


@click.command("hot", cls=Command)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@tree_options
@output_format("text", "json")
def command(paths: tuple[str, ...], options: Options, output_format: str) -> None:
    """Show what runs on each training step, and why.

    PATHS are files and folders; the default is this folder. Nothing is executed. Rules that the
    configuration switches off make no difference.

    \f
    Examples:
      torchlint hot                          everything in this folder
      torchlint hot train.py models          these files as one project
      torchlint hot --output-format json     for programs

    A block per file: its training loops and the functions that a framework calls on each step, and
    below them the calls into the project, with the line of each. A call is followed (→ function),
    or a reason says why not:
      not on each step   a condition such as `if step % 100 == 0`
      evaluation         `model.eval()`, `torch.no_grad()` around a loop, the name of a function
      likely             `forward` of a model that no call was found for; findings there are hints
      unknown            nothing shows what a parameter is that is called

    If a loop of yours is missing here, findings in it are missing too: check the folder that the
    training script is in, so that torchlint sees who calls whom. `torchlint why FILE:LINE` explains
    one line.

    Exit codes: 0, or 2 for a file that cannot be read or parsed.
    """
    from torchlint.explain.hot import hot_tree
    from torchlint.report import hot_report as report
    from torchlint.report.terminal.file_counter import FileCounter

    if "-" in paths:
        raise click.UsageError("`hot` reads files; name a path instead of `-`.")
    options.select = ("ALL",)
    plan = plan_from(paths, options)
    with FileCounter(sys.stderr) as progress:
        tree = hot_tree(plan.targets, pool=pool_from(options), progress=progress)
    if output_format == "json":
        print_lines([report.as_json(tree)])
    else:
        print_lines(report.render(tree, paint_for(sys.stdout)))
    diagnostics = sorted({*plan.diagnostics, *tree.diagnostics}, key=lambda each: each.sort_key)
    print_diagnostics(diagnostics)
    if diagnostics:
        raise click.exceptions.Exit(2)

"""`torchlint why`: explains why rules did or did not report a line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, cache_options, output_format, tree_options
from torchlint.cli.planning import plan_from
from torchlint.cli.printing import paint_for, print_diagnostics, print_lines
from torchlint.cli.resources import pool_from, store_from
from torchlint.config.settings import ConfigError
from torchlint.explain.place import place_in, which_cell
from torchlint.files.reading import SourceError
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.explain.why import Explanation
    from torchlint.finding import Position
    from torchlint.project.target import Target


@click.command("why", cls=Command)
@click.argument("place", metavar="FILE:LINE")
@click.argument("rule", required=False, metavar="[CODE|NAME]")
@click.option("--project", metavar="PATH", help="The file or folder with what may call it.")
@click.option(
    "--profile",
    "profile_file",
    metavar="FILE",
    help="Say what `check --profile` does with this file of `torchlint rehearse --json`.",
)
@tree_options
@cache_options
@output_format("text", "json")
def command(
    place: str,
    rule: str | None,
    project: str | None,
    profile_file: str | None,
    options: Options,
    output_format: str,
) -> None:
    """Explain why rules did or did not report a line.

    Each rule that looks at something on the line says what decided, and what would change it. With
    a rule, that one answers in any case, and says which lines of the file it looks at. Your code is
    not executed.

    \f
    Examples:
      torchlint why train.py:42                  every rule that came close to reporting line 42
      torchlint why train.py:42 TL201            this rule, whatever it decided
      torchlint why lab.ipynb:3:12 TL201         line 12 of the third code cell
      torchlint why src/engine.py:42 --project . with the callers in this folder
      torchlint why train.py:42 --profile r.json what a rehearsal has seen there

    A rule about code that runs on each step depends on who calls a function. `why` reads the
    current folder as one project, or the folder of the file if that is elsewhere; --project names
    another one. `torchlint hot` shows the calls.

    Exit codes: 0, or 2 for wrong usage or a file that cannot be read or parsed.
    """
    from torchlint.cli.commands.rule_command import find
    from torchlint.explain.why import explain
    from torchlint.report import why_report as report
    from torchlint.report.terminal.file_counter import FileCounter
    from torchlint.ruleapi.registry import all_rules

    path, position = _place(place)
    add_reasons = _adding_reasons(profile_file, path, position)
    rules = list(all_rules().values()) if rule is None else [find(rule)]
    around = project or ("." if _is_below(path, ".") else os.path.dirname(path) or ".")
    store = store_from(options)
    plan = plan_from((around, path), options, store.rule_names)
    target = _target(path, plan.targets)
    try:
        with FileCounter(sys.stderr) as progress:
            explanation = explain(
                target,
                position,
                rules,
                plan.targets,
                pool=pool_from(options),
                progress=progress,
                store=store,
            )
    except SourceError as error:
        print_diagnostics([error.diagnostic])
        raise click.exceptions.Exit(2) from None
    explanation = add_reasons(explanation)
    if output_format == "json":
        print_lines([report.as_json(explanation, place)])
    else:
        paint = paint_for(sys.stdout)
        print_lines(report.render(explanation, place, paint, all_rules=rule is not None))
    print_diagnostics([*plan.diagnostics, *explanation.diagnostics])
    if plan.diagnostics or explanation.diagnostics:
        raise click.exceptions.Exit(2)


def _adding_reasons(
    profile_file: str | None, path: str, position: Position
) -> Callable[[Explanation], Explanation]:
    """A function that adds to the answers for a line what a rehearsal says about it.

    Raises:
        click.ClickException: the rehearsal cannot be used.
    """
    if profile_file is None:
        return lambda found: found
    from torchlint.cli.ceilings import read_profile, with_reasons

    profile = read_profile(profile_file)
    if position.cell is not None:  # a rehearsal knows nothing of cells
        return lambda found: found
    return lambda found: with_reasons(found, profile, path, position.row)


def _place(text: str) -> tuple[str, Position]:
    """The file and the line that the user means.

    Raises:
        click.ClickException: it is not of that form, or there is no such file.
    """
    try:
        path, position = place_in(text)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    if not os.path.isfile(path):
        raise click.UsageError(f"There is no file `{path}`.")
    if position is not None:
        return path, position
    try:
        lines = which_cell(text)
    except SourceError as error:
        print_diagnostics([error.diagnostic])
        raise click.exceptions.Exit(2) from None
    for line in (f"Error: {lines[0]}", *lines[1:]):
        click.echo(visible(line), err=True)
    raise click.exceptions.Exit(2)


def _target(path: str, targets: Iterable[Target]) -> Target:
    """The file with the rules that are on for it, under the name that it has among these, such as
    `../train.py`.

    Raises:
        click.ClickException: it is not one that torchlint checks.
    """
    real = os.path.realpath(path)
    for target in targets:
        if os.path.realpath(target.path) == real:
            return target
    raise click.UsageError(f"torchlint does not check `{path}`; name a .py or .ipynb file.")


def _is_below(path: str, folder: str) -> bool:
    above = os.path.join(os.path.realpath(folder), "")
    return os.path.realpath(path).startswith(above)

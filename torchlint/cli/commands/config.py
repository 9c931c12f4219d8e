"""`torchlint config`: the effective settings and their origins."""

from __future__ import annotations

import sys

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, output_format, rule_options
from torchlint.cli.printing import paint_for, print_lines
from torchlint.cli.targets import wishes_from

_EPILOG = """\b
Examples:
  torchlint config                           for this folder
  torchlint config src/train.py              for a file, with the per-file-ignores that hit it
  torchlint config --select TL2 train.py     what a command line would make of it
  torchlint config --output-format json      the same for programs

\b
The nearest pyproject.toml with [tool.torchlint], or torchlint.toml, at or above the folder of a
file holds for it, and no other; options of the command line go before it. target-torch comes
from the project's requirements where nothing says it.

\b
Exit codes: 0, or 2 for a configuration that cannot be used.
"""


@click.command("config", cls=Command, epilog=_EPILOG)
@click.argument("path", default=".", metavar="[PATH]")
@rule_options
@output_format("text", "json")
def command(path: str, options: Options, output_format: str) -> None:
    """Say which settings and rules are in force for PATH, and where each comes from."""
    from torchlint.config.settings import ConfigError
    from torchlint.engine.effective_settings import in_force
    from torchlint.engine.targets import rule_names
    from torchlint.report import effective_settings as report

    try:
        found = in_force(path, wishes_from(options), rule_names())
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    if output_format == "json":
        print_lines([report.as_json(found)])
    else:
        print_lines(report.render(found, paint_for(sys.stdout)))

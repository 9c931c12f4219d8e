"""`torchlint config`: which settings apply, and where they come from."""

from __future__ import annotations

import os
import sys

import click

from torchlint.cli.command import Command
from torchlint.cli.options import Options, output_format, rule_options
from torchlint.cli.planning import wishes_from
from torchlint.cli.printing import paint_for, print_lines
from torchlint.report.terminal.safe_text import visible_path


@click.command("config", cls=Command)
@click.argument("path", default=".", metavar="[PATH]")
@rule_options
@output_format("text", "json")
def command(path: str, options: Options, output_format: str) -> None:
    """Show which settings and rules apply to PATH, and why.

    \f
    Examples:
      torchlint config                           for this folder
      torchlint config src/train.py              for a file, including its per-file-ignores
      torchlint config --select TL2 train.py     together with options of `check`
      torchlint config --output-format json      for programs

    For each file, only the nearest pyproject.toml with [tool.torchlint], or torchlint.toml, in its
    folder or above applies. Options on the command line override it. If target-torch is not set, it
    comes from the project's requirements.

    Exit codes: 0, or 2 for a path that does not exist or a configuration that cannot be used.
    """
    from torchlint.config.settings import ConfigError
    from torchlint.engine.effective_settings import effective_settings
    from torchlint.files.discover import why_unreadable
    from torchlint.report import settings_report as report
    from torchlint.ruleapi.rule_names import rule_names

    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{visible_path(path)}: {why_unreadable(error)}") from None
    try:
        settings = effective_settings(path, wishes_from(options), rule_names())
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    if output_format == "json":
        print_lines([report.as_json(settings)])
    else:
        print_lines(report.render(settings, paint_for(sys.stdout)))

"""The command line: parses words, calls the library, renders. Each command loads when called."""

from __future__ import annotations

import importlib
import os
from typing import Final

import click

from torchlint.cli.command import Command, show_version

COMPLETES: Final = "_TORCHLINT_COMPLETE"
"""Set by the scripts of `torchlint completion`, which start torchlint to complete a word."""
_COMMANDS: Final = (
    "baseline", "check", "clean", "completion", "config", "fix", "hot", "mcp", "profile",
    "rehearse", "rule", "server", "suppressions", "tune", "verify", "why",
)  # fmt: skip


class LazyGroup(Command, click.Group):
    """Imports a command's module when the command is asked for, so that start-up stays short."""

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"torchlint.cli.commands.{cmd_name}_command").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and _is_path(args[0]):
            ctx.fail(f"`{args[0]}` is a path; write `torchlint check {args[0]}`.")
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from torchlint.config.settings import nearest

            hint = nearest(args[0], _COMMANDS, f"; the commands are {', '.join(_COMMANDS)}")
            ctx.fail(f"There is no command `{args[0]}`{hint}.")
        return super().resolve_command(ctx, args)


def _is_path(word: str) -> bool:
    return os.path.lexists(word) or word.endswith((".py", ".ipynb", "/"))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
Examples:
  torchlint check train.py          report what makes this script slow
  torchlint fix train.py            print the fixes as a diff; add --apply to write them
  torchlint verify train.py         run the script, and measure what each fix is worth
  torchlint tune train.py           try what may make it faster, and keep what does
  torchlint profile train.py        run the script, and say what its step waits for
  torchlint rehearse train.py       the same for a GPU that is not there, in counts
  torchlint hot train.py            show what runs on each training step
  torchlint why train.py:42         explain why a rule did or did not report a line
  torchlint rule TL201              explain a rule, and what its fix may change
  torchlint config train.py         show which settings apply, and where they come from
  torchlint suppressions            list what silences findings, and what has ended
  torchlint server                  show findings in an editor while you type
  torchlint mcp                     answer a coding assistant

Exit codes: 0 nothing found, 1 findings (or a diff to apply), 2 an error; `torchlint verify --help`
lists those of verify.""",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=show_version,
    help="Show the version and exit.",
)
def torchlint() -> None:
    """torchlint finds what makes PyTorch training code slow, fixes it, and measures the fixes.

    Only `verify`, `profile`, `rehearse`, `tune` and `fix --verified` run your code.
    """

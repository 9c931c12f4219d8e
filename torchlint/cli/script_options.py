"""What the commands that run a script have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from torchlint.cli.command import Command, Count, WordChoice, together
from torchlint.cli.duration import seconds, spelt
from torchlint.cli.launching import launch_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[..., Any]


_HOW: Final = frozenset(
    "nproc launcher nnodes node_rank shared slurm_options queue_time threads device seed "
    "keep_env".split()
)
"""Parameters of options that a command which goes on from here needs as well."""
_CHECKED: Final = frozenset(("config", "isolated", "target_torch"))
"""The same, if it checks the script."""
_CLOSE: Final = 0.8
"""How alike an option is that was meant; another one is the script's."""


class ScriptCommand(Command):
    """Says where the script's own arguments go, if one of them is taken for ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if all(word.startswith("-") for word in args):
                raise
            from difflib import get_close_matches

            close = get_close_matches(error.option_name, error.possibilities or (), 1, _CLOSE)
            near = f" Did you mean {close[0]}?" if close else ""
            message = (
                f"No such option {error.option_name}.{near} The script's own arguments go after --."
            )
            raise click.UsageError(message, ctx) from None


_processes_options = together(
    click.option(
        "--threads",
        type=Count(1),
        metavar="N",
        help="Number of torch threads in each run. Default: half of the processors, all in `tune`.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seeds runs and their order."
    ),
    click.option(
        "--keep-env",
        is_flag=True,
        help="Keep the environment's memory allocator settings and threads.",
    ),
)
rehearsal_options = together(
    click.option(
        "--nproc-per-node",
        "nproc",
        type=Count(1),
        default=1,
        metavar="N",
        help="Start the script through torchrun with N processes, each with a GPU of its own.",
    ),
    _processes_options,
)
"""Adds the options that say how a script is rehearsed, on this machine alone."""
run_options = together(
    launch_options,
    click.option(
        "--device",
        type=WordChoice(["auto", "cpu", "cuda"]),
        default="auto",
        show_default=True,
        help="The device to measure; auto takes the one that the script uses.",
    ),
    _processes_options,
)
"""Adds the options that say how a script is run."""


def how_it_was_run(ctx: click.Context, *, checked: bool = True) -> tuple[str, ...]:
    """The words of the options that the user gave to say how the script is run and checked, as
    another command that runs scripts takes them.

    Args:
        checked: that command checks the script too.
    """
    wanted = _HOW | _CHECKED if checked else _HOW
    return tuple(word for name, words in given_on(ctx) if name in wanted for word in words)


def given_on(ctx: click.Context) -> Iterator[tuple[str, list[str]]]:
    """The parameters that the user gave on the command line, and the words of each, as a shell
    takes them."""
    for param in ctx.command.params:
        name = str(param.name)
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE and name in ctx.params:
            yield name, list(_words(param, ctx.params[name]))


def _words(param: click.Parameter, value: object) -> Iterator[str]:
    option = param.opts[0]
    if value is True:
        yield option
        return
    if isinstance(value, tuple):
        if isinstance(param, click.Option) and param.multiple and param.callback is None:
            values = [str(each) for each in value]
        else:
            values = [("." if param.name == "target_torch" else ",").join(map(str, value))]
    else:
        said = spelt if param.callback is seconds else "{:g}".format
        values = [said(value) if isinstance(value, float) else str(value)]
    for text in values:
        yield from [f"{option}={text}"] if text.startswith("-") else [option, text]

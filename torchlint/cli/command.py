"""Commands with their own `--help` and `--color`.

Click would translate these texts and load `locale` for it at each start, which takes a tenth of the
time of a fully cached check.
"""

from __future__ import annotations

import math
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from torchlint.config.settings import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class Command(click.Command):
    """A command with its own `--help` and `--color`, which ends with what it cannot use.

    Its docstring is its help. Below a form feed in it are examples, exit codes and some prose,
    which `--help` prints below the options.
    """

    _help: click.Option | None = None
    _color: click.Option | None = None

    def __init__(self, *words: Any, **attributes: Any) -> None:
        super().__init__(*words, **attributes)
        self.epilog = self.epilog or cleandoc(self.help or "").partition("\f")[2]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if self._color is None:
            self._color = click.Option(
                ["--color"],
                type=WordChoice(("auto", "always", "never")),
                expose_value=False,
                is_eager=True,
                callback=_set_colour,
                help="Colour; auto follows the terminal, NO_COLOR and FORCE_COLOR (default).",
            )
        *params, last = super().get_params(ctx)
        return [*params, self._color, last]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            raise click.ClickException(str(error)) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            from torchlint.cli.epilog import write

            write(self.epilog, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if self._help is None and names:
            self._help = click.Option(
                names,
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_show_help,
                help="Show this message and exit.",
            )
        return self._help


class WordChoice(_Choice):
    """One of several words; an unknown word gets the most similar one as a suggestion."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from torchlint.config.settings import nearest

            hint = nearest(str(value), [str(each) for each in self.choices])
            self.fail(f"{error.message.rstrip('.')}{hint}.", param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"Choose from {', '.join(map(str, self.choices))}."


class Count(click.IntRange):
    """A whole number that is not too small."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f'"{value}" is not a whole number from {self.min} up; give one.', param, ctx)


class Share(click.FloatRange):
    """A number from 0 to 1."""

    name = "share"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            share = super().convert(value, param, ctx)
        except click.BadParameter:
            share = math.nan
        if math.isnan(share):
            self.fail(f'"{value}" is not a number from 0 to 1; give one.', param, ctx)
        return share


def refused(option: str, why: str, *, is_flag: bool = False) -> Callable[[Function], Function]:
    """Adds a hidden option that the command does not have; it says what to use instead."""

    def refuse(ctx: click.Context, _param: click.Parameter, value: object) -> None:
        if value:
            ctx.fail(why)

    return click.option(option, is_flag=is_flag, hidden=True, expose_value=False, callback=refuse)


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Adds several options to a command, in this order."""

    def add(command: Function) -> Function:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _set_colour(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.color = {"always": True, "never": False}.get(value)


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    """The callback of `--version`."""
    if wanted and not ctx.resilient_parsing:
        from torchlint.version import __version__

        click.echo(f"torchlint {__version__}")
        ctx.exit()

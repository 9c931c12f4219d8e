"""Commands that say in plain English how to ask for help.

Click translates these words, and to find out that there is no translation it loads `locale` at each
start: as long as a tenth of a check that has nothing new to look at.
"""

from __future__ import annotations

import click


class Command(click.Command):
    """A command with a `--help` of its own."""

    _help: click.Option | None = None

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


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    """The callback of `--version`."""
    if wanted and not ctx.resilient_parsing:
        from torchlint import __version__

        click.echo(f"torchlint {__version__}")
        ctx.exit()

"""The options that several commands have."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.command import Choice, Count
from torchlint.config.settings import normalised, parse_torch
from torchlint.engine.tiers import Wanted
from torchlint.memory.cache import VARIABLE
from torchlint.workers.pool import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[..., None]


class Options:
    """The values of the shared options.

    Args:
        values: those of all options of a command; the shared ones are removed from it.
    """

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    hints: bool
    pedantic: bool
    target_torch: tuple[int, int] | None
    config: str | None
    isolated: bool
    stdin_filename: str | None
    jobs: int | None
    require_reason: bool
    cache_dir: str | None
    no_cache: bool
    backend: str | None
    cluster: str | None

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.__annotations__:
            setattr(self, name, values.pop(name, None))

    @property
    def wanted(self) -> Wanted:
        """The tiers to show."""
        return Wanted(hints=self.hints, pedantic=self.pedantic)


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> object:
    return normalised(entry for value in values for entry in value.split(","))


def _torch(_ctx: click.Context, _param: click.Parameter, value: str | None) -> object:
    if value is None:
        return None
    version = parse_torch(value)
    if version is None:
        raise click.BadParameter(f'"{value}" is not a version; write one such as 2.1.')
    return version


_CONFIGURATION = (
    click.option("--config", metavar="FILE", help="Use this configuration file and no other."),
    click.option("--isolated", is_flag=True, help="Use no configuration file at all."),
)
DEBUG = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
_RULES = (
    click.option(
        "--select",
        multiple=True,
        metavar="RULES",
        callback=_codes,
        help="Only these rules: codes (TL201), families (TL2), names (item-in-step-loop) or ALL; "
        "separated by commas or repeated.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULES",
        callback=_codes,
        help="Not these rules. Between --select and --ignore the closer word wins, so "
        "`--select TL201 --ignore TL2` leaves TL201 on.",
    ),
    click.option("--hints", is_flag=True, help="Also findings that may not cost anything."),
    click.option(
        "--pedantic",
        is_flag=True,
        help="Also findings that matter to few; a pedantic rule selected by code shows anyway.",
    ),
    click.option(
        "--target-torch",
        metavar="VERSION",
        callback=_torch,
        help="The oldest torch the code must work with, such as 2.1. Default: from the project's "
        "requirements, else the newest.",
    ),
    *_CONFIGURATION,
    click.option(
        "--jobs",
        type=Count(min=1),
        metavar="N",
        help="Processes that read the project. Default: one per processor.",
    ),
    DEBUG,
)
_OF_CHECKS = (
    click.option(
        "--require-reason",
        is_flag=True,
        help="Report suppression comments that do not say why, as in `ignore[TL201] -- reason`.",
    ),
    click.option(
        "--stdin-filename",
        metavar="FILE",
        help="With `-`: the name to show and to find the configuration by.",
    ),
)
_CACHE = (
    click.option(
        "--cache-dir",
        metavar="DIR",
        help=f"Keep what was found here. Default: ${VARIABLE}, else the user's cache folder.",
    ),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep what was found."),
)
_CLUSTER = (
    click.option(
        "--backend",
        type=Choice(BACKENDS),
        help="Read the files on a Dask or Ray cluster; worth it for very large trees only.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="With --backend: where it is. Default: $DASK_SCHEDULER_ADDRESS or $RAY_ADDRESS, "
        "else a cluster on this machine for the while.",
    ),
)


def selection_options(command: Function) -> Function:
    """Adds the options that say what to look at; the command gets all shared ones as `options`."""
    return _with_options(_bundled(command), (*_RULES, *_OF_CHECKS))


def rule_options(command: Function) -> Function:
    """The same without the options of `check` and `fix` alone."""
    return _with_options(_bundled(command), _RULES)


def server_options(command: Function) -> Function:
    """The same for a server, which gets all other options from its editor."""
    return _with_options(_bundled(command), (*_CONFIGURATION, *_CACHE, DEBUG))


def cache_options(command: Function) -> Function:
    """Adds the options that say where results are remembered; goes below one of the others."""
    return _with_options(command, _CACHE)


def cluster_options(command: Function) -> Function:
    """Adds the options that share the work with other machines; goes below one of the others."""
    return _with_options(command, _CLUSTER)


def _bundled(command: Function) -> Function:
    @functools.wraps(command)
    def bundled(**values: object) -> None:
        command(options=Options(values), **values)

    return bundled


def _with_options(command: Function, added: Sequence[Callable[[Function], Function]]) -> Function:
    """The command with these options, in this order in its help."""
    for option in reversed(added):
        command = option(command)
    return command


def output_format(*formats: str) -> Callable[[Function], Function]:
    """Adds `--output-format`; the first format is the default."""
    return click.option(
        "--output-format",
        type=Choice(formats),
        default=formats[0],
        show_default=True,
        help="How to print.",
    )

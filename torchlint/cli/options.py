"""The options that several commands have."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import click

from torchlint.cli.command import Count, WordChoice
from torchlint.config.settings import normalised, parse_torch
from torchlint.memory.cache import VARIABLE
from torchlint.silence.tiers import Wanted
from torchlint.workers.pool import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[..., None]


_EMPTY: Final[dict[str, object]] = {"select": (), "ignore": ()}
"""What options hold that a command does not have, if that is not None."""


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
    quiet: bool
    backend: str | None
    cluster: str | None

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.__annotations__:
            setattr(self, name, values.pop(name, _EMPTY.get(name)))

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
_JOBS = click.option(
    "--jobs",
    type=Count(min=1),
    metavar="N",
    help="Number of worker processes. Default: one per processor.",
)
DEBUG = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
_RULES = (
    click.option(
        "--select",
        multiple=True,
        metavar="RULES",
        callback=_codes,
        help="Use only these rules: codes (TL201), families (TL2), names (item-in-step-loop) or "
        "ALL; separated by commas or repeated.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULES",
        callback=_codes,
        help="Skip these rules. The more specific of --select and --ignore wins, so "
        "`--select TL201 --ignore TL2` keeps TL201 on.",
    ),
    click.option("--hints", is_flag=True, help="Include hints (cost is likely but not certain)."),
    click.option(
        "--pedantic",
        is_flag=True,
        help="Include pedantic findings (small or rare gains); a rule that is selected by code is "
        "always included.",
    ),
    click.option(
        "--target-torch",
        metavar="VERSION",
        callback=_torch,
        help="The oldest torch version that the code must work with, such as 2.1. Default: from "
        "the project's requirements, else the newest.",
    ),
    *_CONFIGURATION,
    _JOBS,
    DEBUG,
)
_OF_CHECKS = (
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        help="Print findings or the diff, and errors, but nothing else.",
    ),
    click.option(
        "--require-reason",
        is_flag=True,
        help="Report suppression comments without a reason, as in `ignore[TL201] -- reason`.",
    ),
    click.option(
        "--stdin-filename",
        metavar="FILE",
        help="With `-`: the file name for messages and for finding the configuration.",
    ),
)
_CACHE = (
    click.option(
        "--cache-dir",
        metavar="DIR",
        help=f"Keep the cache here. Default: ${VARIABLE}, else the user's cache folder.",
    ),
    click.option("--no-cache", is_flag=True, help="Do not use a cache."),
)
_CLUSTER = (
    click.option(
        "--backend",
        type=WordChoice(BACKENDS),
        help="Check the files on a Dask or Ray cluster; only worth it for very large trees.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="With --backend: the address. Default: $DASK_SCHEDULER_ADDRESS or $RAY_ADDRESS, else "
        "a temporary cluster on this machine.",
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


def tree_options(command: Function) -> Function:
    """Adds the options that say which files there are, for commands about no particular rules."""
    return _with_options(_bundled(command), (*_CONFIGURATION, _JOBS, DEBUG))


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
        type=WordChoice(formats),
        metavar="FORMAT",
        default=formats[0],
        show_default=True,
        help=f"The format of the output: {', '.join(formats[:-1])} or {formats[-1]}.",
    )

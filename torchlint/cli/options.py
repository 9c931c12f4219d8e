"""Options that commands share, and how their words become values."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from torchlint.cli.command import Choice, Count
from torchlint.config.settings import ConfigError, normalised, parse_torch
from torchlint.engine.targets import Plan, Wishes, plan, plan_text, rule_names
from torchlint.files.reading import most_bytes
from torchlint.memory.cache import VARIABLE, Cache, default_root, refusal
from torchlint.memory.store import Store
from torchlint.report.terminal.safe_text import visible
from torchlint.workers.pool import BACKENDS, Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Command = Callable[..., None]


class Words:
    """What the shared options say.

    Args:
        values: of all options; those that are not shared are left there.
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

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.__annotations__:
            setattr(self, name, values.pop(name, None))


def _codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> object:
    return normalised(entry for value in values for entry in value.split(","))


def _torch(_ctx: click.Context, _param: click.Parameter, value: str | None) -> object:
    if value is None:
        return None
    version = parse_torch(value)
    if version is None:
        raise click.BadParameter(f'"{value}" is not a version; write one such as 2.1.')
    return version


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
    click.option("--config", metavar="FILE", help="Use this configuration file and no other."),
    click.option("--isolated", is_flag=True, help="Use no configuration file."),
    click.option(
        "--jobs",
        type=Count(min=1),
        metavar="N",
        help="Number of worker processes. Default: one per processor.",
    ),
    click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks."),
)
_OF_CHECKS = (
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
        type=Choice(BACKENDS),
        help="Check the files on a Dask or Ray cluster; only worth it for very large trees.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="With --backend: the address. Default: $DASK_SCHEDULER_ADDRESS or $RAY_ADDRESS, else "
        "a temporary cluster on this machine.",
    ),
)


def selection_options(command: Command) -> Command:
    """Adds the options that say what to look at; `command` gets them as `words`."""
    return _with_words(command, (*_RULES, *_OF_CHECKS))


def rule_options(command: Command) -> Command:
    """The same without those for text from standard input."""
    return _with_words(command, _RULES)


def _with_words(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    @functools.wraps(command)
    def with_words(**values: object) -> None:
        command(words=Words(values), **values)

    return _with_options(with_words, options)


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with these options, in this order in its help."""
    for option in reversed(options):
        command = option(command)
    return command


def output_format(*formats: str) -> Callable[[Command], Command]:
    """Adds `--output-format`; the first format is the default."""
    return click.option(
        "--output-format",
        type=Choice(formats),
        default=formats[0],
        show_default=True,
        help="The format of the output.",
    )


def plan_from(
    paths: tuple[str, ...], words: Words, names: Callable[[], Mapping[str, str]] = rule_names
) -> Plan:
    """The files that the command line means.

    Args:
        names: gives the name of every rule by its code.

    Raises:
        click.ClickException: the words contradict each other, name a rule that does not exist,
            or a configuration file that cannot be used.
    """
    wishes = wishes_from(words)
    try:
        if "-" not in paths:
            if words.stdin_filename is not None:
                raise click.UsageError("--stdin-filename needs `-` as the path.")
            return plan(paths or (".",), wishes, names)
        if len(paths) > 1:
            raise click.UsageError("`-` reads standard input; give no other path with it.")
        data = _standard_input(most_bytes(words.stdin_filename or ""))
        return plan_text(data, words.stdin_filename, wishes, names)
    except ConfigError as error:
        raise config_error(error) from None


def wishes_from(words: Words) -> Wishes:
    """What the command line says.

    Raises:
        click.UsageError: the words contradict each other.
    """
    if words.config is not None and words.isolated:
        raise click.UsageError("--config and --isolated exclude each other; give one of them.")
    select, target = words.select or None, words.target_torch
    demand = bool(words.require_reason)
    return Wishes(
        select, words.ignore, target, words.config, isolated=words.isolated, require_reason=demand
    )


def config_error(error: ConfigError) -> click.ClickException:
    """The error with the file that it is about."""
    place = f"{error.path}: " if error.path else ""
    return click.ClickException(place + error.message)


def _standard_input(most: int) -> bytes:
    """
    Raises:
        click.ClickException: it is more bytes than a file may have. Half of it would be worse than
            nothing, since `fix` hands back what it was given.
    """
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        limit = f"{most >> 20} MiB"
        raise click.ClickException(f"Standard input is over {limit}, too large to check.")
    return data


def pool_from(words: Words) -> Pool:
    """As many processes as asked, else one per usable processor."""
    if words.jobs is not None:
        return Pool(words.jobs)
    if hasattr(os, "sched_getaffinity"):
        return Pool(len(os.sched_getaffinity(0)))
    return Pool(os.cpu_count() or 1)


def cluster_options(command: Command) -> Command:
    """Adds the options that hand the work to other machines; `connected_pool` takes them."""
    return _with_options(command, _CLUSTER)


@contextmanager
def connected_pool(words: Words, backend: str | None, address: str | None) -> Iterator[Pool]:
    """The processes that share the work, on a cluster if one was asked for.

    Raises:
        click.ClickException: the cluster cannot be used.
    """
    pool = pool_from(words)
    if backend is None:
        if address is not None:
            raise click.UsageError("--cluster needs --backend.")
        yield pool
        return
    from torchlint.workers.clusters import ClusterError, connected

    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(connected(backend, address))
        except ClusterError as error:
            raise click.ClickException(str(error)) from None
        pool = Pool(pool.jobs, cluster)
        yield pool
    for trouble in pool.troubles:
        click.echo(visible(f"warning: {trouble}"), err=True)


def cache_options(command: Command) -> Command:
    """Adds the options that say where results are remembered; `store_from` takes them."""
    return _with_options(command, _CACHE)


def store_from(cache_dir: str | None, *, no_cache: bool = False) -> Store:
    """Where results are remembered.

    Raises:
        click.ClickException: the options contradict each other, or the folder is not a cache.
    """
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.obj, Store):
        return context.obj  # of a command that is run again and again
    return Store(cache_opener(cache_dir, no_cache=no_cache))


def cache_opener(cache_dir: str | None, *, no_cache: bool = False) -> Callable[[], Cache] | None:
    """What opens the cache on disk, or None if there is to be none.

    Raises:
        click.ClickException: as for `store_from`.
    """
    if no_cache:
        if cache_dir is not None:
            raise click.UsageError("--no-cache and --cache-dir exclude each other; give one.")
        return None
    root = cache_root(cache_dir)

    def open_cache() -> Cache:
        from torchlint.memory.cache_key import generation

        cache = Cache(root, generation(root))
        cache.sweep()
        return cache

    return open_cache


def cache_root(cache_dir: str | None) -> str:
    """The cache folder that was asked for, else the user's.

    Raises:
        click.ClickException: the folder that was asked for is something else.
    """
    if cache_dir is None:
        return default_root()
    root = os.path.abspath(cache_dir)
    reason = refusal(root)
    if reason is not None:
        raise click.ClickException(f"{cache_dir} cannot be the cache: {reason}; name another.")
    return root

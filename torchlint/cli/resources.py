"""The processes and the cache that a command uses."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from torchlint.debug import debugging
from torchlint.memory.cache import Cache, default_root, distrust, refusal
from torchlint.memory.store import Store
from torchlint.report.terminal.safe_text import visible
from torchlint.workers.pool import Pool, processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.cli.options import Options


def pool_from(options: Options) -> Pool:
    """As many processes as --jobs says, else one per usable processor."""
    # A child would keep to itself what --debug is to show.
    return Pool(processors() if options.jobs is None else options.jobs, endable=not debugging())


@contextmanager
def connected_pool(options: Options) -> Iterator[Pool]:
    """The processes that share the work, on a cluster if --backend names one.

    Raises:
        click.ClickException: the cluster cannot be used.
    """
    pool = pool_from(options)
    if options.backend is None:
        if options.cluster is not None:
            raise click.UsageError("--cluster needs --backend.")
        yield pool
        return
    from torchlint.workers.clusters import ClusterError, connected

    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(connected(options.backend, options.cluster))
        except ClusterError as error:
            raise click.ClickException(str(error)) from None
        pool = Pool(pool.jobs, cluster)
        yield pool
    for trouble in pool.troubles:
        click.echo(visible(f"warning: {trouble}"), err=True)


def store_from(options: Options) -> Store:
    """Where results are remembered.

    Raises:
        click.ClickException: the options contradict each other, or the folder is not a cache.
    """
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.obj, Store):
        return context.obj  # `--watch` keeps one for all its checks
    return Store(cache_opener(options))


def cache_opener(options: Options) -> Callable[[], Cache | None] | None:
    """A function that opens the cache on disk, or None with --no-cache.

    Raises:
        click.ClickException: as for `store_from`.
    """
    if options.no_cache:
        if options.cache_dir is not None:
            raise click.UsageError("--no-cache and --cache-dir exclude each other; give one.")
        return None
    root = cache_root(options.cache_dir)

    def open_cache() -> Cache | None:
        from torchlint.memory.cache_key import generation

        reason = distrust(root)
        if reason is not None:
            message = f"warning: the cache {root} is not used: {reason}. Remove it, or name another"
            click.echo(visible(f"{message} with --cache-dir."), err=True)
            return None
        cache = Cache(root, generation(root))
        cache.sweep()
        return cache

    return open_cache


def cache_root(cache_dir: str | None) -> str:
    """The cache folder that --cache-dir names, else the user's.

    Raises:
        click.ClickException: the named folder is not a cache.
    """
    if cache_dir is None:
        return default_root()
    root = os.path.abspath(cache_dir)
    reason = refusal(root)
    if reason is not None:
        raise click.ClickException(f"{cache_dir} cannot be the cache: {reason}; name another.")
    return root

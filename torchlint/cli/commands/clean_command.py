"""`torchlint clean`: empties the cache."""

from __future__ import annotations

import click

from torchlint.cli.command import Command
from torchlint.cli.printing import print_lines
from torchlint.cli.resources import cache_root
from torchlint.report.terminal.safe_text import plural, visible


@click.command("clean", cls=Command)
@click.option("--cache-dir", metavar="DIR", help="The cache to empty. Default: the one in use.")
def command(cache_dir: str | None) -> None:
    """Empty the cache of `check`.

    This costs only time: the next `check` looks at every file again. Entries that have not been
    used for a month are removed automatically.

    \f
    Exit codes: 0, or 2 if the folder is not a cache or cannot be emptied.
    """
    from torchlint.memory.cache import clear

    root = cache_root(cache_dir)
    try:
        count, size = clear(root)
    except (OSError, ValueError) as error:
        raise click.ClickException(visible(str(error))) from None
    print_lines([f"Removed {plural(count, 'file')}, {size / 1e6:.1f} MB, from {visible(root)}."])

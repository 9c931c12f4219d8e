"""`torchlint check --watch`: the same command after each change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from torchlint.cli.printing import print_lines
from torchlint.cli.resources import store_from
from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.cli.options import Options

_INTERRUPTED = 130


def check_on_changes(paths: tuple[str, ...], options: Options) -> NoReturn:
    """Run the command that is running, then once more after each change, until Ctrl-C.

    Raises:
        click.exceptions.Exit: always, with 130, the exit code of a program that Ctrl-C ends.
        click.ClickException: the options cannot be used, or nothing can be watched.
    """
    context = click.get_current_context()
    context.params = {**context.params, "watch": False}
    if "-" in paths:
        raise click.UsageError("--watch needs files or folders; standard input comes once.")
    if options.backend is not None:
        raise click.UsageError("--watch only works on this machine; drop --backend.")
    # One for all checks: only what has changed is parsed.
    context.obj = store_from(options)
    try:
        _watch(context, paths or (".",), options)
    except KeyboardInterrupt:
        print_lines(["Stopped watching."], err=True)
    raise click.exceptions.Exit(_INTERRUPTED)


def _watch(context: click.Context, paths: Sequence[str], options: Options) -> None:
    from torchlint.files.watching import Watched, WatchError, changes

    def look() -> Watched:
        baseline = [str(context.params["baseline"])] if context.params.get("baseline") else []
        watched = Watched(paths, file=options.config, isolated=options.isolated, others=baseline)
        count[0] = len(watched.folders)
        return watched

    count = [0]
    try:
        for changed in changes(look):
            if changed:
                click.clear()
                print_lines([_what(changed)], err=True)
            _check(context, first=not changed)
            print_lines([f"Watching {plural(count[0], 'folder')}; Ctrl-C ends."], err=True)
    except WatchError as error:
        raise click.ClickException(visible(str(error))) from None


def _check(context: click.Context, *, first: bool) -> None:
    try:
        context.command.invoke(context)
    except click.exceptions.Exit:
        pass
    except click.ClickException as error:
        if first:
            raise
        # Such as a configuration file in the middle of an edit.
        print_lines([visible(f"Error: {error.format_message()}")], err=True)
    sys.stdout.flush()


def _what(changed: Sequence[str]) -> str:
    from torchlint.files.discover import shown_path

    first = visible_path(shown_path(changed[0]))
    others = f" and {plural(len(changed) - 1, 'other')}" if len(changed) > 1 else ""
    return f"{first}{others} changed."

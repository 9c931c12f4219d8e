"""The files that a command line means, with their rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.config.settings import ConfigError
from torchlint.engine.targets import Plan, Wishes, plan, plan_text
from torchlint.files.reading import most_bytes
from torchlint.ruleapi.rule_names import rule_names
from torchlint.ruleapi.sources import PLACES, has_built_in_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.cli.options import Options


def plan_from(
    paths: tuple[str, ...], options: Options, names: Callable[[], Mapping[str, str]] = rule_names
) -> Plan:
    """The files that the command line means.

    Args:
        names: gives the name of every rule by its code.

    Raises:
        click.ClickException: the options contradict each other or name a rule that does not exist,
            a configuration file cannot be used, or the built-in rules are missing.
    """
    wishes = wishes_from(options)
    try:
        if "-" not in paths:
            if options.stdin_filename is not None:
                raise click.UsageError("--stdin-filename needs `-` as the path.")
            return plan(paths or (".",), wishes, names)
        if len(paths) > 1:
            raise click.UsageError("`-` reads standard input; give no other path with it.")
        data = _standard_input(most_bytes(options.stdin_filename or ""))
        if options.stdin_filename is None and _is_notebook(data):
            raise click.UsageError(
                "Standard input is a notebook; say so with `--stdin-filename NAME.ipynb`."
            )
        return plan_text(data, options.stdin_filename, wishes, names)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None


def _is_notebook(data: bytes) -> bool:
    if b'"cells"' not in data or b'"cell_type"' not in data:
        return False
    from torchlint.notebooks.document import Notebook, NotebookError

    try:
        Notebook("-", data)
    except NotebookError:
        return False
    return True


def wishes_from(options: Options) -> Wishes:
    """What the command line says about settings.

    Raises:
        click.ClickException: the options contradict each other, or the built-in rules are missing.
    """
    if options.config is not None and options.isolated:
        raise click.UsageError("--config and --isolated exclude each other; give one of them.")
    require_rules()
    return Wishes(
        options.select or None,
        options.ignore,
        options.target_torch,
        options.config,
        isolated=options.isolated,
        require_reason=bool(options.require_reason),
    )


def require_rules() -> None:
    """Checks that the built-in rules are there, by their folder: a cached check imports none.

    Raises:
        click.ClickException: they are missing.
    """
    if not has_built_in_rules():
        raise click.ClickException(
            f"The built-in rules are missing, which belong in {' or '.join(PLACES)}; "
            "install torchlint again."
        )


def _standard_input(most: int) -> bytes:
    """
    Raises:
        click.ClickException: there are more bytes than a file may have. A part of them would be
            worse than nothing, since `fix` prints what it was given.
    """
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        limit = f"{most >> 20} MiB"
        raise click.ClickException(f"Standard input is over {limit}, too large to check.")
    return data

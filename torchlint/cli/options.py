"""Options that commands share, and how their words become values."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from torchlint.config import ConfigError, normalised, parse_torch
from torchlint.lint.targets import Plan, Wishes, plan, plan_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Words:
    """What the shared options say."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    hints: bool
    pedantic: bool
    target_torch: tuple[int, int] | None
    config: str | None
    isolated: bool
    stdin_filename: str | None
    jobs: int | None


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
    click.option("--config", metavar="FILE", help="Use this configuration file and no other."),
    click.option("--isolated", is_flag=True, help="Use no configuration file at all."),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes that read the project. Default: one per processor.",
    ),
    click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks."),
)
_STDIN_FILENAME = (
    click.option(
        "--stdin-filename",
        metavar="FILE",
        help="With `-`: the name to show and to find the configuration by.",
    ),
)


def selection_options(command: Command) -> Command:
    """Adds the options that say what to look at; `command` gets them as `words`."""
    return _with_words(command, (*_RULES, *_STDIN_FILENAME))


def rule_options(command: Command) -> Command:
    """The same without those for text from standard input."""
    return _with_words(command, _RULES)


def _with_words(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    @functools.wraps(command)
    def with_words(**values: object) -> None:
        words = Words(**{field.name: values.pop(field.name, None) for field in fields(Words)})  # type: ignore[arg-type]
        command(words=words, **values)

    wrapped: Command = with_words
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def output_format(*formats: str) -> Callable[[Command], Command]:
    """Adds `--output-format`; the first format is the default."""
    return click.option(
        "--output-format",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How to print.",
    )


def plan_from(paths: tuple[str, ...], words: Words) -> Plan:
    """The files that the command line means.

    Raises:
        click.ClickException: the words contradict each other, name a rule that does not exist,
            or a configuration file that cannot be used.
    """
    if words.config is not None and words.isolated:
        raise click.UsageError("--config and --isolated exclude each other; give one of them.")
    wishes = Wishes(
        select=words.select or None,
        ignore=words.ignore,
        target_torch=words.target_torch,
        config=words.config,
        isolated=words.isolated,
    )
    try:
        if "-" not in paths:
            if words.stdin_filename is not None:
                raise click.UsageError("--stdin-filename needs `-` as the path.")
            return plan(paths or (".",), wishes)
        if len(paths) > 1:
            raise click.UsageError("`-` reads standard input; give no other path with it.")
        return plan_text(sys.stdin.buffer.read(), words.stdin_filename, wishes)
    except ConfigError as error:
        place = f"{error.path}: " if error.path else ""
        raise click.ClickException(place + error.message) from None


def processes(jobs: int | None) -> int:
    """The number of processes to use: as asked, else one per usable processor."""
    if jobs is not None:
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""The options that say how long a verification may take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

_MOST_PAIRS: Final = 1000
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}
_TIME: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([smh]?)")


def is_time(text: str) -> bool:
    """Whether it could be the value of an option such as `--budget-time`."""
    return _TIME.fullmatch(text.strip()) is not None


def seconds(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    """The seconds of an option such as `90s` or `5m`."""
    match = _TIME.fullmatch(value.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0
    if not seconds > 0:
        raise click.BadParameter(f'"{value}" is not a time; write one such as 90s, 5m or 1h.')
    return seconds


def spelt(seconds: float) -> str:
    """The same as such an option takes it: `90s`, `5m`."""
    return f"{seconds:g}s" if seconds % 60 else f"{seconds / 60:g}m"


def _looks(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, ...]:
    looks = tuple(int(word) for word in value.split(",") if word.isdecimal())
    well_made = len(looks) == value.count(",") + 1 and sorted(set(looks)) == list(looks)
    if not well_made or looks[0] < 1 or looks[-1] > _MOST_PAIRS:
        raise click.BadParameter(
            f'"{value}" is not a growing list of numbers from 1 to {_MOST_PAIRS}, such as 4,8,16.'
        )
    return looks


def duration_options(command: Function) -> Function:
    """Adds `--pairs` (a tuple of numbers) and `--budget` (in seconds)."""
    budget = click.option(
        "--budget",
        callback=seconds,
        default="10m",
        show_default=True,
        metavar="TIME",
        help="End after this time (90s, 5m, 1h), first look and numbers included; what does not "
        "fit is named.",
    )
    pairs = click.option(
        "--pairs",
        callback=_looks,
        default="4,8,16",
        show_default=True,
        metavar="N,…",
        help="Evaluate after these numbers of process pairs, and stop once everything is settled.",
    )
    return pairs(budget(command))

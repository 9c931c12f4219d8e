"""Days on the command line."""

from __future__ import annotations

from datetime import date

import click

from torchlint.silence.until import parse_date


def today() -> date:
    return date.today()


def day_to_come(text: str | None) -> date | None:
    """The day that `--until` names, if it is given.

    Raises:
        click.UsageError: it is no day, or has passed.
    """
    day = None if text is None else parse_date(text)
    if text is not None and (day is None or day < today()):
        raise click.UsageError("--until needs a day to come, such as 2027-01-31.")
    return day

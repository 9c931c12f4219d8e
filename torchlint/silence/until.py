"""The last day on which a suppression silences a finding.

A result that is cached must not depend on the day. So what a comment silences up to a day stays
among the findings of a file, marked with that day, until a check takes it out or reports it.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from torchlint.config.settings import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.finding import Finding


def today() -> date:
    """The day where the user is."""
    return date.today()


def day_to_come(text: str | None) -> date | None:
    """The day that `--until` names, if it is given.

    Raises:
        ConfigError: it is not a day, or has passed.
    """
    day = None if text is None else parse_date(text)
    if text is not None and (day is None or day < today()):
        raise ConfigError("--until needs a day in the future, such as 2027-01-31.")
    return day


def parse_date(text: str) -> date | None:
    """The date in `2027-01-31`, or None for any other form."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.isoformat() == text else None


def not_silenced(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that no comment silences today. The message of those that one did says until
    when."""
    now = today()
    return tuple(
        _told(each) if each.until else each
        for each in findings
        if not each.until or has_ended(each.until, now)
    )


def has_ended(day: str, now: date) -> bool:
    """Whether a suppression up to this day, or without an end if it is empty, has ended."""
    return bool(day) and day < now.isoformat()


def _told(finding: Finding) -> Finding:
    # Alone in its group, or the text would fold it under another message.
    message = f"{finding.message} {silenced_until(finding.until)}"
    return finding._replace(message=message, group=None)


def silenced_until(day: str) -> str:
    """What is said about a finding whose suppression has ended."""
    return f"A comment silenced it until {day}."

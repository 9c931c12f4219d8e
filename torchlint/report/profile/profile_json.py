"""A profile for programs: one JSON object, as `docs/profile-schema.json` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from torchlint.profile.result import SCHEMA, RunFinding
from torchlint.report.measured.measured_json import laid_out, rounded
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Collection

    from torchlint.profile.result import Profile
    from torchlint.report.measured.measured_json import Json

_ELSEWHERE = ("trace",)
"""Written by `--trace`, and many times as large as all the rest."""
_OF_TIMED_STEPS = ("step", "limit", "small", "cut", "suppressed")
"""Without the time of a step, nothing is judged: these are unknown, not empty or zero."""


def render(result: Profile) -> str:
    """The object in ASCII, with a line end; the same profile gives the same text."""
    return laid_out(document(result)) + "\n"


def document(result: Profile) -> Json:
    """The object itself: nothing in it but dicts, lists, strings, numbers, booleans and None.

    Seconds are seconds, shares are of one step. Measured numbers have six significant figures; what
    is not a finite number, or could not be measured, is None.
    """
    told = _fields(result, without=_ELSEWHERE)
    if result.timing is None:
        told |= dict.fromkeys(_OF_TIMED_STEPS)
    return {
        "schema": SCHEMA,
        "tool": "torchlint",
        "version": __version__,
        "command": "profile",
        **told,
    }


def _fields(value: object, without: Collection[str] = ()) -> Json:
    assert is_dataclass(value)
    names = [each.name for each in fields(value) if each.name not in without]
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, RunFinding):
        return {**_fields(value), "ceiling": rounded(value.ceiling)}
    return _fields(value) if is_dataclass(value) else str(value)

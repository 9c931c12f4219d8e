"""A profile for programs: one JSON object, as `docs/profile-schema.json` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.profile_result import SCHEMA, Profile, RunFinding
from torchlint.report.measured import measured_json
from torchlint.report.measured.measured_json import Json, Shape, laid_out, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_TIMED_STEPS: Final = ("step", "limit", "small", "cut", "suppressed")
"""Without the time of a step, nothing is judged: these are unknown, not empty or zero."""


def render(result: Profile) -> str:
    """The object in ASCII, with a line end; the same profile gives the same text."""
    return laid_out(document(result)) + "\n"


def document(result: Profile) -> Json:
    """The object itself. Seconds are seconds, shares are of one step; what could not be measured
    is None."""
    return measured_json.document(result, SCHEMA, _SHAPES)


def _profile(result: Profile, keys: Json) -> Json:
    del keys["trace"]  # `--trace` writes it, and it is many times as large as all the rest
    known = result.is_rehearsal or result.timing is not None
    return {"command": keys["command"], **keys, **dict.fromkeys(() if known else _OF_TIMED_STEPS)}


_SHAPES: Final[Mapping[type, Shape]] = {
    Profile: _profile,
    RunFinding: lambda finding, keys: {**keys, "ceiling": rounded(finding.ceiling)},
}

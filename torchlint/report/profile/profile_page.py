"""A profile as one page: no network, no script, readable on a phone and a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import UNKNOWN, milliseconds, percent
from torchlint.profile.step_timeline import gaps
from torchlint.report.measured import measured_page
from torchlint.report.measured.axes import StepLane
from torchlint.report.profile import profile_words as words
from torchlint.report.profile import rehearsal_page
from torchlint.report.profile.profile_json import document
from torchlint.runtime.probe.messages import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.profile.profile_result import Profile, RunFact, RunFinding
    from torchlint.profile.step_timeline import Span

    Part = tuple[str, str, str, int]

_PARTS: Final = 12


def render(result: Profile) -> str:
    """The page. All that comes from the program is escaped, and its hidden characters are shown."""
    if result.is_rehearsal:
        return rehearsal_page.render(result)
    return measured_page.render(
        "profile",
        "profile.html.jinja",
        document(result),
        result=result,
        measured=result.timing is not None or result.environment is not None,
        following=words.following(result),
        words=words,
        lanes=lanes(result),
        parts_of_step=parts_of_step(result.typical),
        reads=[(each, per_step(each)) for each in result.census],
        memory=memory(result.facts),
        share=lambda share: UNKNOWN if share is None else percent(share),
    )


def lanes(result: Profile) -> list[StepLane]:
    """Where the time of a step goes, in the order in which a step has them; empty if that was not
    seen."""
    shares = {each.name: result.lanes.get(each.name, 0.0) for each in fields(Lanes)}
    whole = sum(shares.values())
    if result.timing is None or not whole > 0:
        return []
    step_ms = 1e3 * result.timing.step_s
    return [
        StepLane(name, share / whole, milliseconds(step_ms * share / whole))
        for name, share in shares.items()
    ]


def parts_of_step(typical: Sequence[Span]) -> list[tuple[Part, list[float]]]:
    """What a step consists of, line by line, with the seconds of each time, the longest first;
    what is inside another part is counted in both."""
    if not typical:
        return []
    step, *parts = typical
    lines: dict[Part, list[float]] = {}
    for each in (*parts, *gaps(parts, 0.0, step.seconds)):
        lines.setdefault((each.kind, each.name, each.path, each.row), []).append(each.seconds)
    return sorted(lines.items(), key=lambda line: -sum(line[1]))[:_PARTS]


def memory(facts: Iterable[RunFact]) -> dict[str, float]:
    """The peak of each part of a step, in the order of a step."""
    values = next((each.values for each in facts if each.code == "TR503"), {})
    phases = values.get("phases")
    peaks = phases.items() if isinstance(phases, Mapping) else ()
    return {str(name): peak for name, peak in peaks if isinstance(peak, int | float)}


def per_step(each: RunFinding) -> float | None:
    """How often a step reads there; None if that was not counted."""
    kinds = each.values.get("kinds")
    counts = [each.values.get("per_step")]
    if isinstance(kinds, Mapping) and kinds:
        counts = list(kinds.values())
    numbers = [float(count) for count in counts if isinstance(count, int | float)]
    return sum(numbers) if numbers else None

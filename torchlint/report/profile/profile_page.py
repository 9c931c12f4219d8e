"""A profile as one page: no network, no script, readable on a phone and a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import UNKNOWN, mebibytes, milliseconds, percent
from torchlint.profile.timeline import COLLECTOR, OTHER, READ, gaps
from torchlint.report.measured import measured_page
from torchlint.report.measured.axes import StepLane
from torchlint.report.profile import profile_words as words
from torchlint.report.profile.profile_json import document
from torchlint.runtime.survey import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.profile.layers import Row
    from torchlint.profile.result import Fact, Profile, RunFinding
    from torchlint.profile.timeline import Span

_PARTS: Final = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a chart of bars: as long as its value, or without a bar where that is unknown;
    `kind` gives it a colour of its own."""

    label: str
    facts: tuple[str, ...]
    figure: str
    value: float | None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the time line of a step: from where to where, in percent of the step. `is_mark`:
    it lies above the others, as a read in `forward`."""

    kind: str
    label: str
    left: float
    width: float
    is_mark: bool


def render(result: Profile) -> str:
    """The page. All that comes from the program is escaped, and its hidden characters are shown."""
    return measured_page.render(
        "profile",
        "profile.html.jinja",
        document(result),
        result=result,
        measured=result.timing is not None or result.environment is not None,
        following=words.following(result),
        words=words,
        lanes=lanes(result),
        pieces_of_step=pieces(result.typical),
        parts_of_step=parts_of_step(result.typical),
        reads=reads(result.census),
        layers=layers(result.layers),
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


def pieces(typical: Sequence[Span]) -> list[Piece]:
    """One step from its beginning to its end; empty if it was not watched."""
    if not typical or not typical[0].seconds > 0:
        return []
    step, *parts = typical
    return [
        Piece(
            each.kind,
            f"{each.name or each.kind}{f' {each.path}:{each.row}' if each.path else ''} "
            f"{milliseconds(1e3 * each.seconds)}",
            round(100 * each.start / step.seconds, 3),
            round(100 * each.seconds / step.seconds, 3),
            is_mark=each.kind in (READ, COLLECTOR),
        )
        for each in parts
    ]


def parts_of_step(typical: Sequence[Span]) -> list[Bar]:
    """What a step consists of, line by line, the longest first; what lies inside another part is
    counted in both."""
    if not typical:
        return []
    step, *parts = typical
    lines: dict[tuple[str, str, str, int], list[float]] = {}
    for each in (*parts, *gaps(parts, 0.0, step.seconds)):
        lines.setdefault((each.kind, each.name, each.path, each.row), []).append(each.seconds)
    longest = sorted(lines.items(), key=lambda line: -sum(line[1]))[:_PARTS]
    return [
        Bar(
            f"{path}:{row}" if path else (kind if kind != OTHER else "outside of these"),
            (kind, f"`{name}`" if name else "", f"{len(times)} times" if len(times) > 1 else ""),
            milliseconds(1e3 * sum(times)),
            sum(times),
            kind,
        )
        for (kind, name, path, row), times in longest
    ]


def reads(census: Iterable[RunFinding]) -> list[Bar]:
    """How often a step reads, line by line; the bar is missing where that was not counted."""
    return [
        Bar(
            words.place(each),
            (f"{each.code} {each.name}", each.fact, each.action, words.confirmed(each)),
            "" if (count := _per_step(each)) is None else f"{count:.3g}",
            count,
        )
        for each in census
    ]


def layers(rows: Iterable[Row]) -> list[Bar]:
    """What the modules take of the forward time."""
    return [
        Bar(
            row.name or row.kind,
            (
                words.place(row) if row.path else "",
                *words.layer(row),
                f"output {row.shape}" if row.shape else "",
                f"{row.calls:.3g} calls a step" if row.calls > 1 else "",
            ),
            percent(row.share),
            row.share,
        )
        for row in rows
    ]


def memory(facts: Iterable[Fact]) -> list[Bar]:
    """The peak of each part of a step, in the order of a step."""
    values = next((each.values for each in facts if each.code == "TR503"), {})
    phases = values.get("phases")
    return [
        Bar(str(name), (), mebibytes(peak), peak)
        for name, peak in (phases.items() if isinstance(phases, Mapping) else ())
        if isinstance(peak, int | float)
    ]


def _per_step(each: RunFinding) -> float | None:
    kinds = each.values.get("kinds")
    counts = [each.values.get("per_step")]
    if isinstance(kinds, Mapping) and kinds:
        counts = list(kinds.values())
    numbers = [float(count) for count in counts if isinstance(count, int | float)]
    return sum(numbers) if numbers else None

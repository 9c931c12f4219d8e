"""A profile as one page: no network, no script, readable on a phone and a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.experiment import figures
from torchlint.experiment.figures import mebibytes
from torchlint.profile.timeline import COLLECTOR, OTHER, READ, gaps
from torchlint.report.measured import measured_page as templates
from torchlint.report.profile import profile_words as words
from torchlint.report.profile.profile_json import document
from torchlint.report.terminal.safe_text import plural
from torchlint.report.verify import charts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.profile.layers import Row
    from torchlint.profile.result import Fact, Profile, RunFinding
    from torchlint.profile.timeline import Span

_TEMPLATE: Final = "profile.html.jinja"
_EFFECTS: Final = 60
_STATIC: Final = 200
_PARTS: Final = 12
_MARKS: Final = (READ, COLLECTOR)


@dataclass(frozen=True, slots=True)
class Lane:
    """One part of a step; `share` is of all of them, `time` of the step that was timed."""

    name: str
    share: float
    time: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a chart of bars: `width` in percent of the longest one, None without a bar; `kind`
    gives it a colour of its own."""

    label: str
    facts: tuple[str, ...]
    figure: str
    width: float | None
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
    environment = templates.environment("torchlint.report.profile", "torchlint.report.measured")
    environment.globals.update(
        words=words, figures=figures, plural=plural, code_parts=code_parts, width=_width
    )
    found = lanes(result)
    return environment.get_template(_TEMPLATE).render(
        result=result,
        lanes=found,
        pieces=pieces(result.typical),
        parts_of_step=parts_of_step(result.typical),
        lane_words=", ".join(f"{lane.name} {lane.share:.0%}" for lane in found),
        reads=reads(result.census),
        layers=layers(result.layers),
        memory=memory(result.facts),
        raw=templates.embedded(document(result)),
        most_effects=_EFFECTS,
        most_static=_STATIC,
    )


def lanes(result: Profile) -> list[Lane]:
    """Where the time of a step goes, in the order in which a step has them; empty if that was not
    seen."""
    shares = {name: result.lanes.get(name, 0.0) for name in charts.LANES}
    whole = sum(shares.values())
    if result.timing is None or not whole > 0:
        return []
    step_ms = 1e3 * result.timing.step_s
    return [
        Lane(name, share / whole, figures.milliseconds(step_ms * share / whole))
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
            _about(each),
            round(100 * each.start / step.seconds, 3),
            round(100 * each.seconds / step.seconds, 3),
            is_mark=each.kind in _MARKS,
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
    most = sum(longest[0][1]) if longest else 0.0
    return [
        Bar(
            f"{path}:{row}" if path else (kind if kind != OTHER else "outside of these"),
            (kind, f"`{name}`" if name else "", f"{len(times)} times" if len(times) > 1 else ""),
            figures.milliseconds(1e3 * sum(times)),
            _width(sum(times), most),
            kind,
        )
        for (kind, name, path, row), times in longest
    ]


def _about(each: Span) -> str:
    line = f" {each.path}:{each.row}" if each.path else ""
    return f"{each.name or each.kind}{line} {figures.milliseconds(1e3 * each.seconds)}"


def reads(census: Sequence[RunFinding]) -> list[Bar]:
    """How often a step reads, line by line; the bar is missing where that was not counted."""
    counts = [_per_step(each) for each in census]
    most = max((count for count in counts if count is not None), default=0.0)
    return [
        Bar(
            words.place(each),
            (f"{each.code} {each.name}", each.fact, each.action, words.confirmed(each)),
            "" if count is None else f"{count:.3g}",
            _width(count, most),
        )
        for each, count in zip(census, counts, strict=True)
    ]


def layers(rows: Sequence[Row]) -> list[Bar]:
    """What the modules take of the forward time."""
    most = max((row.share for row in rows), default=0.0)
    return [
        Bar(
            row.name or row.kind,
            (
                words.place(row) if row.path else "",
                *words.layer(row),
                f"output {row.shape}" if row.shape else "",
                f"{row.calls:.3g} calls a step" if row.calls > 1 else "",
            ),
            figures.percent(row.share),
            _width(row.share, most),
        )
        for row in rows
    ]


def memory(facts: Sequence[Fact]) -> list[Bar]:
    """The peak of each part of a step, in the order of a step, against the largest."""
    values = next((each.values for each in facts if each.code == "TR503"), {})
    phases = values.get("phases")
    peaks = {
        str(name): float(peak)
        for name, peak in (phases.items() if isinstance(phases, Mapping) else ())
        if isinstance(peak, int | float)
    }
    most = max(peaks.values(), default=0.0)
    return [Bar(name, (), mebibytes(peak), _width(peak, most)) for name, peak in peaks.items()]


def code_parts(text: str) -> list[tuple[bool, str]]:
    """The text in parts, and whether each of them stood between two backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return [(False, text)]
    return [(at % 2 == 1, part) for at, part in enumerate(parts) if part]


def _per_step(each: RunFinding) -> float | None:
    kinds = each.values.get("kinds")
    counts = [each.values.get("per_step")]
    if isinstance(kinds, Mapping) and kinds:
        counts = list(kinds.values())
    numbers = [float(count) for count in counts if isinstance(count, int | float)]
    return sum(numbers) if numbers else None


def _width(value: float | None, most: float = 1.0) -> float | None:
    """Percent of the room that a bar has."""
    return round(100 * min(1.0, value / most), 2) if value is not None and most > 0 else None

"""From what the runs saw to findings with ceilings, worst first."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from torchlint.profile.catalogue import all_kinds
from torchlint.profile.evidence import CUT
from torchlint.profile.profile_result import Line, RunFact, RunFinding, Static
from torchlint.profile.suppressed import Comments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from torchlint.finding import Finding
    from torchlint.profile.evidence import Evidence
    from torchlint.profile.kind import FindingKind, Observed

_MOST_SHARE: Final = 0.99
"""Of a step, that findings take together."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Findings that matter, worst first; counts without a ceiling; how many were too small.

    `below` are those, `suppressed` is how many others a comment silences, and `watched` are the
    codes of the kinds that were asked.
    """

    findings: tuple[RunFinding, ...] = ()
    census: tuple[RunFinding, ...] = ()
    small: int = 0
    together: float | None = None
    cut: float = 0.0
    below: tuple[RunFinding, ...] = ()
    suppressed: int = 0
    watched: tuple[str, ...] = ()


def judge(evidence: Evidence, static: Sequence[Finding], today: date | None = None) -> Judged:
    """Ask every kind whose instruments saw something.

    Args:
        static: what `check` finds in the project, hints included.
        today: the day for which comments with an end are judged; by default that of the user.
    """
    by_code = _asked(evidence, static)
    everything = [each for found in by_code.values() for each in found]
    cut = max(CUT, evidence.timing.noise)

    def matters(each: RunFinding) -> bool:
        least = CUT if each.certain else cut
        return each.share is None or each.share >= least

    comments = Comments(today or date.today())
    silenced = [comments.of(each) for each in everything]
    found = [each for each in silenced if each is not None]
    large = sorted(
        (each for each in found if each.share is not None and matters(each)),
        key=lambda each: (-(each.share or 0.0), each.code, each.path, each.row),
    )
    small = [each for each in found if each.share is not None and not matters(each)]
    rest = [each for each in found if each.share is None]
    unknown = [each for each in rest if not each.census]
    shares = sum(each.share or 0.0 for each in large)
    # Those that overlap by so much that they are a whole step bound nothing.
    together = 1.0 / (1.0 - shares) if len(large) > 1 and shares < _MOST_SHARE else None
    return Judged(
        (*large, *sorted(unknown, key=_place)),
        tuple(sorted((each for each in rest if each.census), key=_place)),
        len(small),
        together,
        cut,
        below=tuple(sorted(small, key=_place)),
        suppressed=sum(
            left is None and matters(each) for each, left in zip(everything, silenced, strict=True)
        ),
        watched=tuple(by_code),
    )


def _asked(evidence: Evidence, static: Sequence[Finding]) -> dict[str, list[RunFinding]]:
    """What each kind says whose instruments saw something, by its code."""
    return {
        kind.code: [_finding(kind, each, evidence, static) for each in kind.judge(evidence)]
        for kind in all_kinds().values()
        if kind.judge is not None and _was_watched(kind, evidence)
    }


def facts_of(evidence: Evidence) -> tuple[RunFact, ...]:
    """What the kinds tell in addition to their findings."""
    return tuple(
        RunFact(kind.code, each.label, each.text, each.values)
        for kind in all_kinds().values()
        if kind.teller is not None and _was_watched(kind, evidence)
        for each in kind.teller(evidence)
    )


def _was_watched(kind: FindingKind, evidence: Evidence) -> bool:
    known = evidence.windows.keys() | evidence.saved.keys()
    return known.issuperset(kind.instruments)


def unjudged(judged: Judged, instruments: Collection[str]) -> tuple[str, ...]:
    """The codes of the kinds that were not asked, although their instruments were to watch."""
    return tuple(
        kind.code
        for kind in all_kinds().values()
        if kind.judge is not None
        and kind.code not in judged.watched
        and all(name in instruments for name in kind.instruments)
    )


def _place(finding: RunFinding) -> tuple[str, str, int]:
    return finding.code, finding.path, finding.row


def _finding(
    kind: FindingKind, seen: Observed, evidence: Evidence, static: Sequence[Finding]
) -> RunFinding:
    place, made = _line(seen.place), _line(seen.made)
    share = None if seen.share is None else max(0.0, min(seen.share, _MOST_SHARE))
    return RunFinding(
        code=kind.code,
        name=kind.name,
        path=place.path if place else "",
        row=place.row if place else 0,
        fact=seen.fact,
        action=seen.action,
        share=share,
        census=kind.census and not (evidence.on_gpu or evidence.rehearsed),
        static=tuple(confirmed(static, seen.rules, place, made)),
        rules=tuple(seen.rules),
        values=seen.values,
        made=made,
        certain=seen.certain,
    )


def _line(place: tuple[str, int] | None) -> Line | None:
    return None if place is None else Line(os.path.relpath(place[0]), place[1])


def confirmed(
    static: Iterable[Finding], codes: Sequence[str], *lines: Line | None
) -> Iterable[Static]:
    """The findings of these rules at one of these lines, each once: a run has confirmed them."""
    for each in static:
        if each.code in codes and any(_covers(each, line) for line in lines if line):
            yield as_static(each, "confirmed")


def _covers(finding: Finding, line: Line) -> bool:
    last = max(finding.end.row, finding.start.row)
    if finding.start.row <= line.row <= last and _same(finding.path, line.path):
        return True
    return any(
        each.position.row == line.row and _same(each.path, line.path) for each in finding.related
    )


def as_static(finding: Finding, status: str) -> Static:
    return Static(
        finding.code,
        finding.name,
        finding.path,
        finding.start.row,
        finding.tier.value,
        status,
        has_fix=finding.fix is not None,
    )


def _same(one: str, other: str) -> bool:
    return bool(other) and os.path.realpath(one) == os.path.realpath(other)

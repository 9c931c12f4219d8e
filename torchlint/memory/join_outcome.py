"""What joining the files decided, in terms that outlive an edit: the next check of the same files
needs no join where a file has changed but says the same to the others, at other places."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.finding import Finding, Position, Related, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.analysis.summary import Summary
    from torchlint.finding import Waiting
    from torchlint.project.map_result import MapResult

_NUMBER: Final = re.compile(r"\b\d+\b")


@dataclass(frozen=True, slots=True)
class Mark:
    """A related place: the how manyeth of those that its file's summary names, in order."""

    path: str
    rank: int
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a finding that waited and holds.

    `message` is None where it stayed, `keeps_fix` says whether the fix did, and `marks` are the
    related places that were added.
    """

    tier: Tier
    message: str | None
    keeps_fix: bool
    withheld: str | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """What a join of files, in a certain order, went by and came to.

    Args:
        digests: of each file, what it contained.
        asked: of each file, which of `questions` its text was asked.
        questions: the sets of questions, each of which was asked of many files.
        woken: the files that were parsed only since hot code leads to them.
        outcomes: of each file with waiting findings, what became of them; None of one that does
            not hold.
    """

    digests: tuple[bytes, ...]
    asked: tuple[int, ...]
    questions: tuple[frozenset[str], ...]
    woken: frozenset[str]
    outcomes: dict[str, tuple[Outcome | None, ...]]


class NotPortableError(Exception):
    """An outcome that depends on where things stand."""


def places(summary: Summary | None) -> tuple[Position, ...]:
    """The places that a file's summary names, in order."""
    if summary is None:
        return ()
    functions = (function.position for function in summary.functions)
    loops = (loop.position for loop in summary.loops.values())
    return tuple(sorted({*functions, *loops}))


def says(result: MapResult, outside: Callable[[str], bool]) -> object:
    """All that a file tells the join, apart from places: equal if the join decides the same.

    Args:
        outside: whether a dotted name leads to none of the files.
    """
    return (
        tuple(name for name in result.imports if not outside(name)),
        tuple(_waits(waiting) for waiting in result.waiting),
        tuple((fact.name, fact.path, fact.value) for fact in result.facts),
        result.summary and _without_places(result.summary, outside),
    )


def outcome(
    waited: Finding, settled: Finding | None, place: Callable[[str], tuple[Position, ...]]
) -> Outcome | None:
    """What settling did to a finding.

    Args:
        place: the `places` of a file.

    Raises:
        NotPortableError: it cannot be said without places.
    """
    if settled is None:
        return None
    before = len(waited.related)
    message = None if settled.message == waited.message else settled.message
    found = Outcome(
        settled.tier,
        message,
        settled.fix is not None,
        settled.withheld,
        tuple(_mark(related, place(related.path)) for related in settled.related[before:]),
    )
    if (message and _NUMBER.search(message)) or applied(found, waited, place) != settled:
        raise NotPortableError
    return found


def applied(
    outcome: Outcome, waited: Finding, place: Callable[[str], tuple[Position, ...]]
) -> Finding:
    """A finding that waited, after what settling did to it before.

    Raises:
        NotPortableError: a related place is not there.
    """
    added = (_related(mark, place(mark.path)) for mark in outcome.marks)
    return waited._replace(
        tier=outcome.tier,
        message=waited.message if outcome.message is None else outcome.message,
        fix=waited.fix if outcome.keeps_fix else None,
        withheld=outcome.withheld,
        related=(*waited.related, *added),
    )


def moved(
    finding: Finding,
    before: Mapping[str, tuple[Position, ...]],
    after: Mapping[str, tuple[Position, ...]],
) -> Finding:
    """A finding whose related places are in files that have changed.

    Args:
        before, after: the `places` of the changed files.

    Raises:
        NotPortableError: one of its places is none of those.
    """
    if not any(related.path in before for related in finding.related):
        return finding
    return finding._replace(
        related=tuple(
            _related(_mark(each, before[each.path]), after[each.path])
            if each.path in before
            else each
            for each in finding.related
        )
    )


def numbered(sets: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which of the different sets each one is, and these."""
    numbers: dict[int, int] = {}
    asked = tuple(numbers.setdefault(each, len(numbers)) for each in sets)
    return asked, tuple(numbers)


def _waits(waiting: Waiting) -> object:
    finding = waiting.finding
    return (
        finding.code,
        finding.tier,
        finding.message,
        finding.fix and finding.fix.applicability,
        finding.withheld,
        waiting[1:],
    )


def _without_places(summary: Summary, outside: Callable[[str], bool]) -> object:
    ranks = {position: Position(rank, 0) for rank, position in enumerate(places(summary))}
    functions = (
        replace(function, position=ranks[function.position]) for function in summary.functions
    )
    loops = ((index, loop.steps, ranks[loop.position]) for index, loop in summary.loops.items())
    exports = (export for export in summary.exports if not outside(export[1]))
    rest = replace(summary, exports=tuple(exports), functions=tuple(functions), loops={})
    return rest, tuple(loops)


def _mark(related: Related, places: tuple[Position, ...]) -> Mark:
    if related.position not in places:
        raise NotPortableError
    return Mark(related.path, places.index(related.position), related.message)


def _related(mark: Mark, places: tuple[Position, ...]) -> Related:
    if not 0 <= mark.rank < len(places):
        raise NotPortableError
    return Related(mark.path, places[mark.rank], mark.message)

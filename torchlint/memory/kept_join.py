"""The result of joining a project's files, without positions, so that it can be reused after an
edit: a changed file needs no new join if it contributes the same as before at other positions."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.finding import Finding, Position, Related, Tier
from torchlint.project.answers import both, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.analysis.summary import Summary
    from torchlint.project.map_result import MapResult
    from torchlint.reported import Waiting

_NUMBER: Final = re.compile(r"\b\d+\b")


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A related place, stored as its rank among the sorted positions of its file's summary."""

    path: str
    rank: int
    message: str


@dataclass(frozen=True, slots=True)
class SettledOutcome:
    """What settling changed in a finding that waited.

    `message` is None if it did not change, `keeps_fix` is whether the fix was kept, and `related`
    has the related places that were added.
    """

    tier: Tier
    message: str | None
    keeps_fix: bool
    withheld: str | None
    related: tuple[RelatedPlace, ...]


@dataclass(frozen=True, slots=True)
class KeptJoin:
    """The inputs and the result of one join. Files are in the order of the check.

    Args:
        digests: the digest of each file.
        questions: the different searches.
        sets: the different sets of them, packed: a large project has thousands of both.
        asked: for each file, the index in `sets` of the searches made in its text.
        loaded: the files that were parsed only on demand.
        outcomes: for each file with waiting findings, the outcome of each; None for a finding
            that does not hold.
    """

    digests: tuple[bytes, ...]
    questions: tuple[str, ...]
    sets: tuple[bytes, ...]
    asked: tuple[int, ...]
    loaded: frozenset[str]
    outcomes: dict[str, tuple[SettledOutcome | None, ...]]

    def searches(self, asked: int) -> tuple[str, ...]:
        """The searches made in the text of a file.

        Raises:
            NotPortableError: there is no such set, or it is not of these searches.
        """
        if not 0 <= asked < len(self.sets):
            raise NotPortableError
        try:
            return tuple(self.questions[number] for number in unpacked(self.sets[asked]))
        except (IndexError, ValueError):
            raise NotPortableError from None


class Searches:
    """The searches made in the text of each file, as packed `Answers`: few are different."""

    def __init__(self) -> None:
        self.sets = [b""]
        self._numbers = {b"": 0}
        self._of: dict[str, int] = {}

    def add(self, path: str, asked: int) -> None:
        """Add searches in a file, as a bit set."""
        paths = both(self.sets[self.number(path)], packed(asked))
        if paths not in self._numbers:
            self._numbers[paths] = len(self.sets)
            self.sets.append(paths)
        if paths:
            self._of[path] = self._numbers[paths]

    def number(self, path: str) -> int:
        """The index in `sets` of the searches in a file."""
        return self._of.get(path, 0)


class NotPortableError(Exception):
    """An outcome that depends on positions, so it cannot be reused."""


def places(summary: Summary | None) -> tuple[Position, ...]:
    """The positions in a file's summary, sorted."""
    if summary is None:
        return ()
    functions = (function.position for function in summary.functions)
    loops = (loop.position for loop in summary.loops.values())
    calls = (
        site.position
        for function in summary.functions
        for site in function.calls
        if site.position is not None
    )
    return tuple(sorted({*functions, *loops, *calls}))


def join_input(result: MapResult, outside: Callable[[str], bool]) -> object:
    """Everything that a file contributes to the join, without positions. If it is equal before
    and after an edit, the join decides the same.

    Args:
        outside: whether a dotted name leads to no file of the project.
    """
    return (
        tuple(name for name in result.imports if not outside(name)),
        result.roots,
        tuple(_waits(waiting) for waiting in result.waiting),
        tuple((fact.name, fact.path, fact.value) for fact in result.facts),
        result.summary and _without_places(result.summary, outside),
    )


def outcome(
    waited: Finding, settled: Finding | None, place: Callable[[str], tuple[Position, ...]]
) -> SettledOutcome | None:
    """What settling changed in a finding; None if it does not hold.

    Args:
        place: returns the `places` of a file.

    Raises:
        NotPortableError: the change cannot be expressed without positions.
    """
    if settled is None:
        return None
    before = len(waited.related)
    message = None if settled.message == waited.message else settled.message
    outcome_now = SettledOutcome(
        settled.tier,
        message,
        settled.fix is not None,
        settled.withheld,
        tuple(_as_place(related, place(related.path)) for related in settled.related[before:]),
    )
    if (message and _NUMBER.search(message)) or applied(outcome_now, waited, place) != settled:
        raise NotPortableError
    return outcome_now


def applied(
    outcome: SettledOutcome, waited: Finding, place: Callable[[str], tuple[Position, ...]]
) -> Finding:
    """A finding that waited, with the stored outcome applied.

    Raises:
        NotPortableError: a related place does not exist.
    """
    added = (_resolved(each, place(each.path)) for each in outcome.related)
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
    """A finding with its related places updated to the changed files.

    Args:
        before, after: the `places` of the changed files.

    Raises:
        NotPortableError: one of its places is not among them.
    """
    if not any(related.path in before for related in finding.related):
        return finding
    return finding._replace(
        related=tuple(
            _resolved(_as_place(each, before[each.path]), after[each.path])
            if each.path in before
            else each
            for each in finding.related
        )
    )


def _waits(waiting: Waiting) -> object:
    finding = waiting.finding
    return (
        finding.code,
        finding.tier,
        finding.effect,
        finding.message,
        finding.fix and finding.fix.applicability,
        finding.withheld,
        waiting[1:],
    )


def _without_places(summary: Summary, outside: Callable[[str], bool]) -> object:
    ranks = {position: Position(rank, 0) for rank, position in enumerate(places(summary))}
    functions = (
        replace(
            function,
            position=ranks[function.position],
            calls=tuple(
                site if site.position is None else replace(site, position=ranks[site.position])
                for site in function.calls
            ),
        )
        for function in summary.functions
    )
    loops = ((index, loop.steps, ranks[loop.position]) for index, loop in summary.loops.items())
    exports = (export for export in summary.exports if not outside(export[1]))
    rest = replace(summary, exports=tuple(exports), functions=tuple(functions), loops={}, starts=())
    return rest, tuple(loops)


def _as_place(related: Related, places: tuple[Position, ...]) -> RelatedPlace:
    rank = bisect_left(places, related.position)
    if places[rank : rank + 1] != (related.position,):
        raise NotPortableError
    return RelatedPlace(related.path, rank, related.message)


def _resolved(related: RelatedPlace, places: tuple[Position, ...]) -> Related:
    if not 0 <= related.rank < len(places):
        raise NotPortableError
    return Related(related.path, places[related.rank], related.message)

"""What makes a check of a very large tree bearable: it is joined part by part, so that only one
part is in memory, and after an edit that other files do not notice, the last join is used again."""

from __future__ import annotations

from array import array
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from torchlint.engine.project_findings import findings_of
from torchlint.finding import Results
from torchlint.memory.kept_join import (
    KeptJoin,
    NotPortableError,
    Searches,
    applied,
    join_input,
    moved,
    outcome,
    places,
)
from torchlint.project.answers import questions
from torchlint.project.map_result import Depth
from torchlint.project.target import Known
from torchlint.ruleapi.registry import all_rules, troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from torchlint.engine.map_project import Mapper
    from torchlint.engine.project_findings import ProjectFindings
    from torchlint.finding import Finding, Position
    from torchlint.memory.kept_join import SettledOutcome
    from torchlint.project.map_result import MapResult

_LEAST_FILES: Final = 2_000
"""Parts with fewer files are joined together, and projects with fewer are not split."""


def results_of(
    mapper: Callable[[], Mapper], last: tuple[Results, KeptJoin] | None = None
) -> tuple[Results, KeptJoin | None]:
    """The findings and diagnostics of a project, unsorted, and what the next check may reuse of
    the join: None if that depends on positions.

    Args:
        mapper: makes one in which nothing has been mapped.
        last: the results and the join of the last check of the same files.
    """
    reused = None if last is None else reused_findings(mapper(), *last)
    return reused or _joined(mapper())


def _joined(mapper: Mapper) -> tuple[Results, KeptJoin | None]:
    findings: dict[Finding, None] = {}
    diagnostics = [each.diagnostic for each in troubles()]
    keeper = _Keeper()
    steps = False
    for part in parts(mapper):
        joined = findings_of(part)
        findings.update(dict.fromkeys(joined.findings))
        diagnostics += joined.diagnostics
        steps = steps or joined.steps
        keeper.add(part, joined)
    stepless = not steps and _asked_about_steps(mapper)
    results = Results(tuple(findings), tuple(diagnostics), stepless)
    return results, keeper.kept(mapper)


def _asked_about_steps(mapper: Mapper) -> bool:
    """Whether a rule about code that runs on each step is on for one of the files, and its findings
    are asked for."""
    rules = [rule for rule in all_rules().values() if rule.about_hot_code]
    selections = {known.target.selection for known in mapper.files.values()}
    return any(
        each.enabled(rule.code, rule.name)
        and any(each.asks_for(tier, rule.code, rule.name) for tier in rule.tiers)
        for each in selections
        for rule in rules
    )


# parts -------------------------------------------------------------------------------------


def parts(mapper: Mapper) -> Iterator[Mapper]:
    """The parts of a project: no file imports one of another part, directly or indirectly.

    Their files are mapped, and most of the results are in the store.
    """
    if len(mapper.files) < _LEAST_FILES:
        yield mapper
        return
    files = list(mapper.files.values())
    links = _links(mapper, files)
    if links is None:
        yield mapper.part(files)
        return
    for numbers in _grouped(links):
        part = mapper.part([files[number] for number in numbers])
        yield part
        part.clear()  # now, not when the collector finds the circle that the part is in
        mapper.store.free(part.files.values())


def _links(mapper: Mapper, files: Sequence[Known]) -> array[int] | None:
    """For each file, the number of another one that belongs to the same part, or its own; None if
    the parts do not matter, since no finding waits for the project."""
    numbers = {known.target.path: number for number, known in enumerate(files)}
    links = array("I", range(len(files)))
    waits = False
    for depth, relevant in ((Depth.RULES, True), (Depth.IMPORTS, False)):
        if not relevant and not waits:
            return None
        done = []
        for result in mapper.mapped([each for each in files if each.relevant is relevant], depth):
            number = numbers[result.path]
            for name in _names(result):
                located = mapper.locator.locate(result.path, name)
                if located is not None:
                    _link(links, number, numbers[located[0]])
            waits = waits or bool(result.waiting or result.summary)
            done.append(files[number])
            if len(done) == _LEAST_FILES:
                mapper.store.free(done)
                done = []
        mapper.store.free(done)
    return links


def _names(result: MapResult) -> tuple[str, ...]:
    """The dotted names through which a file may lead to others."""
    summary = result.summary
    if summary is None:
        return result.imports
    exported = (dotted for _, dotted in summary.exports)
    return tuple(dict.fromkeys((*result.imports, *exported, *summary.stars)))


def _link(links: array[int], one: int, other: int) -> None:
    one, other = _end(links, one), _end(links, other)
    links[max(one, other)] = min(one, other)


def _end(links: array[int], number: int) -> int:
    """Where the links from a file end: at the first file of its part."""
    while links[number] != number:
        links[number] = links[links[number]]  # a shorter way for the next time
        number = links[number]
    return number


def _grouped(links: array[int]) -> Iterable[list[int]]:
    """The files of each part by number; small parts together."""
    by_end: dict[int, list[int]] = {}
    for number in range(len(links)):
        by_end.setdefault(_end(links, number), []).append(number)
    group: list[int] = []
    for part in by_end.values():
        group += part
        if len(group) >= _LEAST_FILES:
            yield sorted(group)
            group = []
    if group:
        yield sorted(group)


# the kept join -----------------------------------------------------------------------------


class _Keeper:
    """Collects from the parts of a project what the next check may reuse."""

    def __init__(self) -> None:
        self._outcomes: dict[str, tuple[SettledOutcome | None, ...]] = {}
        self._loaded: set[str] = set()
        self._searches = Searches()
        self._portable = True

    def add(self, part: Mapper, found: ProjectFindings) -> None:
        results = part.results
        self._loaded |= found.loaded
        if not found.loaded <= part.files.keys():
            # An import that is hard to see: two parts settle the same finding.
            self._portable = False

        @cache
        def place(path: str) -> tuple[Position, ...]:
            return places(results[path].summary) if path in results else ()

        for path, settled in found.settled.items():
            pairs = zip(results[path].waiting, settled, strict=True)
            try:
                outcomes = tuple(outcome(each.finding, after, place) for each, after in pairs)
            except NotPortableError:
                self._portable = False
            else:
                if outcomes:
                    self._outcomes[path] = outcomes
        self._note_searches(part)

    def kept(self, whole: Mapper) -> KeptJoin | None:
        if not self._portable:
            return None
        self._note_searches(whole)  # another part may have searched this one's files
        return KeptJoin(
            digests=whole.digests(),
            questions=questions(),
            sets=tuple(self._searches.sets),
            asked=tuple(map(self._searches.number, whole.files)),
            loaded=frozenset(self._loaded),
            outcomes=self._outcomes,
        )

    def _note_searches(self, mapper: Mapper) -> None:
        for path, known in mapper.files.items():
            self._searches.add(path, mapper.store.asked(known))


def reused_findings(
    mapper: Mapper, results: Results, joined: KeptJoin
) -> tuple[Results, KeptJoin] | None:
    """The findings, or None if a changed file contributes something new to the join.

    Args:
        results: the results of the last check of the same files.
        joined: the join of that check.
    """
    changed = {
        known.target.path: Known(known.target, digest, known.size, relevant=known.relevant)
        for known, digest in zip(mapper.files.values(), joined.digests, strict=True)
        if known.digest != digest
    }
    try:
        old = _check_mapped(mapper, changed, joined.loaded)
        _check_answers(mapper, changed, joined)
        now = _updated_findings(mapper, old, changed, results, joined)
    except NotPortableError:
        return None
    return now, replace(joined, digests=mapper.digests())


def _check_mapped(
    mapper: Mapper, changed: Mapping[str, Known], loaded: frozenset[str]
) -> dict[str, MapResult]:
    """Map the changed files and return their earlier results by path.

    Raises:
        NotPortableError: a file contributes something else now, or its old result is not cached.
    """
    old: dict[Depth, dict[str, MapResult]] = {depth: {} for depth in Depth}
    for path, before in changed.items():
        depths = [Depth.RULES] * before.relevant + [Depth.ON_DEMAND] * (path in loaded)
        for depth in depths or [Depth.IMPORTS]:
            result = mapper.store.result(before, depth)
            if result is None:
                raise NotPortableError
            old[depth][path] = result
    for depth, results in old.items():
        new = mapper.map([mapper.files[path] for path in results], depth)
        outside = mapper.locator.outside
        if any(
            join_input(each, outside) != join_input(new[path], outside)
            for path, each in results.items()
        ):
            raise NotPortableError
    return {**old[Depth.RULES], **old[Depth.ON_DEMAND]}


def _check_answers(mapper: Mapper, changed: Mapping[str, Known], joined: KeptJoin) -> None:
    """
    Raises:
        NotPortableError: a search in a changed file has another answer now, or the old one is
            not cached.
    """
    for path, asked in zip(mapper.files, joined.asked, strict=True):
        if path not in changed:
            continue
        answers = mapper.store.answers(changed[path])
        for question in joined.searches(asked):
            if answers.get(question) is not mapper.word_search.answer(path, question):
                raise NotPortableError


def _updated_findings(
    mapper: Mapper,
    old: Mapping[str, MapResult],
    changed: Mapping[str, Known],
    results: Results,
    joined: KeptJoin,
) -> Results:
    """
    Raises:
        NotPortableError: a related place no longer exists.
    """

    @cache
    def place(path: str) -> tuple[Position, ...]:
        return places(_result(mapper, path).summary)

    before = {path: places(result.summary) for path, result in old.items()}
    after = {path: place(path) for path in old}
    findings = [moved(each, before, after) for each in results[0] if each.path not in changed]
    diagnostics = [each for each in results[1] if each.path not in changed]
    for path in old:
        result = mapper.results[path]
        outcomes = joined.outcomes.get(path, ())
        if len(outcomes) != len(result.waiting):
            raise NotPortableError
        findings += result.findings
        findings += [
            applied(outcome, waiting.finding, place)
            for waiting, outcome in zip(result.waiting, outcomes, strict=True)
            if outcome is not None
        ]
        diagnostics += result.diagnostics
    return results._replace(findings=tuple(findings), diagnostics=tuple(diagnostics))


def _result(mapper: Mapper, path: str) -> MapResult:
    """The result of a file at the greatest depth that it was mapped to.

    Raises:
        NotPortableError: it is not cached.
    """
    if path in mapper.results:
        return mapper.results[path]
    known = mapper.files.get(path)
    for depth in (Depth.ON_DEMAND, Depth.RULES):
        result = None if known is None else mapper.store.result(known, depth)
        if result is not None:
            return result
    raise NotPortableError

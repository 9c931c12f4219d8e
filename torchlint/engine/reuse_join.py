"""Reuses the last join of a project after edits that do not change what other files see."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from torchlint.memory.join_outcome import NotPortableError, applied, join_input, moved, places
from torchlint.project.map_result import Depth
from torchlint.project.target import Known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.engine.map_project import Mapper
    from torchlint.finding import Position, Results
    from torchlint.memory.join_outcome import Joined
    from torchlint.project.map_result import MapResult


def reused_findings(
    mapper: Mapper, results: Results, joined: Joined
) -> tuple[Results, Joined] | None:
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


def _check_answers(mapper: Mapper, changed: Mapping[str, Known], joined: Joined) -> None:
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
    joined: Joined,
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

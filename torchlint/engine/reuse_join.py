"""The findings after an edit that no other file can notice: what was joined before still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.memory.join_outcome import NotPortableError, applied, moved, places, says
from torchlint.project.target import Depth, Known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.engine.map_project import Mapper
    from torchlint.finding import Position
    from torchlint.memory.join_outcome import Joined
    from torchlint.memory.report_codec import Results
    from torchlint.project.map_result import MapResult


def findings_again(mapper: Mapper, said: Results, joined: Joined) -> tuple[Results, Joined] | None:
    """The findings, or None if a file says something new to the others.

    Args:
        said: what the last check of the same files came to.
        joined: what it joined.
    """
    changed = {
        known.target.path: Known(known.target, digest, known.size, relevant=known.relevant)
        for known, digest in zip(mapper.files.values(), joined.digests, strict=True)
        if known.digest != digest
    }
    try:
        old = _mapped_alike(mapper, changed, joined.woken)
        _answers_alike(mapper, changed, joined)
        now = _told(mapper, old, changed, said, joined)
    except NotPortableError:
        return None
    return now, replace(joined, digests=mapper.digests())


def _mapped_alike(
    mapper: Mapper, changed: Mapping[str, Known], woken: frozenset[str]
) -> dict[str, MapResult]:
    """What the changed files said before, by path; they are mapped as they are now.

    Raises:
        NotPortableError: one of them said something else, or it is not known what.
    """
    old: dict[Depth, dict[str, MapResult]] = {depth: {} for depth in Depth}
    for path, before in changed.items():
        depths = [Depth.RULES] * before.relevant + [Depth.WOKEN] * (path in woken)
        for depth in depths or [Depth.IMPORTS]:
            result = mapper.store.result(before, depth)
            if result is None:
                raise NotPortableError
            old[depth][path] = result
    for depth, results in old.items():
        new = mapper.map([mapper.files[path] for path in results], depth)
        outside = mapper.locator.outside
        if any(says(each, outside) != says(new[path], outside) for path, each in results.items()):
            raise NotPortableError
    return {**old[Depth.RULES], **old[Depth.WOKEN]}


def _answers_alike(mapper: Mapper, changed: Mapping[str, Known], joined: Joined) -> None:
    """
    Raises:
        NotPortableError: the text of a changed file answers otherwise, or nobody knows how it did.
    """
    for path, asked in zip(mapper.files, joined.asked, strict=True):
        if path not in changed:
            continue
        answers = mapper.store.answers(changed[path])
        if not 0 <= asked < len(joined.questions):
            raise NotPortableError
        for question in joined.questions[asked]:
            if answers.get(question) is not mapper.texts.answer(path, question):
                raise NotPortableError


def _told(
    mapper: Mapper,
    old: Mapping[str, MapResult],
    changed: Mapping[str, Known],
    said: Results,
    joined: Joined,
) -> Results:
    """
    Raises:
        NotPortableError: a related place is not found again.
    """

    def place(path: str) -> tuple[Position, ...]:
        return places(_result(mapper, path).summary)

    before = {path: places(result.summary) for path, result in old.items()}
    after = {path: place(path) for path in old}
    findings = [moved(each, before, after) for each in said[0] if each.path not in changed]
    diagnostics = [each for each in said[1] if each.path not in changed]
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
    return tuple(findings), tuple(diagnostics)


def _result(mapper: Mapper, path: str) -> MapResult:
    """What a file said at the greatest depth that it was mapped to.

    Raises:
        NotPortableError: it is not remembered.
    """
    if path in mapper.results:
        return mapper.results[path]
    known = mapper.files.get(path)
    for depth in (Depth.WOKEN, Depth.RULES):
        result = None if known is None else mapper.store.result(known, depth)
        if result is not None:
            return result
    raise NotPortableError

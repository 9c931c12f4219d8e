"""Splits a large project into parts that have nothing to do with each other, such as the
repositories of a mirror: each is joined by itself, so that only one is in memory at a time."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from torchlint.project.map_result import Depth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.engine.map_project import Mapper
    from torchlint.project.map_result import MapResult
    from torchlint.project.target import Known

_LEAST_FILES: Final = 2_000
"""Parts with fewer files are joined together, and projects with fewer are not split."""


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

"""Maps the files of a project, in this process or others, and keeps the results."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from torchlint.engine.map_file import died, map_files
from torchlint.files.reading import SourceError
from torchlint.project.imports import Imports
from torchlint.project.map_result import Depth, MapResult
from torchlint.project.star_imports import Stars
from torchlint.project.symbols import Locator
from torchlint.project.sys_path import sys_path_roots
from torchlint.project.word_search import WordSearch
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from torchlint.memory.store import Store
    from torchlint.project.target import Known, Target
    from torchlint.reported import Fact
    from torchlint.workers.pool import Pool


class Mapper:
    """The files of one `check` and their results so far.

    Args:
        files: those that could be read; a digest is updated if the content has changed since.
        progress: called with the number of files done and the total.
        whole: the project that the files are a part of, if they are not all of it.
    """

    def __init__(
        self,
        files: Sequence[Known],
        *,
        pool: Pool,
        progress: Callable[[int, int], None] | None,
        store: Store,
        whole: Mapper | None = None,
    ) -> None:
        self.files = {known.target.path: known for known in files}
        self.project: Mapping[str, Known] = self.files if whole is None else whole.project
        """All files of the check, by path."""
        self.store = store
        self.results: dict[str, MapResult] = {}
        """The latest result of each file that was mapped for more than its imports."""
        self.facts: dict[str, tuple[Fact, ...]] = {} if whole is None else whole.facts
        """The facts of the files of the project that were mapped, by path."""
        self.word_search: WordSearch = (
            WordSearch(self.files, store.answers) if whole is None else whole.word_search
        )
        self._whole = whole
        self._pool = pool
        self._progress = progress
        self._names: dict[str, tuple[str, ...]] = {}
        self._not_stored: dict[tuple[str, Depth], MapResult] = (
            {} if whole is None else whole._not_stored
        )
        if whole is None:
            self.follow_stars()

    @cached_property
    def locator(self) -> Locator:
        return Locator(self.files) if self._whole is None else self._whole.locator

    @cached_property
    def imports(self) -> Imports:
        return Imports(self._imported_names, self.locator)

    def follow_stars(self) -> None:
        """Tell files with star imports which names these bind, since their results depend on
        them."""
        for path, known in self.files.items():
            if known.stars:
                self.locator.note_roots(path, sys_path_roots(self.word_search.data(path)))
                brought = Stars(self.word_search.offered, self.locator).brought(path)
                known.target = known.target._replace(brought=brought)

    def part(self, files: Sequence[Known]) -> Mapper:
        """Some of the files, in which nothing has been mapped."""
        pool, progress, store = self._pool, self._progress, self.store
        return Mapper(files, pool=pool, progress=progress, store=store, whole=self)

    def clear(self) -> None:
        """Free the memory of the results."""
        self.results.clear()
        self._names.clear()
        self.__dict__.pop("imports", None)

    def digests(self) -> tuple[bytes, ...]:
        """The digest of each file."""
        return tuple(known.digest for known in self.files.values())

    def map(self, files: Iterable[Known], depth: Depth) -> dict[str, MapResult]:
        """The results of files by path, from the cache or computed now."""
        results = {}
        for result in self.mapped(files, depth):
            self._names[result.path] = result.imports
            if depth is not Depth.IMPORTS:
                self.results[result.path] = result
            results[result.path] = result
        return results

    def mapped(self, files: Iterable[Known], depth: Depth) -> Iterator[MapResult]:
        """The same one by one, without keeping them in memory."""
        todo = {}
        for known in files:
            result = self._not_stored.get((known.target.path, depth))
            result = result or self.store.result(known, depth)
            if result is None:
                todo[known.target.path] = known
            else:
                yield self._noted(result, depth)
        done = len(self.project) - len(todo)
        if todo:
            all_rules()  # here, so that a child need not import what this process needs as well
        answers = self._pool.map(
            partial(map_files, depth=depth),
            [known.target for known in todo.values()],
            weigh=lambda target: todo[target.path].size,
            pack=_with_data,
        )
        for target, answer in answers:
            known = todo[target.path]
            if answer is None:
                result, stored = died(target.path), False
            else:
                known.digest, result = answer[0], self.store.shared.of(answer[1], target.path)
                stored = self.store.keep(known, depth, result)
            if not stored:
                self._not_stored[target.path, depth] = result
            yield self._noted(result, depth)
            done += 1
            if self._progress is not None and depth is Depth.RULES:
                self._progress(done, len(self.project))

    def _noted(self, result: MapResult, depth: Depth) -> MapResult:
        self.locator.note_roots(result.path, result.roots)
        if result.facts:
            self.facts[result.path] = result.facts
        elif depth is not Depth.IMPORTS:
            self.facts.pop(result.path, None)
        return result

    def _imported_names(self) -> dict[str, tuple[str, ...]]:
        """The dotted names that each file imports, with leading dots for relative ones."""
        left = [known for path, known in self.files.items() if path not in self._names]
        self.map(left, Depth.IMPORTS)
        return self._names


def _with_data(target: Target) -> Target:
    """The target with its content, for a machine that does not have the file."""
    try:
        return target._replace(data=target.content())
    except SourceError:
        return target  # mapping it reports the error

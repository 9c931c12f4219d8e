"""Which checked file imports which."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.lint.index import Locator


class Imports:
    """The imports of a project, worked out when somebody asks. Paths are those shown to the user.

    Args:
        names: gives the dotted names that each file imports, by path.
        locator: finds the files that they mean.
    """

    def __init__(
        self, names: Callable[[], Mapping[str, tuple[str, ...]]], locator: Locator
    ) -> None:
        self._names = names
        self._locator = locator

    def from_(self, paths: Iterable[str]) -> set[str]:
        """The files and all that they import, over any number of steps."""
        return _reachable(paths, self._targets)

    def to(self, path: str) -> set[str]:
        """The file and all that import it, over any number of steps."""
        return _reachable([path], self._sources)

    @cached_property
    def _targets(self) -> dict[str, tuple[str, ...]]:
        graph: dict[str, tuple[str, ...]] = {}
        names = self._names()
        for path in sorted(names):
            found = {self._locator.locate(path, name) for name in names[path]}
            targets = {target[0] for target in found if target is not None} - {path}
            graph[path] = tuple(targets)
        return graph

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        graph: dict[str, list[str]] = defaultdict(list)
        for path, targets in self._targets.items():
            for target in targets:
                graph[target].append(path)
        return graph


def _reachable(starts: Iterable[str], graph: Mapping[str, Iterable[str]]) -> set[str]:
    found = set(starts)
    stack = list(found)
    while stack:
        for target in graph.get(stack.pop(), ()):
            if target not in found:
                found.add(target)
                stack.append(target)
    return found

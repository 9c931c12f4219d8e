"""What a file imports, and which checked files import which."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.files.plain_layout import plain_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from torchlint.project.symbols import Locator

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]{1,200})[ \t]+import[ \t]+([^\n#;]*)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[.\w]+")


def imported_names(data: bytes) -> list[str]:
    """The dotted names that a file imports, found by pattern; strings may add a few."""
    data = plain_lines(data)
    dotted_names: dict[str, None] = {}
    end = 0
    last_close = data.rfind(b")")
    for match in _IMPORT.finditer(data):
        if match.start() < end:
            continue  # inside the parentheses of an import
        source, names, plain = match.groups()
        if plain is not None:
            for part in plain.split(b","):
                word = _WORD.search(part)
                if word:
                    dotted_names[word.group().decode("utf-8", "replace")] = None
            continue
        base = source.decode("utf-8", "replace")
        dotted_names[base] = None
        joint = "" if base.endswith(".") else "."
        if names.startswith(b"(") and match.start(2) < last_close:
            end = data.find(b")", match.start(2))
            names = data[match.start(2) : end]
        for part in names.strip(b"()").split(b","):
            word = _WORD.search(part)
            if word:
                dotted_names[f"{base}{joint}{word.group().decode('utf-8', 'replace')}"] = None
    return list(dotted_names)


class Imports:
    """The import graph of a project, built on first use. Paths are as shown to the user.

    Args:
        names: returns the dotted names that each file imports, by path.
        locator: finds the files that these names refer to.
    """

    def __init__(
        self, names: Callable[[], Mapping[str, tuple[str, ...]]], locator: Locator
    ) -> None:
        self._names = names
        self._locator = locator

    def from_(self, paths: Iterable[str]) -> set[str]:
        """These files and everything they import, directly or indirectly."""
        return _reachable(paths, self._targets)

    def to(self, paths: Iterable[str]) -> set[str]:
        """These files and everything that imports them, directly or indirectly."""
        return _reachable(paths, self._sources)

    @cached_property
    def _targets(self) -> dict[str, tuple[str, ...]]:
        graph: dict[str, tuple[str, ...]] = {}
        names = self._names()
        for path in sorted(names):
            found = {self._locator.locate(path, name) for name in names[path]}
            targets = {target[0] for target in found if target is not None}
            targets |= {init for target in targets for init in _run_first(target, path, names)}
            graph[path] = tuple(targets - {path})
        return graph

    @cached_property
    def _sources(self) -> dict[str, tuple[str, ...]]:
        graph: dict[str, list[str]] = defaultdict(list)
        for path, targets in self._targets.items():
            for target in targets:
                graph[target].append(path)
        return {path: tuple(sources) for path, sources in graph.items()}


def _run_first(target: str, importer: str, files: Collection[str]) -> Iterator[str]:
    """The `__init__.py` of the packages around an imported file, which its import from outside of
    them runs first."""
    folder = os.path.dirname(target)
    while folder and not importer.startswith(f"{folder}{os.sep}"):
        init = os.path.join(folder, "__init__.py")
        if init not in files:
            return
        yield init
        folder = os.path.dirname(folder)


def _reachable(starts: Iterable[str], graph: Mapping[str, Iterable[str]]) -> set[str]:
    reached = set(starts)
    stack = list(reached)
    while stack:
        for target in graph.get(stack.pop(), ()):
            if target not in reached:
                reached.add(target)
                stack.append(target)
    return reached

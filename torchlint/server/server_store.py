"""Results of files: in memory while the server runs, and on disk for longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.memory.cache import Cache
    from torchlint.project.answers import Answers
    from torchlint.project.map_result import Depth, MapResult
    from torchlint.project.target import Known

    Key = tuple[object, ...]

_MOST_OF_A_FILE: Final = 12
"""Results of one file: before and after an edit, to each depth, and a few steps to undo."""
_MOST_PARTS: Final = 1_000
"""Results after which the shared parts are collected again: a session of many hours makes new parts
with every key."""


class Interrupted(BaseException):  # nothing went wrong, and no rule may catch it
    """Something more urgent came up; what was mapped so far is remembered."""


class ServerStore(Store):
    """Remembers in memory what is asked for all the time, and on disk as `check` does.

    Args:
        open_cache: opens the cache on disk; by default there is none.
        urgent: asked often, and `Interrupted` is raised where it says yes.
    """

    def __init__(
        self,
        open_cache: Callable[[], Cache | None] | None = None,
        urgent: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(open_cache)
        self._urgent = urgent
        self._by_path: dict[str, dict[Key, MapResult]] = {}
        self._kept = 0

    def result(self, known: Known, depth: Depth) -> MapResult | None:
        self._give_way()
        key = _key(known, depth)
        kept = self._by_path.get(known.target.path, {}).get(key)
        if kept is None and known.target.data is None and self._cache is not None:
            kept = super().result(known, depth)
            if kept is not None:
                self._remember(known, key, kept)
        return kept

    def keep(self, known: Known, depth: Depth, result: MapResult) -> bool:
        self._remember(known, _key(known, depth), result)
        if known.target.data is None and self._cache is not None:
            super().keep(known, depth, result)
        self._kept += 1
        if self._kept % _MOST_PARTS == 0:
            self.__dict__.pop("shared", None)
        return True

    def answers(self, known: Known) -> Answers:
        self._give_way()
        return super().answers(known)

    def free(self, files: Iterable[Known]) -> None:
        """Nothing: the next key asks for the same again."""

    def forget(self, path: str) -> None:
        """Removes the results of a file that is gone."""
        self._by_path.pop(path, None)

    def _give_way(self) -> None:
        if self._urgent():
            raise Interrupted

    def _remember(self, known: Known, key: Key, result: MapResult) -> None:
        of_file = self._by_path.setdefault(known.target.path, {})
        of_file[key] = result
        while len(of_file) > _MOST_OF_A_FILE:
            oldest = next(iter(of_file))
            del of_file[oldest]
            digest = oldest[0]
            if isinstance(digest, bytes) and all(other[0] != digest for other in of_file):
                self._answers.pop(digest, None)


def _key(known: Known, depth: Depth) -> Key:
    target = known.target
    return (known.digest, target.selection, target.torch, target.named, target.brought, depth)

"""What the bytes of the checked files show without being parsed, found when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.lint.gate import ACCELERATED, Words, imports
from torchlint.project.source import SourceError, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.lint.engine import Target


class Texts:
    """The checked files by path, with answers that are kept.

    Args:
        targets: every file; those without `data` are read when they are first asked about.
    """

    def __init__(self, targets: Iterable[Target]) -> None:
        self._data = {target.path: target.data for target in targets}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._words: dict[str, Words] = {}

    def paths(self) -> Iterable[str]:
        return self._data.keys()

    def data(self, path: str) -> bytes:
        """The bytes of a file; none if it cannot be read, which was reported elsewhere."""
        data = self._data.get(path)
        if data is None:
            try:
                data = read_bytes(path)
            except SourceError:
                data = b""
            self._data[path] = data
        return data

    def imports(self, path: str) -> tuple[str, ...]:
        """The dotted names that a file imports, with leading dots for relative ones."""
        if path not in self._imports:
            self._imports[path] = tuple(imports(self.data(path)))
        return self._imports[path]

    def matches(self, path: str, pattern: str) -> bool:
        """Whether a rule's pattern is found in a file."""
        return self._of(path).match(pattern)

    def _of(self, path: str) -> Words:
        words = self._words.get(path)
        if words is None:
            words = self._words[path] = Words(self.data(path))
        return words

    def mentions(self, path: str, word: str) -> bool:
        return self._of(path).contain(word.encode())

    def accelerated(self, path: str) -> bool:
        """Whether a file moves something to a GPU, as far as its words show."""
        return self.matches(path, ACCELERATED)

"""Searches the checked files for words and patterns, without parsing them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError
from torchlint.files.words import Words
from torchlint.project.star_imports import Offered
from torchlint.project.target import CHANGED, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.project.answers import Answers
    from torchlint.project.target import Known

_WORD: Final = "word "
"""Prefix of a question about a plain word; no pattern starts with it."""
_OFFERS: Final = "offers "
"""The same for a question whether a star import binds what has this fingerprint."""
_MOST_BYTES: Final = 2 << 20
"""Limit for files kept in memory; the same few are searched many times in a row."""


class WordSearch:
    """Searches in the checked files, with cached answers.

    Args:
        files: every file by its path; a file is read only when an answer is not cached.
        answers: returns the answers of earlier runs for a file.
    """

    def __init__(self, files: Mapping[str, Known], answers: Callable[[Known], Answers]) -> None:
        self._files = files
        self._answers = answers
        self._words: OrderedDict[str, Words] = OrderedDict()
        self._bytes = 0
        self._offered: dict[str, Offered] = {}

    def paths(self) -> Iterable[str]:
        return self._files.keys()

    def matches(self, path: str, pattern: str) -> bool:
        """Whether a file matches a pattern."""
        return self.answer(path, pattern)

    def mentions(self, path: str, word: str) -> bool:
        """Whether a file contains a word."""
        return self.answer(path, _WORD + word)

    def answer(self, path: str, question: str) -> bool:
        """The answer to a question as `Answers` stores it: a pattern, or a prefixed word."""
        cached = self._answers(self._files[path]).get(question)
        if cached is None:
            words = self._of(path)
            if question.startswith(_WORD):
                cached = words.contain(question.removeprefix(_WORD).encode())
            elif question.startswith(_OFFERS):
                cached = Offered(words.data).fingerprint == question.removeprefix(_OFFERS)
            else:
                cached = words.match(question)
            # Looked up again: reading may have shown that the file has changed.
            self._answers(self._files[path]).note(question, answer=cached)
        return cached

    def row_of_function(self, path: str, name: str) -> int | None:
        """The row of the only function of a file with this name."""
        rows = self._of(path).rows_of(rf"(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+{name}\b")
        return rows[0] if len(rows) == 1 else None

    def row_of(self, path: str, pattern: str) -> int | None:
        """The first row of a file where a pattern matches."""
        return self._of(path).row_of(pattern)

    def offered(self, path: str) -> Offered:
        """What a file offers to a star import."""
        names_offered = self._offered.get(path)
        if names_offered is None:
            names_offered = self._offered[path] = Offered(self.data(path))
        self.answer(path, _OFFERS + names_offered.fingerprint)
        return names_offered

    def data(self, path: str) -> bytes:
        """The bytes of a file; empty if it cannot be read."""
        return self._of(path).data

    def _of(self, path: str) -> Words:
        words = self._words.get(path)
        if words is not None:
            self._words.move_to_end(path)
            return words
        words = self._words[path] = Words(_data(self._files[path]))
        self._bytes += len(words.written)
        while self._bytes > _MOST_BYTES and len(self._words) > 1:
            _, oldest = self._words.popitem(last=False)
            self._bytes -= len(oldest.written)
        return words


def _data(known: Known) -> bytes:
    """The bytes of a file; empty if it cannot be read, which is reported elsewhere.

    If the file has changed, its answers are kept for this run only.
    """
    try:
        data = known.target.read()
    except SourceError:
        data = b""
    if digest_of(data) != known.digest:
        known.digest = CHANGED
    return data

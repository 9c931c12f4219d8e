"""What the bytes of the checked files show without being parsed, found when somebody asks."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError
from torchlint.files.words import Words
from torchlint.project.target import CHANGED, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.project.answers import Answers
    from torchlint.project.target import Known

_WORD: Final = "word "
"""Starts the question for a plain word, which no pattern does."""
_MOST_BYTES: Final = 2 << 20
"""Of files that lie in memory; the same few are asked many questions in a row."""


class Texts:
    """The checked files by path, with answers that are kept.

    Args:
        files: every file, by its path; one without `data` is read when a question about it has
            no answer yet.
        answers: gives the answers of earlier runs for a file.
    """

    def __init__(self, files: Mapping[str, Known], answers: Callable[[Known], Answers]) -> None:
        self._files = files
        self._answers = answers
        self._words: OrderedDict[str, Words] = OrderedDict()
        self._bytes = 0

    def paths(self) -> Iterable[str]:
        return self._files.keys()

    def matches(self, path: str, pattern: str) -> bool:
        """Whether a rule's pattern is found in a file."""
        return self.answer(path, pattern)

    def mentions(self, path: str, word: str) -> bool:
        """Whether a file contains a word."""
        return self.answer(path, _WORD + word)

    def answer(self, path: str, question: str) -> bool:
        """The same, for what is asked in the words of the store."""
        known = self._answers(self._files[path]).get(question)
        if known is None:
            words = self._of(path)
            if question.startswith(_WORD):
                known = words.contain(question.removeprefix(_WORD).encode())
            else:
                known = words.match(question)
            # Asked for anew: the file may have turned out to be another than was seen.
            self._answers(self._files[path]).note(question, answer=known)
        return known

    def accelerated(self, path: str) -> bool:
        """Whether a file moves something to a GPU, as far as its words show."""
        from torchlint.analysis.frameworks.frameworks import ACCELERATED

        return self.matches(path, ACCELERATED)

    def _of(self, path: str) -> Words:
        words = self._words.get(path)
        if words is not None:
            self._words.move_to_end(path)
            return words
        words = self._words[path] = Words(_data(self._files[path]))
        self._bytes += len(words.data)
        while self._bytes > _MOST_BYTES and len(self._words) > 1:
            _, oldest = self._words.popitem(last=False)
            self._bytes -= len(oldest.data)
        return words


def _data(known: Known) -> bytes:
    """The bytes of a file; none if it cannot be read, which was reported elsewhere.

    A file that is no longer what was seen answers for nothing but this run.
    """
    try:
        data = known.target.read()
    except SourceError:
        data = b""
    if digest_of(data) != known.digest:
        known.digest = CHANGED
    return data

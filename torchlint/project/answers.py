"""Cached yes-or-no answers about the text of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NUMBERS: Final[dict[str, int]] = {}
"""The number of each question asked so far."""
_QUESTIONS: Final[list[str]] = []


class Answers:
    """Yes or no by question, in two bits each: there are many files and few questions."""

    __slots__ = ("_yes", "asked", "changed")

    def __init__(self, answers: Mapping[str, bool] | None = None) -> None:
        self.asked = 0
        """The questions asked, as a bit set for `questions_of`."""
        self._yes = 0
        for question, answer in (answers or {}).items():
            self.note(question, answer=answer)
        self.changed = False
        """Whether an answer was added after creation."""

    def get(self, question: str) -> bool | None:
        """The answer, or None if the question was not asked."""
        number = _NUMBERS.get(question)
        if number is None or not self.asked >> number & 1:
            return None
        return bool(self._yes >> number & 1)

    def note(self, question: str, *, answer: bool) -> None:
        """Add an answer; the answer to a question never changes."""
        number = _NUMBERS.get(question)
        if number is None:
            number = _NUMBERS[question] = len(_QUESTIONS)
            _QUESTIONS.append(question)
        self.asked |= 1 << number
        self._yes |= answer << number
        self.changed = True

    def as_dict(self) -> dict[str, bool]:
        return {_QUESTIONS[number]: bool(self._yes >> number & 1) for number in _bits(self.asked)}


def questions_of(asked: int) -> frozenset[str]:
    """The questions in a bit set."""
    return frozenset(_QUESTIONS[number] for number in _bits(asked))


def _bits(number: int) -> Iterator[int]:
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1

"""Cached yes-or-no answers about the text of a file."""

from __future__ import annotations

from array import array
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
        """The questions asked, as a bit set."""
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


def packed(asked: int) -> bytes:
    """A bit set of questions, as small as what is in it: thousands may be asked in a large project,
    each of a few files."""
    return array("I", _bits(asked)).tobytes()


def both(one: bytes, other: bytes) -> bytes:
    """The questions that are in one of two packed sets."""
    if not one or not other or one == other:
        return one or other
    return array("I", sorted({*unpacked(one), *unpacked(other)})).tobytes()


def unpacked(packed: bytes) -> array[int]:
    """The numbers in a packed set: those of the questions in `questions`.

    Raises:
        ValueError: the bytes are not a packed set.
    """
    return array("I", packed)


def questions() -> tuple[str, ...]:
    """The questions asked so far in this process, by number."""
    return tuple(_QUESTIONS)


def _bits(number: int) -> Iterator[int]:
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1

"""Messages from a run, checked when read: the script may have written to the socket itself."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class MalformedError(ValueError):
    """A run sent something that is no message, or left out a part of one."""


@dataclass(frozen=True, slots=True)
class Message:
    """One line from a run, or one object inside it.

    Every reader raises MalformedError where the value is missing or of another type; `or_none`
    readers take a missing value or null for None.
    """

    type: str
    values: Mapping[str, object]

    def text(self, key: str, default: str | None = None) -> str:
        """A string; a missing one is `default` if that is given."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._odd(key, "text")
        return value

    def text_or_none(self, key: str) -> str | None:
        """A string, if there is one."""
        return None if self.values.get(key) is None else self.text(key)

    def flag(self, key: str) -> bool:
        """A truth value."""
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self._odd(key, "true or false")
        return value

    def flag_or_none(self, key: str) -> bool | None:
        """A truth value, if there is one."""
        return None if self.values.get(key) is None else self.flag(key)

    def number(self, key: str) -> float:
        """A finite number."""
        value = self.values.get(key)
        if not _is_number(value):
            raise self._odd(key, "a finite number")
        return float(value)

    def number_or_none(self, key: str) -> float | None:
        """A finite number, if there is one."""
        return None if self.values.get(key) is None else self.number(key)

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number; a missing one is `default` if that is given."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._odd(key, "a whole number")
        return value

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of finite numbers; a missing one is empty."""
        numbers = tuple(float(each) for each in self._list(key) if _is_number(each))
        if len(numbers) != len(self._list(key)):
            raise self._odd(key, "finite numbers")
        return numbers

    def numbers_or_none(self, key: str) -> tuple[float | None, ...]:
        """A list of finite numbers and nulls; a missing one is empty."""
        values = self._list(key)
        if not all(each is None or _is_number(each) for each in values):
            raise self._odd(key, "finite numbers and nulls")
        return tuple(float(each) if _is_number(each) else None for each in values)

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers; a missing one is empty."""
        return tuple(int(each) for each in self.numbers(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; a missing one is empty."""
        values = self._list(key)
        if not all(isinstance(each, str) for each in values):
            raise self._odd(key, "texts")
        return tuple(str(each) for each in values)

    def part(self, key: str) -> Message | None:
        """An object inside this one, if there is one."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._odd(key, "an object")
        return Message(f"{self.type}.{key}", value)

    def _list(self, key: str) -> Sequence[object]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self._odd(key, "a list")
        return value

    def _odd(self, key: str, wanted: str) -> MalformedError:
        value = repr(self.values.get(key))
        return MalformedError(f"{self.type}: {key} is {value[:60]}, not {wanted}")


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number without a float
        return False


def decode(line: bytes) -> Message:
    """The message that a line of JSON holds.

    Raises:
        MalformedError: it holds none.
    """
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{line[:60]!r} is no JSON") from error
    if not isinstance(values, dict) or not isinstance(values.get("type"), str):
        raise MalformedError(f"{line[:60]!r} has no type")
    return Message(values["type"], values)

"""Messages from a run, checked when read: the script may have written to the socket itself."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")
_DIGITS: Final = 30
"""Of a whole number. What is longer may have no float, with which all are divided."""


class MalformedError(ValueError):
    """A run sent something that is not a message, or left out a part of one."""


@dataclass(frozen=True, slots=True)
class Message:
    """One line from a run: its `type`, and the fields of the dataclass that was sent."""

    kind: str
    values: Mapping[str, Any]

    def read(self, wanted: type[_T]) -> _T:
        """The dataclass of `probe.messages` that it is.

        Raises:
            MalformedError: a field is missing, or of another type.
        """
        return converted(self.values, wanted, self.kind)


def converted(values: object, wanted: type[_T], name: str) -> _T:
    """Plain values as a dataclass.

    Args:
        name: of what they are, for the error.

    Raises:
        MalformedError: a field is missing, or of another type.
    """
    try:
        return msgspec.convert(values, wanted)
    except msgspec.ValidationError as error:
        raise MalformedError(f"{name}: {error}") from None


def decode(line: bytes) -> Message:
    """The message that a line of JSON holds. Numbers in it are finite.

    Raises:
        MalformedError: it holds none.
    """
    try:
        # Not by msgspec, which refuses the halves of characters that encode odd file names.
        values = json.loads(line, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{line[:60]!r} is not JSON") from error
    if not isinstance(values, dict) or not isinstance(values.get("type"), str):
        raise MalformedError(f"{line[:60]!r} has no type")
    return Message(values["type"], values)


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError
    return number

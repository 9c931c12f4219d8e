"""Messages from a run, checked when read: the script may have written to the socket itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")


class MalformedError(ValueError):
    """A run sent something that is no message, or left out a part of one."""


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
    except (msgspec.ValidationError, OverflowError, RecursionError) as error:
        raise MalformedError(f"{name}: {error}") from None


def decode(line: bytes) -> Message:
    """The message that a line of JSON holds. Numbers in it are finite.

    Raises:
        MalformedError: it holds none.
    """
    try:
        values = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"{line[:60]!r} is no JSON") from error
    if not isinstance(values, dict) or not isinstance(values.get("type"), str):
        raise MalformedError(f"{line[:60]!r} has no type")
    return Message(values["type"], values)

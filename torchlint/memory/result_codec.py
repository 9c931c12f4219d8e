"""Results as bytes and back, with msgspec: plain data of known types, and nothing else.

Bytes that are no such data decode to None, whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from torchlint.memory.join_outcome import Joined
    from torchlint.project.map_result import MapResult

_T = TypeVar("_T")


@dataclass(slots=True)
class Entry:
    """What is known of a file with a certain content.

    `results` are encoded, by what else they depend on, the newest last.
    """

    digest: bytes
    answers: dict[str, bool] = field(default_factory=dict)
    results: dict[bytes, bytes] = field(default_factory=dict)


Folder = dict[str, Entry]

_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(value: object) -> bytes | None:
    """The bytes of a value, or None if it holds text that has none: half of a surrogate pair."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return None


def decode_result(data: bytes) -> MapResult | None:
    """What one file said."""
    from torchlint.project.map_result import MapResult

    return _decoded(data, MapResult)


def decode_folder(data: bytes) -> Folder | None:
    """What is known of the files of a folder."""
    return _decoded(data, Folder)


def decode_join(data: bytes, settings: bytes) -> tuple[str, Joined] | None:
    """What a join came to and the key of the report for it, if these were the settings."""
    from torchlint.memory.join_outcome import Joined

    found = _decoded(data, tuple[bytes, str, Joined])
    return (found[1], found[2]) if found is not None and found[0] == settings else None


def _decoded(data: bytes, type_: type[_T]) -> _T | None:
    try:
        return msgspec.msgpack.decode(data, type=type_)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None

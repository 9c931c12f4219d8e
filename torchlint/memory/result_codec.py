"""Encodes results with msgspec: plain data of known types only.

Invalid bytes decode to None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from torchlint.memory.kept_join import KeptJoin
    from torchlint.project.map_result import MapResult

_T = TypeVar("_T")


@dataclass(slots=True)
class FileEntry:
    """The cached answers and results for one content of a file.

    `results` are encoded, by settings and depth, the newest last.
    """

    digest: bytes
    answers: dict[str, bool] = field(default_factory=dict)
    results: dict[bytes, bytes] = field(default_factory=dict)


Folder = dict[str, FileEntry]

_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(value: object) -> bytes | None:
    """Encode a value; None if its text has a lone surrogate."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return None


def decode_result(data: bytes) -> MapResult | None:
    """Decode the result of one file."""
    from torchlint.project.map_result import MapResult

    return _decoded(data, MapResult)


def decode_folder(data: bytes) -> Folder | None:
    """Decode the entries of the files in a folder."""
    return _decoded(data, Folder)


def decode_join(data: bytes, settings: bytes) -> tuple[str, KeptJoin] | None:
    """Decode a join and the key of its report, if it was made with these settings."""
    from torchlint.memory.kept_join import KeptJoin

    found = _decoded(data, tuple[bytes, str, KeptJoin])
    return (found[1], found[2]) if found is not None and found[0] == settings else None


def _decoded(data: bytes, type_: type[_T]) -> _T | None:
    try:
        return msgspec.msgpack.decode(data, type=type_)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None

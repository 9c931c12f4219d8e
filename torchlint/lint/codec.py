"""Results as bytes and back, with msgspec: plain data of known types, and nothing else.

Bytes that are no such data decode to None, whatever they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from torchlint.lint.finding import Diagnostic, Finding
from torchlint.lint.store import Folder

if TYPE_CHECKING:
    from torchlint.lint.joined import Joined
    from torchlint.lint.mapping import MapResult
    from torchlint.lint.store import Said

_T = TypeVar("_T")

_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(value: object) -> bytes | None:
    """The bytes of a value, or None if it holds text that has none: half of a surrogate pair."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return None


def decode_result(data: bytes) -> MapResult | None:
    """What one file said."""
    from torchlint.lint.mapping import MapResult

    return _decoded(data, MapResult)


def decode_folder(data: bytes) -> Folder | None:
    """What is known of the files of a folder."""
    return _decoded(data, Folder)


def decode_report(data: bytes, key: bytes) -> Said | None:
    """What a check came to, if it is the report for this key."""
    found = _decoded(data, tuple[bytes, tuple[Finding, ...], tuple[Diagnostic, ...]])
    return found[1:] if found is not None and found[0] == key else None


def decode_join(data: bytes, settings: bytes) -> tuple[bytes, Joined] | None:
    """What a join came to and the key of the report for it, if these were the settings."""
    from torchlint.lint.joined import Joined

    found = _decoded(data, tuple[bytes, bytes, Joined])
    return (found[1], found[2]) if found is not None and found[0] == settings else None


def decode_names(data: bytes) -> dict[str, str] | None:
    """The names of the rules by their codes."""
    return _decoded(data, dict[str, str])


def _decoded(data: bytes, type_: type[_T]) -> _T | None:
    try:
        return msgspec.msgpack.decode(data, type=type_)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None

"""The JSON that an earlier run wrote, for msgspec to convert into what is asked of it, and whether
the files that it is about are as they were.

Anybody may have written the file, so it is read as hostile input.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS: Final = 15


def parsed(data: bytes) -> object:
    """What the bytes hold; None if they are not JSON.

    Numbers that are not finite, or have more digits than a measurement, stay text, so that no
    number is taken for one of them: in older versions of Python the time to read a whole number
    grows with the square of its digits.
    """
    try:
        parsed_value: object = json.loads(
            data.decode("utf-8-sig"),
            parse_int=lambda text: int(text) if len(text) <= _DIGITS else text,
            parse_constant=str,
        )
    except (ValueError, RecursionError):
        return None
    return parsed_value


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Path as it is shown → SHA-256 of its bytes, for those that can be read."""
    by_path = {}
    for path in paths:
        try:
            by_path[path] = hashlib.sha256(read_bytes(path)).hexdigest()
        except SourceError:
            continue
    return by_path

"""Parses JSON without importing the `json` package, whose import takes 4 ms, mostly for regular
expressions that only writing and the pure Python parser need."""

from __future__ import annotations

from typing import Any, Final


class _Rules:
    """The options of the scanner: plain JSON."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _scanner() -> Any:
    try:
        from _json import make_scanner
    except ImportError:
        return None
    rules: Any = _Rules
    return make_scanner(rules)


_scan: Final = _scanner()


def loads(data: bytes) -> Any:
    """Parse JSON that is ASCII and has no space around it.

    Raises:
        ValueError: the bytes are anything else.
        RecursionError: it is nested too deeply.
    """
    text = data.decode("ascii")
    if _scan is None:
        import json

        return json.loads(text)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than JSON")
    return value

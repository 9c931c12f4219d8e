"""JSON, read without loading what Python has for it beside the reading: that takes 4 ms of each
start, most of them for regular expressions that write JSON and that read it where there is no C."""

from __future__ import annotations

from typing import Any, Final


class _Rules:
    """What the scanner asks for: JSON as it comes."""

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
    """What is written as JSON, in ASCII and with nothing around it.

    Raises:
        ValueError: it is anything else.
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

"""Encodes reports and rule names as JSON: a check of unchanged files decodes only these, without
slow imports.

Invalid bytes decode to None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Effect,
    Finding,
    Fix,
    Position,
    Related,
    Results,
    Tier,
)
from torchlint.memory.quick_json import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_T = TypeVar("_T")


def encode_report(key: str, results: Results) -> bytes:
    """Encode a report with its key."""
    import json

    return json.dumps([key, *results], separators=(",", ":")).encode("ascii")


def decode_report(data: bytes, key: str) -> Results | None:
    """Decode a report; None if the bytes are invalid or have another key."""
    try:
        found, findings, diagnostics, stepless = loads(data)
        if found != key:
            return None
        return Results(_all(_finding, findings), _all(_diagnostic, diagnostics), stepless is True)
    except (ValueError, TypeError, RecursionError):
        return None


def encode_names(names: Mapping[str, str]) -> bytes:
    """Encode the names of the rules by code."""
    import json

    return json.dumps(dict(names)).encode("ascii")


def decode_names(data: bytes) -> dict[str, str] | None:
    """Decode the names of the rules by code; None if the bytes are invalid."""
    try:
        return {_text(code): _text(name) for code, name in loads(data).items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _finding(data: Any) -> Finding:
    code, name, tier, message, path, start, end, fix, withheld, related, group, *rest = data
    scope, fingerprint, until, effect = rest
    return Finding(
        code=_text(code),
        name=_text(name),
        tier=Tier(tier),
        message=_text(message),
        path=_text(path),
        start=_position(start),
        end=_position(end),
        fix=_or_none(_fix, fix),
        withheld=_or_none(_text, withheld),
        related=_all(_related, related),
        group=_or_none(_text, group),
        scope=_text(scope),
        fingerprint=_text(fingerprint),
        until=_text(until),
        effect=Effect(effect),
    )


def _fix(data: Any) -> Fix:
    applicability, message, edits = data
    return Fix(Applicability(applicability), _text(message), _all(_edit, edits))


def _edit(data: Any) -> Edit:
    start, end, content = data
    return Edit(_position(start), _position(end), _text(content))


def _related(data: Any) -> Related:
    path, position, message = data
    return Related(_text(path), _position(position), _text(message))


def _diagnostic(data: Any) -> Diagnostic:
    path, message, position, kind = data
    return Diagnostic(_text(path), _text(message), _or_none(_position, position), _text(kind))


def _position(data: Any) -> Position:
    row, column, cell = data
    return Position(_number(row), _number(column), _or_none(_number, cell))


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data


def _number(data: Any) -> int:
    if type(data) is not int:
        raise TypeError
    return data


def _all(read: Callable[[Any], _T], data: Any) -> tuple[_T, ...]:
    if not isinstance(data, list):
        raise TypeError
    return tuple(read(each) for each in data)


def _or_none(read: Callable[[Any], _T], data: Any) -> _T | None:
    return None if data is None else read(data)

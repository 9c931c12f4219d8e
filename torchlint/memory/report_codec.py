"""Reports and the names of rules as bytes and back, as JSON: what a check of unchanged files reads,
with nothing that takes time to import.

Bytes that are no such data decode to None, whatever they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Position,
    Related,
    Tier,
)
from torchlint.memory.quick_json import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Results = tuple[tuple[Finding, ...], tuple[Diagnostic, ...]]
    """What a check came to: its findings and diagnostics."""

_T = TypeVar("_T")


def encode_report(key: str, said: Results) -> bytes:
    """The bytes of a report for this key."""
    import json

    findings, diagnostics = said
    return json.dumps([key, findings, diagnostics], separators=(",", ":")).encode("ascii")


def decode_report(data: bytes, key: str) -> Results | None:
    """The report for this key; None if the bytes are anything else."""
    try:
        found, findings, diagnostics = loads(data)
        if found != key:
            return None
        return _all(_finding, findings), _all(_diagnostic, diagnostics)
    except (ValueError, TypeError, RecursionError):
        return None


def encode_names(names: Mapping[str, str]) -> bytes:
    """The bytes of the names of the rules by their codes."""
    import json

    return json.dumps(dict(names)).encode("ascii")


def decode_names(data: bytes) -> dict[str, str] | None:
    """The names of the rules by their codes."""
    try:
        return {_text(code): _text(name) for code, name in loads(data).items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _finding(data: Any) -> Finding:
    code, name, tier, message, path, start, end, fix, withheld, related, group, *rest = data
    scope, fingerprint = rest
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

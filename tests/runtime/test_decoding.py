"""Lines from a run are read as what they are, or refused."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from torchlint.runtime.decoding import MalformedError, decode


@dataclass(frozen=True, slots=True)
class Inner:
    place: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    count: int
    seconds: float
    name: str = ""
    known: bool | None = None
    inner: list[Inner] = field(default_factory=list)
    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)


def read(**values: Any) -> Outer:
    return decode(
        json.dumps({"type": "outer", "count": 1, "seconds": 1.5, **values}).encode()
    ).read(Outer)


def test_what_was_written_is_read() -> None:
    message = Outer(
        3, 2.0, "ä\udcff", True, [Inner(("train\udcff.py", 7)), Inner()], {"a": 1, "b": (2, 3)}
    )
    line = json.dumps({"type": "outer", **asdict(message)}).encode()
    assert decode(line).kind == "outer"
    assert decode(line).read(Outer) == message


def test_whole_seconds_are_seconds_and_what_is_not_asked_for_is_left_out() -> None:
    assert read(seconds=2, more=[1]) == Outer(1, 2.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "null"),
        ("count", "1.5"),
        ("count", "true"),
        ("count", '"1"'),
        ("count", "1" + "0" * 400),
        ("count", "1" + "0" * 5000),
        ("seconds", '"1"'),
        ("seconds", "true"),
        ("seconds", "NaN"),
        ("seconds", "-Infinity"),
        ("seconds", "1e999"),
        ("name", "1"),
        ("name", "null"),
        ("known", "1"),
        ("inner", "{}"),
        ("inner", "[3]"),
        ("inner", '[{"place": ["train.py"]}]'),
        ("inner", '[{"place": [3, "train.py"]}]'),
        ("sizes", '{"a": [1, "2"]}'),
        ("more", "Infinity"),
    ],
    ids=lambda text: text[:20],
)
def test_a_value_of_another_type_is_refused(name: str, value: str) -> None:
    line = f'{{"type": "outer", "count": 1, "seconds": 1.5, "{name}": {value}}}'
    with pytest.raises(MalformedError):
        decode(line.encode()).read(Outer)


@pytest.mark.parametrize("values", [{}, {"count": 1}, {"seconds": 1.0}])
def test_a_missing_value_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="outer: "):
        decode(json.dumps({"type": "outer", **values}).encode()).read(Outer)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no json",
        b"[1]",
        b"3",
        b'{"kind": "hello"}',
        b'{"type": 3}',
        b"\xff\xfe",
        b'{"type": "\xff"}',
        b"[" * 100_000,
        b'{"type": "x", "a": ' + b"[" * 100_000,
    ],
    ids=lambda line: repr(line[:30]),
)
def test_what_is_not_a_message_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(line)

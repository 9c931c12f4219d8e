"""JSON is read as Python's own reader does, with its C part alone and without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from torchlint.memory import quick_json

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(params=["with C", "without C"])
def loads(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[bytes], object]:
    if request.param == "without C":
        monkeypatch.setattr(quick_json, "_scan", None)
    return quick_json.loads


@pytest.mark.parametrize(
    "value",
    [None, True, 1, -2.5e300, "", 'a "b" \\ \n \x00 é 🔥 \ud800', [], [[1, "a"], {"b": []}]],
)
def test_what_was_written_is_read(loads: Callable[[bytes], object], value: object) -> None:
    assert loads(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "data", [b"", b"[", b"[1,", b'"a', b"1 2", b"[] ", b"\xff", b"nul", b'{"a"}', b'"\n"', b"[1,]"]
)
def test_anything_else_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|ascii|Expecting|control|Unterminated|trailing"):
        quick_json.loads(data)


def test_what_is_nested_too_deeply_does_not_crash() -> None:
    with pytest.raises((RecursionError, ValueError)):
        quick_json.loads(b"[" * 1_000_000)

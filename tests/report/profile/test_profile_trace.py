"""The trace, by the rules of Chrome's format."""

from __future__ import annotations

import json
from typing import Any

from tests.report.profile.sample_profiles import SPANS, profile
from torchlint.profile.step_timeline import Span
from torchlint.report.profile.chrome_trace import MOST_BYTES, render


def events(*spans: Span) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(render(profile(trace=spans)))["traceEvents"]
    return found


def test_every_event_is_complete_and_on_its_row() -> None:
    found = events(*SPANS)
    named = [each for each in found if each["ph"] == "M"]
    assert [each["args"]["name"] for each in named] == [
        "train.py", "steps", "what the host does",
    ]  # fmt: skip
    parts = [each for each in found if each["ph"] == "X"]
    assert len(named) + len(parts) == len(found)
    for each in parts:
        assert each["dur"] >= 0
        assert each["ts"] >= 0
        assert each["pid"] == 1
        assert each["tid"] == (1 if each["cat"] == "step" else 2)
    assert [(each["name"], each["ts"], each["dur"]) for each in parts] == [
        ("step 1", 0.0, 10_000.0),
        ("data", 0.0, 1_000.0),
        ("other", 1_000.0, 1_000.0),
        ("forward", 2_000.0, 3_000.0),
        ("item", 4_000.0, 500.0),
        ("backward", 5_000.0, 5_000.0),
    ]
    assert parts[3]["args"] == {"line": "train.py:12"}


def test_what_is_inside_another_part_ends_before_it() -> None:
    open_until: list[float] = []
    for each in events(*SPANS):
        if each["ph"] != "X" or each["cat"] == "step":
            continue
        while open_until and open_until[-1] <= each["ts"]:
            open_until.pop()
        assert all(each["ts"] + each["dur"] <= stop for stop in open_until)
        open_until.append(each["ts"] + each["dur"])


def test_it_stays_below_a_megabyte_and_is_still_json() -> None:
    many = [Span("read", "item", 0.001 * at, 0.0005, "deep/" * 30, 1) for at in range(20_000)]
    text = render(profile(trace=(Span("step", "", 0.0, 20.0), *many)))
    assert 900_000 < len(text) < MOST_BYTES
    assert json.loads(text)["displayTimeUnit"] == "ms"
    assert text.isascii()


def test_without_a_time_line_it_is_an_empty_trace() -> None:
    assert [each["ph"] for each in events()] == ["M"] * 3

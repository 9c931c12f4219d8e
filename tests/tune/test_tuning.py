"""When the last measurement of a search ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from torchlint.tune.tuning import _is_no_faster, _is_open, enough_minutes
from torchlint.verify.result import Verdict


def judge(ratio: float, ci: tuple[float, float], *, undecided: bool = False) -> Any:
    estimate = SimpleNamespace(ratio=ratio, ci=ci, strict=ci)
    total = SimpleNamespace(verdict=Verdict.UNRESOLVED, estimate=estimate)
    return SimpleNamespace(undecided=lambda: undecided, total=lambda: total)


@pytest.mark.parametrize(
    ("ratio", "ci", "goes_on"),
    [
        (3.5, (1.6, 7.7), True),
        (3.5, (3.2, 3.8), False),
        (1.05, (1.01, 1.09), True),
        (1.05, (1.04, 1.06), False),
    ],
)
def test_a_wide_interval_is_measured_on(
    ratio: float, ci: tuple[float, float], goes_on: bool
) -> None:
    assert _is_open(judge(ratio, ci)) is goes_on


def test_what_is_no_faster_for_certain_is_not_measured_on() -> None:
    slower = judge(0.975, (0.959, 0.992), undecided=True)
    assert not _is_open(slower)
    assert _is_no_faster(slower.total())
    perhaps = judge(0.99, (0.959, 1.02), undecided=True)
    assert _is_open(perhaps)
    assert not _is_no_faster(perhaps.total())


@pytest.mark.parametrize(
    ("search_s", "last_s", "minutes"),
    [
        (20.0, 5.0, 1),  # a fifth is left in any case
        (50.0, 5.0, 2),
        (60.0, 70.0, 2),  # never more than half
        (200.0, 70.0, 5),
    ],
)
def test_a_budget_that_has_the_time(search_s: float, last_s: float, minutes: int) -> None:
    assert enough_minutes(search_s, last_s) == minutes

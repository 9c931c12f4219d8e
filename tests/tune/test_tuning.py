"""When the last measurement of a search ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torchlint.tune.tuning import _is_open


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
    estimate = SimpleNamespace(ratio=ratio, ci=ci)
    judge = SimpleNamespace(
        undecided=lambda: False, total=lambda: SimpleNamespace(estimate=estimate)
    )
    assert _is_open(judge) is goes_on  # type: ignore[arg-type]

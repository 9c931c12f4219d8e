"""Numbers that differ on purpose."""

from __future__ import annotations

import pytest

from torchlint.verify.numbers.tolerance import offered, tolerated
from torchlint.verify.result import Agreement, Numerics


def differing(moved: float, ratio: float | None = 50.0) -> Numerics:
    losses = ((2.0, 2.0 * (1.0 + moved)),) * 4
    return Numerics(Agreement.DIFFERS, "somewhere", losses=losses, envelope_ratio=ratio)


@pytest.mark.parametrize(
    ("found", "tolerance", "agreement", "why"),
    [
        (differing(0.03), None, Agreement.DIFFERS, "somewhere"),
        (differing(0.03), 0.05, Agreement.DECLARED, "the mean loss moves by 3.0%"),
        (differing(-0.0004), 0.05, Agreement.DECLARED, "the mean loss moves by less than 0.1%"),
        (differing(0.07), 0.05, Agreement.DIFFERS, "the mean loss moves by 7.0%"),
        (differing(0.0, None), 0.05, Agreement.DIFFERS, "somewhere"),
        (differing(float("nan")), 0.05, Agreement.DIFFERS, "somewhere"),
    ],
)
def test_only_numbers_may_move_and_no_further(
    found: Numerics, tolerance: float | None, agreement: Agreement, why: str
) -> None:
    judged = tolerated(found, tolerance)
    assert (judged.agreement, judged.why) == (agreement, why)


def test_what_is_equal_stays_equal() -> None:
    found = Numerics(Agreement.ROUNDING, losses=((1.0, 1.0),), envelope_ratio=2.0)
    assert tolerated(found, 0.05) is found


def test_a_tolerance_is_offered_where_numbers_may_differ_on_purpose() -> None:
    said = offered(differing(0.03))
    assert said.startswith("The mean loss moves by 3.0%;")
    assert said.endswith("allow it with --tolerance 0.05.")
    for found in (differing(0.07), differing(0.0, None), Numerics(Agreement.ROUNDING)):
        assert offered(found) == ""

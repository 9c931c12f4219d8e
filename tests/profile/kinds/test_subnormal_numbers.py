"""TR306: numbers that are nearly zero, where the step takes longer for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import subnormal_numbers
from torchlint.runtime.probe.instrument_messages import KernelsSeen, LineOperations

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence

FILTER, MODEL = ("/project/train.py", 8), ("/project/train.py", 9)


def seen_of(subnormal: int, **more: Any) -> Evidence:
    """Of 10,000 values that were looked at, 400 of them in the filter's line."""
    lines = [LineOperations(MODEL, values=9600), LineOperations(FILTER, 1, 0.0, 400, subnormal)]
    return evidence(KernelsSeen(lines=lines), **{"saved": {"flush": 0.3}, **more})


def test_the_line_that_gives_most_of_them_is_named() -> None:
    (found,) = findings(subnormal_numbers.kind, seen_of(300))
    assert (found.place, found.share) == (FILTER, 0.3)
    assert found.fact == (
        "3 % of the values that a step computes are subnormal, 75 % of those of this line"
    )


@pytest.mark.parametrize("subnormal", [0, 99])
def test_a_few_are_not_tried(subnormal: int) -> None:
    assert findings(subnormal_numbers.kind, seen_of(subnormal)) == []
    assert not subnormal_numbers.has_subnormals(seen_of(subnormal).windows)


def test_a_gpu_takes_no_longer_for_them() -> None:
    assert findings(subnormal_numbers.kind, seen_of(300, device="cuda")) == []


def test_what_was_not_looked_at_has_none() -> None:
    assert not subnormal_numbers.has_subnormals({})
    assert not subnormal_numbers.has_subnormals(evidence(KernelsSeen("compiled")).windows)

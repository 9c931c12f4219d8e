"""TR704: steps that take longer and longer."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.profile.kinds.conftest import evidence, findings, timing
from torchlint.profile.kinds import growing_step
from torchlint.runtime.probe.instrument_messages import GrowthSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def judged(seconds: list[float], *held: float) -> list[Observed]:
    return findings(growing_step.kind, evidence(GrowthSeen(seconds, *held)))  # type: ignore[arg-type]


def noise(seed: int, count: int = 60) -> list[float]:
    chance = random.Random(seed)
    return [0.01 * chance.lognormvariate(0, 0.2) for _ in range(count)]


def test_a_step_that_grows() -> None:
    (found,) = judged([0.01 + 0.001 * each for each in range(60)], 0, 120, 12.0)
    assert found.place is None
    assert found.fact == (
        "each step takes 1 ms longer than the one before [1, 1]: 19.5 ms at first, 59.5 ms after "
        "60 steps; after each there are 0.2 MiB and 2 tensors more"
    )
    assert found.share == pytest.approx(1 - 19.5 / 39.5)


def test_growth_is_seen_through_noise() -> None:
    grown = [each * (1 + 0.03 * at) for at, each in enumerate(noise(0))]
    (found,) = judged(grown, 660)
    assert "after each there are 11 objects more" in found.fact
    low, slope, high = (float(found.values[f"{name}_ms"]) for name in ("low", "slope", "high"))  # type: ignore[arg-type]
    assert low < 0.3 < high
    assert low < slope < high


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_grow(seed: int) -> None:
    assert judged(noise(seed)) == []


def test_a_machine_that_is_busy_for_a_while_is_no_growth() -> None:
    calm, busy = noise(1), [1.5 * each for each in noise(2)]
    assert judged(calm[:40] + busy[:20]) == []
    assert judged(calm[:20] + busy[:20] + calm[20:40]) == []


def test_a_little_growth_is_nothing_to_say() -> None:
    assert judged([0.01 + 0.00001 * each for each in range(60)]) == []


@pytest.mark.parametrize(("growth_s", "count"), [(0.001, 1), (0.0004, 1), (0.0002, 0), (-0.001, 0)])
def test_a_machine_that_gets_busier_in_one_run_is_no_growth(growth_s: float, count: int) -> None:
    seen = GrowthSeen([0.01 + 0.001 * each for each in range(60)], 0, 0, 0.0)
    clock = replace(timing(), growth_s=growth_s)
    found = findings(growing_step.kind, evidence(seen, timing=clock))
    assert len(found) == count


def test_few_steps_say_nothing() -> None:
    assert judged([0.01 * each for each in range(1, 12)]) == []

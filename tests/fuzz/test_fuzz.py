"""A short run of what `benchmarks/fuzz.py` does at length, the same in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.cases import KINDS, Case, hold
from tests.fuzz.programs import fixtures
from torchlint.debug import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = {"check": 80, "fix": 80, "cache": 25, "config": 60, "notebook": 60}


@pytest.fixture(scope="module", autouse=True)
def crashes_leave() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        yield


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_crashes_and_what_must_hold_holds(kind: str) -> None:
    @settings(
        max_examples=CASES[kind],
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind](fixtures()))
    def held(case: Case) -> None:
        hold(case)

    held()

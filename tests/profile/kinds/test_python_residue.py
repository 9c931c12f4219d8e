"""TR702: the garbage collector, logs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import python_residue
from torchlint.runtime.probe.instrument_messages import CollectorCalls, PausesSeen, Residue

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def line(what: str, seconds: float, samples: int = 50, calls: int = 0) -> Residue:
    return Residue(("/train.py", 5), what, samples, calls, seconds)


def judged(*lines: Residue, **more: Any) -> list[Observed]:
    return findings(python_residue.kind, evidence(PausesSeen(residue=[*lines], **more)))


def test_a_line_that_logs() -> None:
    (found,) = judged(line("logging", 0.08))
    assert found.place == ("/train.py", 5)
    assert found.fact == "logging takes 0.8 ms a step"
    assert found.share == pytest.approx(0.08)
    assert found.rules == ()


def test_a_line_that_writes_is_what_a_rule_is_about() -> None:
    (found,) = judged(line("torch.save", 0.3, samples=0, calls=100))
    assert found.rules == ("TL705",)


def test_few_looks_say_nothing() -> None:
    assert judged(line("logging", 0.08, samples=9, calls=9)) == []


def test_the_garbage_collector_has_no_line() -> None:
    (found,) = judged(gc_seconds=0.05, collections=7, full_collections=2)
    assert found.place is None
    assert found.fact == (
        "7 garbage collections in 100 steps, 2 of them of all objects, 0.5 ms a step"
    )
    assert "gc.freeze()" in found.action
    assert found.share == pytest.approx(0.05)


def test_a_collection_that_is_asked_for_has_its_line() -> None:
    (found,) = judged(asked=[CollectorCalls(("/train.py", 8), 100, 0.2)])
    assert found.place == ("/train.py", 8)
    assert found.fact == "gc.collect takes 2 ms a step, 100 times in 100 steps"
    assert found.share == pytest.approx(0.2)

"""TR702: the garbage collector, logs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import python_residue
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def line(what: str, seconds: float, **more: Any) -> dict[str, Any]:
    values = {"samples": 50, "calls": 0, "seconds": seconds, "what": what}
    return {"place": ["/train.py", 5], **values, **more}


def judged(evidence: MakeEvidence, *lines: Any, **more: Any) -> Any:
    assert python_residue.kind.judge is not None
    nothing = {"gc_seconds": 0, "collections": 0, "full_collections": 0, "asked": []}
    found = {**nothing, "residue": list(lines), **more}
    return list(python_residue.kind.judge(evidence({"pauses": found})))


def test_a_line_that_logs(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, line("logging", 0.08))
    assert found.place == ("/train.py", 5)
    assert found.fact == "logging takes 0.8 ms a step"
    assert found.share == pytest.approx(0.08)
    assert found.rules == ()


def test_a_line_that_writes_is_what_a_rule_is_about(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, line("torch.save", 0.3, samples=0, calls=100))
    assert found.rules == ("TL705",)


def test_few_looks_say_nothing(evidence: MakeEvidence) -> None:
    assert judged(evidence, line("logging", 0.08, samples=9, calls=9)) == []


def test_the_garbage_collector_has_no_line(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, gc_seconds=0.05, collections=7, full_collections=2)
    assert found.place is None
    assert found.fact == (
        "7 garbage collections in 100 steps, 2 of them of all objects, 0.5 ms a step"
    )
    assert "gc.freeze()" in found.action
    assert found.share == pytest.approx(0.05)


def test_a_collection_that_is_asked_for_has_its_line(evidence: MakeEvidence) -> None:
    asked = {"place": ["/train.py", 8], "calls": 100, "seconds": 0.2}
    (found,) = judged(evidence, asked=[asked])
    assert found.place == ("/train.py", 8)
    assert found.fact == "gc.collect takes 2 ms a step, 100 times in 100 steps"
    assert found.share == pytest.approx(0.2)


@pytest.mark.parametrize("wrong", [3, line("json", 0.1, calls="2"), {"what": "json"}])
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: Any) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, wrong)

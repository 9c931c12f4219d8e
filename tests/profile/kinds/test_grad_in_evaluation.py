"""TR701: graphs of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import grad_in_evaluation
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def line(unused: int = 0, kept: int = 0, used: int = 0, **more: Any) -> dict[str, Any]:
    counts = {"unused": unused, "kept": kept, "used": used}
    seconds = {"unused_seconds": 0.1, "kept_seconds": 0.2}
    return {"place": ["/train.py", 5], "class": "Net", **counts, **seconds, **more}


def judged(evidence: MakeEvidence, *lines: Any) -> Any:
    assert grad_in_evaluation.kind.judge is not None
    return list(grad_in_evaluation.kind.judge(evidence({"evaluation": {"lines": list(lines)}})))


def test_graphs_for_nothing(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, line(unused=10))
    assert found.place == ("/train.py", 5)
    assert found.fact == "10 evaluations of Net record graphs that no backward pass uses"
    assert found.action == "evaluate under `torch.inference_mode()`"
    assert found.share is None
    assert "TL701" in found.rules


def test_graphs_that_are_kept(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, line(unused=1, kept=4))
    assert found.fact == ("5 evaluations of Net record graphs, and 4 are kept over several steps")
    assert found.action.endswith("keep no tensor with a graph")


def test_what_is_trained_through_or_seen_once_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence, line(unused=10, used=1), line(unused=1), line()) == []


@pytest.mark.parametrize("wrong", [3, line(unused=True), {"unused": 2}])
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: Any) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, wrong)

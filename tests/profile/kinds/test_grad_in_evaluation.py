"""TR701: graphs of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import grad_in_evaluation
from torchlint.runtime.probe.instrument_messages import EvaluatedLine, EvaluationSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def line(unused: int = 0, kept: int = 0, used: int = 0) -> EvaluatedLine:
    return EvaluatedLine(("/train.py", 5), "Net", used, unused, 0.1, kept, 0.2)


def judged(*lines: EvaluatedLine) -> list[Observed]:
    return findings(grad_in_evaluation.kind, evidence(EvaluationSeen([*lines])))


def test_graphs_for_nothing() -> None:
    (found,) = judged(line(unused=10))
    assert found.place == ("/train.py", 5)
    assert found.fact == "10 evaluations of Net record graphs that no backward pass uses"
    assert found.action == "evaluate under `torch.inference_mode()`"
    assert found.share is None
    assert "TL701" in found.rules


def test_graphs_that_are_kept() -> None:
    (found,) = judged(line(unused=1, kept=4))
    assert found.fact == ("5 evaluations of Net record graphs, and 4 are kept over several steps")
    assert found.action.endswith("keep no tensor with a graph")


def test_what_is_trained_through_or_seen_once_is_not_a_finding() -> None:
    assert judged(line(unused=10, used=1), line(unused=1), line()) == []

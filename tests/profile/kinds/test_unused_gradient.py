"""TR401: parameters without a gradient, and gradients without an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import unused_gradient
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def group(module: str, row: int = 5, **more: Any) -> dict[str, Any]:
    values = {"parameters": 2, "values": 1500, "steps": 30}
    return {"module": module, "place": ["/train.py", row], **values, **more}


def judged(evidence: MakeEvidence, idle: Any = (), nothing: Any = (), known: bool = True) -> Any:
    assert unused_gradient.kind.judge is not None
    seen = {"known": known, "idle": list(idle), "for_nothing": list(nothing)}
    return list(unused_gradient.kind.judge(evidence({"gradients": seen})))


def test_parameters_without_a_gradient(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, [group("head"), group("", steps=29)])
    assert found.place == ("/train.py", 5)
    assert found.fact == (
        "4 parameter tensors (3,000 values) without a gradient in any of 29 steps: "
        "head, outside of any module"
    )
    assert found.action == "add them to the loss, or take them out of the optimizer"
    assert found.share is None


def test_gradients_without_an_optimizer(evidence: MakeEvidence) -> None:
    groups = [group(f"encoder.{index}", parameters=1) for index in range(5)]
    (found,) = judged(evidence, nothing=groups)
    assert found.fact == (
        "5 parameter tensors (7,500 values) with gradients that no optimizer takes: "
        "encoder.0, encoder.1, encoder.2 and 2 more"
    )
    assert found.share is None
    assert found.rules == ("TL405",)


def test_each_optimizer_is_a_finding(evidence: MakeEvidence) -> None:
    assert [each.place[1] for each in judged(evidence, [group("a"), group("b", 8)])] == [5, 8]


def test_few_steps_and_an_old_torch_say_nothing(evidence: MakeEvidence) -> None:
    assert judged(evidence, [group("a", steps=9)], [group("b", steps=9)]) == []
    assert judged(evidence, [group("a")], known=False) == []


@pytest.mark.parametrize("wrong", [3, group("x", parameters="2"), {"module": "x"}])
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: Any) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, [wrong])

"""TR401: parameters without a gradient, and gradients without an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import unused_gradient
from torchlint.runtime.probe.instrument_messages import GradientsSeen, ParameterGroup

if TYPE_CHECKING:
    from collections.abc import Sequence


def group(module: str, row: int = 5, parameters: int = 2, steps: int = 30) -> ParameterGroup:
    return ParameterGroup(module, ("/train.py", row), parameters, 1500, steps)


def judged(
    idle: Sequence[ParameterGroup] = (), nothing: Sequence[ParameterGroup] = (), known: bool = True
) -> Any:
    seen = GradientsSeen(known, [*idle], [*nothing])
    return findings(unused_gradient.kind, evidence(seen))


def test_parameters_without_a_gradient() -> None:
    (found,) = judged([group("head"), group("", steps=29)])
    assert found.place == ("/train.py", 5)
    assert found.fact == (
        "4 parameter tensors (3,000 values) without a gradient in any of 29 steps: "
        "head, outside of any module"
    )
    assert found.action == "add them to the loss, or take them out of the optimizer"
    assert found.share is None


def test_gradients_without_an_optimizer() -> None:
    groups = [group(f"encoder.{index}", parameters=1) for index in range(5)]
    (found,) = judged(nothing=groups)
    assert found.fact == (
        "5 parameter tensors (7,500 values) with gradients that no optimizer takes: "
        "encoder.0, encoder.1, encoder.2 and 2 more"
    )
    assert found.share is None
    assert found.rules == ("TL405",)


def test_each_optimizer_is_a_finding() -> None:
    assert [each.place[1] for each in judged([group("a"), group("b", 8)])] == [5, 8]


def test_few_steps_and_an_old_torch_say_nothing() -> None:
    assert judged([group("a", steps=9)], [group("b", steps=9)]) == []
    assert judged([group("a")], known=False) == []

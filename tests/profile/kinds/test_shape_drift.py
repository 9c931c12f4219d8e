"""TR302: layers whose inputs change their shape again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import shape_drift
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def module(*calls: int, **more: Any) -> dict[str, Any]:
    """Gets as many shapes as there are numbers of calls, each new one in a step of its own."""
    shapes = [[f"8x3x{size}x{size}", count] for size, count in enumerate(calls, 32)]
    about = {"name": "stem", "class": "Conv2d", "compiled": False, "place": ["/net.py", 7]}
    told = {"calls": sum(calls), "shapes": shapes, "others": 0, "fresh": len(shapes)}
    return {**about, **told, **more}


def judged(evidence: MakeEvidence, *modules: Any, benchmark: bool = False) -> Any:
    assert shape_drift.kind.judge is not None
    return list(shape_drift.kind.judge(evidence({"shapes": seen(modules, benchmark)})))


def tells(evidence: MakeEvidence, *modules: Any, benchmark: bool = False) -> Any:
    assert shape_drift.kind.teller is not None
    return list(shape_drift.kind.teller(evidence({"shapes": seen(modules, benchmark)})))


def seen(modules: tuple[Any, ...], benchmark: bool) -> dict[str, Any]:
    return {"benchmark": benchmark, "modules": list(modules), "more": 0}


def test_many_shapes_are_a_finding_without_a_ceiling(evidence: MakeEvidence) -> None:
    body = module(20, 30, 20, 30, name="body", place=["/net.py", 9])
    (found,) = judged(evidence, module(20, 30, 20, 30), body, benchmark=True)
    assert found.place == ("/net.py", 7)
    assert found.fact == "4 shapes in 100 steps, as `8x3x32x32` and `8x3x33x33`: stem and 1 more"
    assert found.action.startswith("`cudnn.benchmark` searches for each: switch it off")
    assert found.share is None
    assert found.values["modules"] == ["stem", "body"]


def test_while_the_search_is_off_shapes_are_told_and_are_no_finding(evidence: MakeEvidence) -> None:
    drifting = module(20, 30, 20, 30)
    assert judged(evidence, drifting) == []
    (told,) = tells(evidence, drifting)
    assert told.label == "shapes"
    assert told.text == (
        "`cudnn.benchmark` would search for each: 4 shapes in 100 steps, as `8x3x32x32` and "
        "`8x3x33x33`: stem, net.py:7"
    )
    assert tells(evidence, drifting, benchmark=True) == []
    (told,) = tells(evidence, module(100))
    assert told.text == "those of the convolutions suit `cudnn.benchmark`"
    assert tells(evidence) == tells(evidence, module(100, compiled=True)) == []


def test_more_shapes_than_are_told_apart(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, module(*[1] * 16, others=84, fresh=100), benchmark=True)
    assert found.fact.startswith("more than 16 shapes")


def test_compiled_modules_are_found_for_themselves(evidence: MakeEvidence) -> None:
    compiled = module(20, 30, 20, 30, compiled=True, name="", **{"class": "Net"})
    convolution, net = judged(evidence, compiled, module(20, 30, 20, 30), benchmark=True)
    assert "stem" in convolution.fact
    assert net.fact.endswith(": Net")
    assert net.action == "pad to a few sizes, or compile with `dynamic=True`"


@pytest.mark.parametrize(
    "found",
    [
        module(100),
        module(40, 30, 30),
        module(40, 30, 29, 1),  # the last batch
        module(20, 20, 20, 20, 20, fresh=1),  # a pyramid
        module(20, 20, 20, 20, 20, fresh=2),
    ],
)
def test_few_shapes_are_no_finding(evidence: MakeEvidence, found: dict[str, Any]) -> None:
    assert judged(evidence, found) == []


@pytest.mark.parametrize("more", [{"shapes": [["8x3", "2"]]}, {"shapes": None}, {"fresh": 0.5}])
def test_an_odd_message_is_refused(evidence: MakeEvidence, more: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, module(20, 20, 20, 40, **more))

"""TR302: layers whose inputs change their shape again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import shape_drift
from torchlint.runtime.probe.instrument_messages import ShapedModule, ShapesSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed, Told


def module(*calls: int, **more: Any) -> ShapedModule:
    """Gets as many shapes as there are numbers of calls, each new one in a step of its own."""
    shapes = {f"8x3x{size}x{size}": count for size, count in enumerate(calls, 32)}
    about = {"name": "stem", "kind": "Conv2d", "compiled": False, "place": ("/net.py", 7)}
    told = {"calls": sum(calls), "shapes": shapes, "fresh": len(shapes)}
    return ShapedModule(**{**about, **told, **more})


def judged(*modules: ShapedModule, benchmark: bool = False) -> list[Observed]:
    return findings(shape_drift.kind, evidence(ShapesSeen(benchmark, [*modules])))


def tells(*modules: ShapedModule, benchmark: bool = False) -> list[Told]:
    assert shape_drift.kind.teller is not None
    return list(shape_drift.kind.teller(evidence(ShapesSeen(benchmark, [*modules]))))


def test_many_shapes_are_a_finding_without_a_ceiling() -> None:
    body = module(20, 30, 20, 30, name="body", place=("/net.py", 9))
    (found,) = judged(module(20, 30, 20, 30), body, benchmark=True)
    assert found.place == ("/net.py", 7)
    assert found.fact == "4 shapes in 100 steps, as `8x3x32x32` and `8x3x33x33`: stem and 1 more"
    assert found.action.startswith("`cudnn.benchmark` searches for each: switch it off")
    assert found.share is None
    assert found.values["modules"] == ["stem", "body"]


def test_while_the_search_is_off_shapes_are_told_and_are_no_finding() -> None:
    drifting = module(20, 30, 20, 30)
    assert judged(drifting) == []
    (told,) = tells(drifting)
    assert told.label == "shapes"
    assert told.text == (
        "`cudnn.benchmark` would search for each: 4 shapes in 100 steps, as `8x3x32x32` and "
        "`8x3x33x33`: stem, net.py:7"
    )
    assert tells(drifting, benchmark=True) == []
    (told,) = tells(module(100))
    assert told.text == "those of the convolutions suit `cudnn.benchmark`"
    assert tells() == tells(module(100, compiled=True)) == []


def test_more_shapes_than_are_told_apart() -> None:
    (found,) = judged(module(*[1] * 16, others=84, fresh=100), benchmark=True)
    assert found.fact.startswith("more than 16 shapes")


def test_compiled_modules_are_found_for_themselves() -> None:
    compiled = module(20, 30, 20, 30, compiled=True, name="", kind="Net")
    convolution, net = judged(compiled, module(20, 30, 20, 30), benchmark=True)
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
def test_few_shapes_are_no_finding(found: ShapedModule) -> None:
    assert judged(found) == []

"""TR301: the table of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import layer_cost
from torchlint.profile.kinds.layer_cost import table
from torchlint.profile.layers import Row
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def module(name: str, self_seconds: float, **more: Any) -> dict[str, Any]:
    values = {"class": "Linear", "calls": 200, "own_parameters": 20, "shape": [8, 4]}
    return {"name": name, "self_seconds": self_seconds, **values, **more}


def found(*modules: Any) -> dict[str, Any]:
    return {"layers": {"forward_seconds": 0.5, "modules": list(modules)}}


def test_the_layers_that_take_most_come_first(evidence: MakeEvidence) -> None:
    seen = found(
        module("head", 0.1), module("stem", 0.35), module("", 0.05, shape=None, **{"class": "Net"})
    )
    assert table(evidence(seen)) == [
        Row("stem", "Linear", pytest.approx(0.7), 2.0, 20, "8, 4"),
        Row("head", "Linear", pytest.approx(0.2), 2.0, 20, "8, 4"),
        Row("Net", "Net", pytest.approx(0.1), 2.0, 20, ""),
    ]


def test_a_layer_is_at_the_line_that_calls_it(evidence: MakeEvidence) -> None:
    (row,) = table(evidence(found(module("stem", 0.35, place=["/x/net.py", 9]))))
    assert (row.path.endswith("net.py"), row.row) == (True, 9)


def test_at_most_twenty_layers_are_listed_and_none_that_takes_nothing(
    evidence: MakeEvidence,
) -> None:
    assert len(table(evidence(found(*(module(f"m{n}", 0.02) for n in range(25)))))) == 20
    assert table(evidence(found(module("small", 0.001)))) == []


def test_nothing_is_listed_without_a_forward_pass(evidence: MakeEvidence) -> None:
    assert table(evidence({})) == []
    assert table(evidence({"layers": {"forward_seconds": 0, "modules": [module("x", 0)]}})) == []


@pytest.mark.parametrize(
    "wrong", [module("x", 0.1, calls="2"), module("x", 0.1, shape=["8"]), "x", {"name": "x"}]
)
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: Any) -> None:
    with pytest.raises(MalformedError):
        table(evidence(found(wrong)))


def counted(*modules: Any, unattributed: int = 0) -> dict[str, Any]:
    """What the run of the kernels says of modules: name and FLOPs in 100 steps."""
    told = [{"name": name, "class": "Linear", "flops": flops} for name, flops in modules]
    flops = {"types": {"float32": 1}, "modules": told, "unattributed": unattributed}
    return {"kernels": {"why": "", "flops": flops}}


def test_flops_of_a_step_stand_beside_the_time_of_the_same_module(evidence: MakeEvidence) -> None:
    seen = found(module("head", 0.1), module("stem", 0.35), module("odd", 0.05))
    more = counted(("stem", 5e9), ("head", 0), ("odd", None))
    rows = table(evidence({**seen, **more}))
    assert [(row.name, row.flops) for row in rows] == [
        ("stem", 5e7),
        ("head", 0.0),
        ("odd", None),
    ]


def test_modules_that_nothing_tells_apart_have_no_flops(evidence: MakeEvidence) -> None:
    seen = found(module("", 0.1), module("", 0.35), module("stem", 0.05))
    rows = table(evidence({**seen, **counted(("", 5e9), ("stem", 5e9))}))
    assert [row.flops for row in rows] == [None, None, 5e7]
    there = found(module("", 0.1, place=["/a.py", 1]), module("", 0.35, place=["/a.py", 2]))
    kernels = counted(("", 1e9))
    kernels["kernels"]["flops"]["modules"][0]["place"] = ["/a.py", 2]
    assert [row.flops for row in table(evidence({**there, **kernels}))] == [1e7, None]


@pytest.mark.parametrize(
    "kernels",
    [
        {},
        {"kernels": {"why": "compiled regions are not seen"}},
        counted(("stem", 5e9), unattributed=1),
        {"kernels": {"why": "", "flops": {"types": None, "modules": []}}},
    ],
)
def test_flops_that_are_not_known_of_each_module_are_told_of_none(
    evidence: MakeEvidence, kernels: dict[str, Any]
) -> None:
    (row,) = table(evidence({**found(module("stem", 0.35)), **kernels}))
    assert row.flops is None


def test_a_layer_is_never_a_finding() -> None:
    assert layer_cost.kind.judge is None
    assert (layer_cost.kind.code, layer_cost.kind.name) == ("TR301", "layer-cost")

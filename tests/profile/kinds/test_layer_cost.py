"""TR301: the table of layers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.kinds.conftest import evidence
from torchlint.profile.kinds.layer_cost import table
from torchlint.profile.layer_table import Row
from torchlint.runtime.probe.instrument_messages import (
    FlopsSeen,
    KernelsSeen,
    LayersSeen,
    ModuleFlops,
    ModuleTimes,
)


def module(name: str, own_seconds: float, **more: Any) -> ModuleTimes:
    values = {"kind": "Linear", "calls": 200, "parameters": 20, "shape": (8, 4)}
    return ModuleTimes(**{"name": name, "own_seconds": own_seconds, **values, **more})


def found(*modules: ModuleTimes) -> LayersSeen:
    return LayersSeen([*modules], forward_seconds=0.5)


def test_the_layers_that_take_most_come_first() -> None:
    seen = found(
        module("head", 0.1), module("stem", 0.35), module("", 0.05, shape=None, kind="Net")
    )
    assert table(evidence(seen)) == [
        Row("stem", "Linear", pytest.approx(0.7), 2.0, 20, "8, 4"),
        Row("head", "Linear", pytest.approx(0.2), 2.0, 20, "8, 4"),
        Row("Net", "Net", pytest.approx(0.1), 2.0, 20, ""),
    ]


def test_a_layer_is_at_the_line_that_calls_it() -> None:
    (row,) = table(evidence(found(module("stem", 0.35, place=("/x/net.py", 9)))))
    assert (row.path.endswith("net.py"), row.row) == (True, 9)


def test_at_most_twenty_layers_are_listed_and_none_that_takes_nothing() -> None:
    assert len(table(evidence(found(*(module(f"m{n}", 0.02) for n in range(25)))))) == 20
    assert table(evidence(found(module("small", 0.001)))) == []


def test_nothing_is_listed_without_a_forward_pass() -> None:
    assert table(evidence()) == []
    assert table(evidence(LayersSeen([module("x", 0.0)]))) == []


def counted(
    *modules: tuple[str, int | None], place: tuple[str, int] | None = None, **more: Any
) -> KernelsSeen:
    """What the run of the kernels says of modules: name and FLOPs in 100 steps."""
    told = [ModuleFlops(name, "Linear", place, flops) for name, flops in modules]
    return KernelsSeen(flops=FlopsSeen({}, {"float32": 1}, told, **more))


def test_flops_of_a_step_are_next_to_the_time_of_the_same_module() -> None:
    seen = found(module("head", 0.1), module("stem", 0.35), module("odd", 0.05))
    rows = table(evidence(seen, counted(("stem", 5 * 10**9), ("head", 0), ("odd", None))))
    assert [(row.name, row.flops) for row in rows] == [("stem", 5e7), ("head", 0.0), ("odd", None)]


def test_modules_that_nothing_tells_apart_have_no_flops() -> None:
    seen = found(module("", 0.1), module("", 0.35), module("stem", 0.05))
    rows = table(evidence(seen, counted(("", 5 * 10**9), ("stem", 5 * 10**9))))
    assert [row.flops for row in rows] == [None, None, 5e7]
    there = found(module("", 0.1, place=("/a.py", 1)), module("", 0.35, place=("/a.py", 2)))
    kernels = counted(("", 10**9), place=("/a.py", 2))
    assert [row.flops for row in table(evidence(there, kernels))] == [1e7, None]


@pytest.mark.parametrize(
    "kernels",
    [
        [],
        [KernelsSeen("compiled regions are not seen")],
        [counted(("stem", 5 * 10**9), unattributed=1)],
        [KernelsSeen()],
    ],
)
def test_flops_that_are_not_known_of_each_module_are_told_of_none(kernels: list[Any]) -> None:
    (row,) = table(evidence(found(module("stem", 0.35)), *kernels))
    assert row.flops is None

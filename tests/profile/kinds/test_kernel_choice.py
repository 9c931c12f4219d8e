"""TR303: which kernels a step runs, told and never judged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.conftest import timing
from tests.profile.kinds.conftest import evidence
from torchlint.profile.kinds.kernel_choice import unseen
from torchlint.profile.run_findings import facts_of
from torchlint.runtime.probe.instrument_messages import (
    TF32,
    FlopsSeen,
    KernelsSeen,
    OptimizerKernels,
)


def seen(
    types: dict[str, int] | None = None,
    parts: dict[str, int] | None = None,
    uncounted: list[str] | None = None,
    **more: Any,
) -> KernelsSeen:
    """What the instrument saw in 100 steps of a script that computes nothing."""
    return KernelsSeen(flops=FlopsSeen(parts or {}, types or {}, [], uncounted or []), **more)


def optimizer(name: str = "AdamW", tensors: int = 4, **paths: int) -> OptimizerKernels:
    return OptimizerKernels(name, tensors, **paths)


def told(found: KernelsSeen, **more: Any) -> dict[str, str]:
    return {fact.label: fact.text for fact in facts_of(evidence(found, **more))}


def test_everything_measured_on_a_cpu_is_marked_as_such() -> None:
    found = seen(
        attention={"math": 100, "flash": 1200},
        optimizers=[
            optimizer(tensors=148, single=118_400),
            optimizer("SGD", 1, fused=10, foreach=90),
        ],
        types={"bfloat16": 750, "float32": 250},
    )
    assert told(found)["kernels"] == (
        "attention: math, flash; AdamW: one by one, 1,184 operations for 148 tensors; "
        "SGD: fused, 1 operation for 1 tensor; products in 75% bfloat16, 25% float32 "
        "(on a CPU; a GPU has other kernels)"
    )


@pytest.mark.parametrize(
    ("tf32", "words"),
    [
        (TF32(True, True), " (TF32 on)"),
        (TF32(False, False), " (TF32 off)"),
        (TF32(False, True), " (TF32 for convolutions, not for products)"),
        (TF32(True, False), " (TF32 for products, not for convolutions)"),
        (TF32(None, True), ""),
        (None, ""),
    ],
)
def test_on_a_gpu_float32_has_its_setting(tf32: TF32 | None, words: str) -> None:
    found = seen(types={"float32": 250}, tf32=tf32)
    assert told(found, device="cuda")["kernels"] == f"products in float32{words}"
    half = seen(types={"float16": 250}, tf32=tf32)
    assert told(half, device="cuda")["kernels"] == "products in float16"


def test_backends_have_the_names_that_people_know() -> None:
    found = seen(attention={"cudnn": 1, "overrideable": 1})
    said = told(found, device="cuda")["kernels"]
    assert said == "attention: cuDNN, that of the device"


def test_flops_are_those_of_a_step_against_the_undisturbed_one() -> None:
    found = seen(types={"float32": 150 * 10**9, "bfloat16": 10**11}, parts={"forward": 10**11})
    clock = timing(step_s=0.02)
    (_, fact) = facts_of(evidence(found, timing=clock, step_s=0.5))
    assert fact.text == "2.5 GFLOP a step, 125 GFLOP/s"
    assert fact.values == {
        "flops": 2.5e9,
        "flops_per_second": 1.25e11,
        "parts": {"forward": 1e9},
        "uncounted": [],
    }
    assert told(found, ranks=2)["FLOPs"].endswith(", of one process")


def test_what_was_not_counted_is_named() -> None:
    found = seen(types={"float32": 10**11}, uncounted=["a::b", "c::d", "e::f", "g::h", "i::j"])
    assert told(found)["FLOPs"].endswith("; not counted: a::b, c::d, e::f and 2 more")


def test_a_step_without_products_has_zero_and_no_kernels() -> None:
    assert told(seen()) == {"FLOPs": "0 FLOP a step, 0 FLOP/s"}
    idle = told(seen(optimizers=[optimizer()]))
    assert "kernels" not in idle


def test_what_could_not_be_seen_is_null_with_its_reason() -> None:
    compiled = evidence(KernelsSeen("compiled regions are not seen"))
    assert facts_of(compiled) == ()
    assert list(unseen(compiled)) == ["kernels and FLOPs (compiled regions are not seen)"]
    old = evidence(KernelsSeen(optimizers=[optimizer(single=400)]))
    assert [fact.label for fact in facts_of(old)] == ["kernels"]
    assert list(unseen(old)) == ["FLOPs (this torch has no formulas for them)"]
    assert list(unseen(evidence(seen()))) == list(unseen(evidence())) == []

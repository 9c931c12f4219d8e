"""TR503: memory by part of a step, told and never judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.profile.kinds.conftest import evidence
from torchlint.profile.run_findings import facts_of
from torchlint.runtime.probe.instrument_messages import MemorySeen

HOST = MemorySeen(
    "cpu",
    {"loader": 300.0, "forward": 500.0, "backward": 512.0, "optimizer": 310.0},
    before_mib=400.0,
    total_mib=8192.0,
)
GPU = MemorySeen(
    "cuda",
    {"forward": 6400.0, "backward": 12_800.0, "other": 6000.0},
    before_mib=400.0,
    total_mib=80_896.0,
    reserved_mib=13_312.0,
    outside_mib=700.0,
)


def text(found: MemorySeen, **more: Any) -> str:
    (fact,) = facts_of(evidence(found, **more))
    return fact.text


def test_the_largest_peak_is_told_with_its_part() -> None:
    (fact,) = facts_of(evidence(HOST))
    assert fact.text == "512 MiB of 8 GiB at most, in `backward` (main memory of one process)"
    assert fact.values == {
        "peak_mib": 512.0,
        "total_mib": 8192.0,
        "phases": {"data": 300.0, "forward": 500.0, "backward": 512.0, "optimizer": 310.0},
        "before_mib": 400.0,
        "exact": True,
    }


def test_no_part_is_named_if_others_have_as_much() -> None:
    found = replace(HOST, phases={"forward": 511.0, "backward": 512.0}, total_mib=None)
    assert text(found) == "512 MiB at most (main memory of one process)"


@pytest.mark.parametrize(
    ("lane", "words"), [("loader", "in the loader"), ("other", "between its parts")]
)
def test_parts_without_a_name_in_code_are_told_in_words(lane: str, words: str) -> None:
    assert f"at most, {words} (" in text(replace(HOST, phases={lane: 100.0}))


def test_more_in_the_warm_up_is_said() -> None:
    assert text(replace(HOST, before_mib=2048.0)).endswith("; 2 GiB before these steps")
    assert "before" not in text(replace(HOST, before_mib=515.0))


def test_on_a_gpu_the_allocator_and_what_is_outside_of_it_are_told() -> None:
    (fact,) = facts_of(evidence(GPU, device="cuda"))
    assert fact.text == (
        "12.5 GiB of 79 GiB at most, in `backward`; torch's allocator holds 13 GiB, "
        "700 MiB are outside of it"
    )
    assert (fact.values["unused_mib"], fact.values["retries"]) == (512.0, 0)


@pytest.mark.parametrize(("retries", "words"), [(1, "; 1 retry"), (3, "; 3 retries")])
def test_retries_are_told(retries: int, words: str) -> None:
    assert text(replace(GPU, retries=retries), device="cuda").endswith(words)
    assert "(one of the GPUs)" in text(GPU, device="cuda", ranks=2)


def test_nothing_is_told_of_a_window_that_saw_nothing() -> None:
    assert facts_of(evidence(replace(HOST, phases={}))) == ()

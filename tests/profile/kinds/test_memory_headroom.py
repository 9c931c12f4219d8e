"""TR503: memory by part of a step, told and never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.judging import facts_of
from torchlint.profile.kinds import memory_headroom
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence

HOST: dict[str, Any] = {
    "device": "cpu",
    "exact": True,
    "total_mib": 8192.0,
    "before_mib": 400.0,
    "phases": {"loader": 300.0, "forward": 500.0, "backward": 512.0, "optimizer": 310.0},
}
GPU = {
    **HOST,
    "device": "cuda",
    "total_mib": 80_896.0,
    "phases": {"forward": 6400.0, "backward": 12_800.0, "other": 6000.0},
    "reserved_mib": 13_312.0,
    "outside_mib": 700.0,
    "retries": 0,
}


def text(evidence: MakeEvidence, found: dict[str, Any], **more: Any) -> str:
    (fact,) = facts_of(evidence({"memory": found}, **more))
    return fact.text


def test_the_largest_peak_is_told_with_its_part(evidence: MakeEvidence) -> None:
    (fact,) = facts_of(evidence({"memory": HOST}))
    assert fact.text == "512 MiB of 8 GiB at most, in `backward` (main memory of one process)"
    assert fact.values == {
        "peak_mib": 512.0,
        "total_mib": 8192.0,
        "phases": {"data": 300.0, "forward": 500.0, "backward": 512.0, "optimizer": 310.0},
        "before_mib": 400.0,
        "exact": True,
    }


def test_no_part_is_named_if_others_have_as_much(evidence: MakeEvidence) -> None:
    found = {**HOST, "phases": {"forward": 511.0, "backward": 512.0}, "total_mib": None}
    assert text(evidence, found) == "512 MiB at most (main memory of one process)"


@pytest.mark.parametrize(
    ("lane", "words"), [("loader", "in the loader"), ("other", "between its parts")]
)
def test_parts_without_a_name_in_code_are_told_in_words(
    evidence: MakeEvidence, lane: str, words: str
) -> None:
    assert f"at most, {words} (" in text(evidence, {**HOST, "phases": {lane: 100.0}})


def test_more_in_the_warm_up_is_said(evidence: MakeEvidence) -> None:
    assert text(evidence, {**HOST, "before_mib": 2048}).endswith("; 2 GiB before these steps")
    assert "before" not in text(evidence, {**HOST, "before_mib": 515})


def test_on_a_gpu_the_allocator_and_what_lies_outside_of_it_are_told(
    evidence: MakeEvidence,
) -> None:
    (fact,) = facts_of(evidence({"memory": GPU}, device="cuda"))
    assert fact.text == (
        "12.5 GiB of 79 GiB at most, in `backward`; torch's allocator holds 13 GiB, "
        "700 MiB lie outside of it"
    )
    assert (fact.values["unused_mib"], fact.values["retries"]) == (512.0, 0)


@pytest.mark.parametrize(("retries", "words"), [(1, "; 1 retry"), (3, "; 3 retries")])
def test_retries_are_told(evidence: MakeEvidence, retries: int, words: str) -> None:
    assert text(evidence, {**GPU, "retries": retries}, device="cuda").endswith(words)
    assert "(one of the GPUs)" in text(evidence, GPU, device="cuda", ranks=2)


def test_nothing_is_told_of_a_window_that_saw_nothing(evidence: MakeEvidence) -> None:
    assert facts_of(evidence({"memory": {**HOST, "phases": {}}})) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {**HOST, "phases": {"forward": "much"}},
        {**HOST, "exact": 1},
        {name: each for name, each in GPU.items() if name != "retries"},
    ],
)
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: Any) -> None:
    with pytest.raises(MalformedError):
        facts_of(evidence({"memory": wrong}))


def test_it_is_never_a_finding() -> None:
    assert memory_headroom.kind.judge is None
    kind = memory_headroom.kind
    assert (kind.code, kind.name) == ("TR503", "memory-headroom")

"""TR104: batches that carry bytes as floating-point numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import bytes_as_floats
from torchlint.runtime.probe.instrument_messages import (
    ByteBatches,
    FloatBytesSeen,
    HostCall,
    InputSeen,
    LoaderOptions,
    LoaderWaits,
    ReadsSeen,
)

PLACE = ("/train.py", 20)


def judged(
    workers: int = 2, wait_s: float = 0.5, replay: float = 0.4, *copies: HostCall, **more: Any
) -> Any:
    """In a window of a hundred steps of 10 ms, a batch of 4 MiB each."""
    batches = ByteBatches(PLACE, 100, 1 << 22, 4, 0.003, 0.0005)
    loader = LoaderOptions("Images", workers, 8)
    waits = LoaderWaits(PLACE, ("/train.py", 5), loader, batches=100, wait_s=wait_s)
    seen = FloatBytesSeen([batches]), InputSeen([waits]), ReadsSeen([], [*copies])
    return findings(bytes_as_floats.kind, evidence(*seen, saved={"replay": replay}, **more))


def test_workers_write_side_by_side_and_one_process_reads() -> None:
    (found,) = judged(processors=2)
    assert (found.place, found.made) == (PLACE, ("/train.py", 5))
    assert found.fact == (
        "4.19 MB a step of floating-point numbers that are whole bytes, 1.05 MB as `uint8`"
    )
    assert found.share == pytest.approx(0.2)
    (alone,) = judged(processors=1)
    assert alone.share == pytest.approx(0.35)


def test_it_costs_no_more_than_the_step_waits_for_batches() -> None:
    (found,) = judged(wait_s=0.1, replay=0.05)
    assert found.share == pytest.approx(0.05)


def test_without_workers_nothing_is_sent() -> None:
    assert judged(workers=0) == []


def test_a_step_that_does_not_wait_loses_nothing() -> None:
    assert judged(wait_s=0.0) == []
    assert judged(replay=0.0) == []


def test_copies_to_a_gpu_take_a_quarter_of_their_time() -> None:
    copy = HostCall(PLACE, "pageable", calls=100, seconds=0.2, size=100 << 22)
    (found,) = judged(0, 0.0, 0.0, copy, device="cuda")
    assert found.share == pytest.approx(0.15)
    larger = HostCall(PLACE, "pageable", calls=100, seconds=0.2, size=200 << 22)
    (found,) = judged(0, 0.0, 0.0, larger, device="cuda")
    assert found.share == pytest.approx(0.075)

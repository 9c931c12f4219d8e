"""The time of a thread, without what it waits for a processor."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.machine import thread_time
from torchlint.runtime.probe.machine.thread_time import ThreadTime

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts it")
def test_the_system_says_how_long_a_thread_had_no_processor() -> None:
    clock = ThreadTime()
    seen = [clock.held_s(), clock.held_s()]
    clock.close()
    assert None not in seen
    assert seen == sorted(seen)  # type: ignore[type-var]


def test_it_stops_without_a_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = tmp_path / "schedstat"
    counts.write_text("7000000000 2000000000 5\n")
    monkeypatch.setattr(thread_time, "_FILE", str(counts))
    clock = ThreadTime()
    before = clock.now_s()
    counts.write_text("7000000000 5000000000 5\n")
    assert clock.held_s() == 5
    assert clock.now_s() < before - 2.5
    clock.close()


def test_a_thread_that_loses_its_processor_between_the_two_clocks_reads_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = tmp_path / "schedstat"
    counts.write_text("7000000000 2000000000 5\n")
    readings = iter([10.0, 13.0])

    def interrupted() -> float:
        counts.write_text("7000000000 5000000000 6\n")
        return next(readings)

    monkeypatch.setattr(thread_time, "_FILE", str(counts))
    monkeypatch.setattr(thread_time, "time", SimpleNamespace(perf_counter=interrupted))
    clock = ThreadTime()
    assert clock.read() == (8, 5)
    clock.close()


@pytest.mark.parametrize("text", [None, "", "none\n"])
def test_where_the_system_says_nothing_it_is_the_time_that_passes(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    monkeypatch.setattr(thread_time, "_FILE", str(tmp_path / "schedstat"))
    clock = ThreadTime()
    assert clock.held_s() is None
    assert time.perf_counter() <= clock.now_s() <= time.perf_counter() + 1
    clock.close()
    clock.close()

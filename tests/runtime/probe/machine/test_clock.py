"""The GPU's clock is asked in the right order, and waited for once; the host's adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.probe.fake_cuda import FakeCuda
from torchlint.runtime.probe.machine import clock as clock_module
from torchlint.runtime.probe.machine.clock import CpuClock, CudaClock, clock_for, is_capturing
from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """`passes(wall, cpu)` lets seconds pass on the host."""
    now = [100.0, 50.0]

    def pass_by(wall: float, cpu: float) -> None:
        now[0] += wall
        now[1] += cpu

    monkeypatch.setattr(clock_module.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(clock_module.time, "process_time", lambda: now[1])
    return pass_by


def settings(device: str) -> RunSettings:
    return RunSettings(main="x.py", project="p", mode="measure", device=device)


def test_the_host_is_timed_from_start_to_stop(passes: Callable[[float, float], None]) -> None:
    clock = CpuClock()
    passes(7.0, 7.0)
    clock.start()
    passes(3.0, 2.0)
    clock.stop()
    passes(5.0, 5.0)
    clock.settle()
    reading = clock.read()
    assert (reading.wall, reading.cpu, reading.gpu, reading.throttled) == (3.0, 2.0, None, None)
    assert reading.memory_mb > 1.0


def test_the_gpu_is_timed_in_its_stream(passes: Callable[[float, float], None]) -> None:
    cuda = FakeCuda()
    clock = CudaClock(cuda)
    cuda.stream_ms = 40.0
    clock.start()
    passes(0.5, 0.25)
    cuda.stream_ms = 140.0
    clock.stop()
    assert "synchronize" not in cuda.calls
    passes(9.0, 9.0)
    cuda.stream_ms = 200.0
    clock.settle()
    reading = clock.read()
    assert (reading.wall, reading.cpu, reading.gpu) == (0.5, 0.25, 0.1)


def test_the_gpu_is_waited_for_once_a_block_and_its_clock_is_read_before() -> None:
    cuda = FakeCuda()
    cuda.rates = [1980]
    clock = CudaClock(cuda)
    clock.start()
    clock.stop()
    clock.settle()
    clock.read()
    assert cuda.calls == ["reset", "record", "record", "clock_rate", "synchronize"]


def test_a_block_on_the_gpu_ends_in_the_midst_of_work() -> None:
    assert (CpuClock().tail, CudaClock(FakeCuda()).tail) == (0, 1)


def test_memory_on_the_gpu_is_the_peak_since_the_warm_up() -> None:
    cuda = FakeCuda()
    clock = CudaClock(cuda)
    cuda.peak = 900 << 20
    for peak in (300 << 20, 400 << 20):
        clock.start()
        cuda.peak = max(cuda.peak, peak)
        clock.stop()
        clock.settle()
    assert clock.read().memory_mb == 400.0
    assert cuda.calls.count("reset") == 1


def test_events_that_cannot_be_compared_give_no_time() -> None:
    cuda = FakeCuda()
    clock = CudaClock(cuda)
    clock.settle()
    assert clock.read().gpu is None


def test_a_clock_that_is_held_back_is_noticed() -> None:
    cuda = FakeCuda()
    cuda.rates = [1900, 1980, 1790, 1700]
    clock = CudaClock(cuda)
    seen = []
    for _ in range(4):
        clock.settle()
        seen.append(clock.read().throttled)
    assert seen == [False, False, False, True]


def test_a_block_tells_the_clock_at_its_end() -> None:
    cuda = FakeCuda()
    cuda.rates = [1900, RuntimeError("no permission")]
    clock = CudaClock(cuda)
    seen = []
    for _ in range(2):
        clock.settle()
        seen.append(clock.read().clock_mhz)
    assert seen == [1900, None]
    assert CpuClock().read().clock_mhz is None


@pytest.mark.parametrize("error", [ModuleNotFoundError("pynvml"), RuntimeError("no permission")])
def test_a_clock_that_cannot_be_read_is_not_asked_again(error: Exception) -> None:
    cuda = FakeCuda()
    cuda.rates = [error, 1980]
    clock = CudaClock(cuda)
    for _ in range(2):
        clock.settle()
        assert clock.read().throttled is None
    assert cuda.calls.count("clock_rate") == 1


@pytest.mark.parametrize(
    ("device", "initialized", "available", "on_gpu"),
    [
        ("auto", True, True, True),
        ("auto", False, True, False),
        ("auto", True, False, False),
        ("cuda", True, True, True),
        ("cuda", False, True, False),
        ("cpu", True, True, False),
    ],
)
def test_the_gpu_is_timed_if_the_script_has_woken_it(
    device: str, initialized: bool, available: bool, on_gpu: bool
) -> None:
    cuda = FakeCuda(initialized=initialized, available=available)
    assert isinstance(clock_for(settings(device), cuda), CudaClock) is on_gpu


def test_a_gpu_that_sleeps_captures_nothing() -> None:
    assert not is_capturing(FakeCuda(initialized=False))
    cuda = FakeCuda()
    cuda.capturing = True
    assert is_capturing(cuda)

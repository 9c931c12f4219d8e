"""The memory of each part of a step, on the host and as torch's allocator counts it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch._dynamo.utils  # before CUDA is replaced: it reads types from there

from tests.runtime.probe.fake_cuda import FakeCuda
from torchlint.runtime.probe.instrument_messages import MemorySeen
from torchlint.runtime.probe.instruments import memory
from torchlint.runtime.probe.instruments.memory import DeviceMeter, HostMeter, MemoryObserver
from torchlint.runtime.probe.run_settings import WINDOW, Anchor, RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.runtime.probe.conftest import RunProbe

MIB = 1 << 20
SETTINGS = RunSettings(main="train.py", project="/nowhere")


class Steps:
    """Trains with an allocator that is a number."""

    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda
        steps = self

        class Net(torch.nn.Linear):
            def forward(self, inputs: torch.Tensor) -> torch.Tensor:
                steps.use(forward=True)
                return super().forward(inputs)

        class Descent(torch.optim.SGD):
            def step(self, closure: Any = None) -> Any:
                steps.use(optimizer=True)
                return super().step(closure)

        self.net = Net(2, 2)
        self.optimizer = Descent(self.net.parameters(), lr=0.1)
        self.sizes = {"forward": 0, "optimizer": 0, "other": 0}

    def use(self, **parts: bool) -> None:
        for part in parts:
            self.cuda.allocate(self.sizes[part] * MIB)
            self.cuda.allocate(-self.sizes[part] * MIB)

    def take(self, **sizes: int) -> None:
        """A step with so many MiB for a moment in each of its parts."""
        self.sizes |= sizes
        self.net(torch.ones(2)).sum().backward()
        self.optimizer.step()
        self.use(other=True)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = FakeCuda()
    monkeypatch.setattr(memory, "uses_gpu", lambda *_: True)
    monkeypatch.setattr(torch, "cuda", fake)
    return fake


@pytest.fixture
def watch() -> Iterator[MemoryObserver]:
    watch = MemoryObserver(SETTINGS)
    yield watch
    watch.close()


def test_each_part_has_its_peak_over_all_steps(cuda: FakeCuda, watch: MemoryObserver) -> None:
    steps = Steps(cuda)
    cuda.allocate(10 * MIB)
    steps.take(forward=500)
    watch.open()
    for forward in (20, 60, 40):
        steps.take(forward=forward, optimizer=30, other=5)
        watch.passed()
    found = watch.close()
    assert found.phases == {
        "forward": 70.0,
        "backward": 10.0,
        "optimizer": 40.0,
        "other": 15.0,
    }
    assert (found.before_mib, found.device, found.exact) == (510.0, "cuda", True)


def test_what_the_allocator_holds_and_what_it_does_not(
    cuda: FakeCuda, watch: MemoryObserver
) -> None:
    steps = Steps(cuda)
    cuda.retries, cuda.outside = 3, 200 * MIB
    cuda.allocate(100 * MIB)
    watch.open()
    steps.take(forward=50)
    cuda.retries = 5
    watch.passed()
    found = watch.close()
    assert found.total_mib == 1024.0
    assert (found.reserved_mib, found.outside_mib, found.retries) == (150.0, 200.0, 2)


def test_what_was_reserved_before_the_window_and_given_back_does_not_count(
    cuda: FakeCuda,
) -> None:
    cuda.allocate(300 * MIB)
    cuda.allocate(-300 * MIB)
    cuda.reserved = 0
    meter = DeviceMeter(cuda)
    assert meter.peak() == 300.0
    cuda.allocate(10 * MIB)
    assert meter.peak() == 10.0
    assert meter.known().reserved_mib == 10.0


def test_peaks_are_read_before_they_are_forgotten_and_nothing_waits(cuda: FakeCuda) -> None:
    meter = DeviceMeter(cuda)
    cuda.allocate(8 * MIB)
    assert [meter.peak(), meter.peak()] == [8.0, 8.0]
    assert cuda.calls == ["reset", "reset"]


def test_other_threads_and_what_follows_the_window_do_not_count(
    cuda: FakeCuda, watch: MemoryObserver
) -> None:
    steps = Steps(cuda)
    watch.open()
    thread = threading.Thread(target=steps.take, kwargs={"forward": 90})
    thread.start()
    thread.join()
    assert watch.close().phases == {}
    steps.take(forward=80)
    assert watch.close().phases == {}


def test_a_forked_process_does_not_count(cuda: FakeCuda, watch: MemoryObserver) -> None:
    watch.open()
    watch.rest()
    Steps(cuda).take(forward=80)
    assert watch.close().phases == {}


def status(folder: Path, peak: int, now: int) -> None:
    (folder / "status").write_text(f"Name:\tx\nVmHWM:\t {peak} kB\nVmRSS:\t  {now} kB\n")


def test_on_linux_the_peak_is_reset(tmp_path: Path) -> None:
    status(tmp_path, 2048, 1024)
    (tmp_path / "clear_refs").write_text("")
    meter = HostMeter(str(tmp_path))
    assert meter.peak() == 2.0
    assert (tmp_path / "clear_refs").read_text() == "5"
    assert meter.known().exact is True


def test_the_moments_count_where_it_may_not(tmp_path: Path) -> None:
    status(tmp_path, 4096, 1024)
    meter = HostMeter(str(tmp_path))
    assert [meter.peak(), meter.peak()] == [4.0, 1.0]
    assert meter.known().exact is False


def test_without_the_files_of_linux_the_peak_is_that_of_the_process(tmp_path: Path) -> None:
    meter = HostMeter(str(tmp_path / "none"))
    assert meter.peak() > 10
    assert meter.known().exact is False
    (tmp_path / "status").write_text("Name:\tx\n")
    assert HostMeter(str(tmp_path)).peak() > 10


PLANTED = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(4, 4)

        def forward(self, x):
            torch.ones(64, 1 << 20)  # 256 MiB, gone at once
            return self.line(x)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    while True:
        optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    """


def test_a_planted_tensor_shows_in_its_part_of_the_step(run_probe: RunProbe) -> None:
    outcome = run_probe(
        "train.py",
        overlay={"train.py": PLANTED},
        mode=WINDOW,
        anchor=Anchor("optimizer"),
        instruments=("memory",),
        skip=2,
        steps=3,
        until=("ended", "window"),
    )
    (window,) = outcome.of("window")
    found = MemorySeen(**window["found"]["memory"])
    if not found.exact:
        pytest.skip("this system does not allow resetting the peak")
    phases = found.phases
    assert phases["forward"] > phases["backward"] + 200
    assert abs(phases["backward"] - phases["optimizer"]) < 50
    assert found.total_mib > found.before_mib >= phases["forward"] - 50

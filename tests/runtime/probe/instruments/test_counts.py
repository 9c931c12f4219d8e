"""What the steps of a window do, counted."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import distributed, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import counts
from torchlint.runtime.probe.wrapping import interpose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import CountsSeen

    Watch = Callable[..., CountsSeen]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """`watch(work)`: what is seen in so many calls of it."""
    user = UserFile(tmp_path, "")

    def see(work: Callable[[], object], steps: int = 1) -> CountsSeen:
        before = private.dispatch_mode()
        seen: CountsSeen = user.watched(counts, work, steps)
        assert private.dispatch_mode() is before
        return seen

    return see


@pytest.fixture
def group() -> Iterator[None]:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_operations_and_the_tensors_that_they_make_are_counted(watch: Watch) -> None:
    x = torch.ones(4, 4)

    def work() -> None:
        made = x + 1
        made.add_(1)
        made.t()  # a view
        made.view(16)
        torch.mm(made, made, out=made.clone())

    seen = watch(work, 3)
    assert seen.why == ""
    assert seen.operations == 3 * 6
    assert seen.allocations == 3 * 2
    assert seen.flops == 3 * 2 * 4 * 4 * 4
    assert (seen.kernels, seen.copied, seen.has_ranks, seen.on_gpu) == (None, 0, False, False)


def test_a_training_step_counts_the_same_each_time(watch: Watch) -> None:
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(net.parameters())
    x = torch.ones(4, 8)

    def step() -> None:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()

    step()
    one, again = watch(step), watch(step)
    assert asdict(one) == asdict(again)
    ten = watch(step, 10)
    assert ten.operations == 10 * one.operations > 0
    assert ten.flops == 10 * one.flops
    # Forward, the gradients of both weights, and of the input of the second layer.
    assert one.flops == 2 * 4 * (2 * (8 * 16 + 16 * 2) + 16 * 2)


def test_what_a_dataset_computes_is_left_out_and_batches_are_counted(watch: Watch) -> None:
    class Data:
        def __len__(self) -> int:
            return 100

        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.ones(3).mul(2).add(1)

    batches = iter(DataLoader(Data(), batch_size=2))  # type: ignore[arg-type]
    seen = watch(lambda: next(batches) + 1, 4)
    assert (seen.batches, seen.operations) == (4, 4)


def test_after_the_window_nothing_is_counted(tmp_path: Path) -> None:
    user = UserFile(tmp_path, "")
    watch: Any = counts.watch(user.settings)
    batches = iter(DataLoader(torch.ones(9, 1)))  # type: ignore[arg-type]
    next(batches)
    watch.open()
    next(batches)
    seen = watch.close()
    next(batches)
    assert (seen.batches, seen.operations) == (1, 0)


def test_messages_between_ranks_are_counted_those_of_ddp_too(group: None, watch: Watch) -> None:
    net = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    x = torch.ones(2, 4)

    def work() -> None:
        net(x).sum().backward()
        distributed.all_reduce(x)
        distributed.all_reduce(x, async_op=True).wait()  # type: ignore[union-attr]

    work()
    work()  # in the second pass DDP makes its buckets anew
    seen = watch(work, 2)
    assert seen.has_ranks
    assert seen.collectives == 2 * 3


def test_bytes_are_those_between_devices(watch: Watch) -> None:
    x = torch.ones(8)

    def work() -> None:
        x.to("meta")
        torch.empty(8, dtype=torch.float64, device="meta").copy_(x)
        x.to(torch.float64)
        x.clone().copy_(x)

    assert watch(work).copied == 2 * 8 * 4


def test_compiled_functions_are_not_seen(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "compiled_frames", lambda: 1)
    seen = watch(lambda: torch.ones(3) + 1)
    assert seen.why == "compiled regions are not seen"
    assert (seen.operations, seen.allocations) == (0, None)


def test_a_mode_of_the_script_is_left_alone(watch: Watch) -> None:
    class Mine(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            return func(*args, **(kwargs or {}))

    with Mine():
        seen = watch(lambda: torch.ones(3) + 1)
    assert seen.why == "the script has a dispatch mode of its own"


def test_products_of_unknown_size_make_the_flops_unknown(watch: Watch) -> None:
    product = torch.eye(3).to_sparse()
    assert watch(lambda: torch.mm(product, torch.ones(3, 3))).flops is None


def test_other_threads_are_not_heard(watch: Watch) -> None:
    def work() -> None:
        thread = threading.Thread(target=lambda: torch.ones(3) + 1)
        thread.start()
        thread.join()

    assert watch(work).operations == 0


class Event:
    """What torch's profiler tells of."""

    def __init__(self, name: str, device: str = "DeviceType.CUDA", *, notes: bool = False) -> None:
        self.name, self.device_type, self.is_user_annotation = name, device, notes


def test_kernels_are_neither_copies_nor_annotations() -> None:
    events = [
        Event("gemm"),
        Event("elementwise"),
        Event("Memcpy HtoD (Pageable -> Device)"),
        Event("Memset (Device)"),
        Event("Optimizer.step#SGD.step", notes=True),
        Event("aten::mm", "DeviceType.CPU"),
    ]
    assert [each.name for each in events if counts._is_kernel(each)] == ["gemm", "elementwise"]


def test_its_own_error_does_not_reach_the_script(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError

    monkeypatch.setattr(counts, "_made", broken)
    monkeypatch.setattr(interpose, "complain", lambda *_: None, raising=False)
    assert watch(lambda: torch.ones(3) + 1).operations == 2

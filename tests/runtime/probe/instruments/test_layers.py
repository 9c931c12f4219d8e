"""The time of each module, and what backward passes compute again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import layers
from torchlint.runtime.probe.instruments.layers import DeviceClock, LayerObserver
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import LayersSeen, ModuleTimes

TRAIN = """
import time
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Slow(nn.Module):
    def __init__(self, delay):
        super().__init__()
        self.line = nn.Linear(4, 4)
        self.delay = delay

    def forward(self, x):
        time.sleep(self.delay)
        return torch.tanh(self.line(x))  # line

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Slow(0.004), Slow(0.001)])
        self.again = False

    def forward(self, x):
        for block in self.blocks:
            if self.again:
                x = checkpoint(block, x, use_reentrant=False)  # checkpoint
            else:
                x = block(x)  # block
        return {"logits": x}

class Fails(nn.Module):
    def forward(self, x):
        raise KeyError

def step(net):
    net(torch.ones(2, 4))["logits"].sum().backward()  # root

class Images(torch.utils.data.Dataset):
    scale = nn.Linear(4, 4)

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.scale(torch.ones(4)).detach()

def epoch(net):
    for batch in torch.utils.data.DataLoader(Images()):
        net(batch)

def one_step_modules(steps, stepped):
    for _ in range(steps):
        nn.Sequential(nn.Linear(4, 4))(torch.ones(2, 4))  # made here
        stepped()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.fixture
def watch(user: UserFile) -> Iterator[LayerObserver]:
    watch = layers.watch(user.settings)
    watch.open()
    yield watch
    watch.close()


def modules(found: LayersSeen) -> dict[str, ModuleTimes]:
    return {each.label: each for each in found.modules}


def test_time_is_shared_out_to_modules_by_name(user: UserFile, watch: LayerObserver) -> None:
    net = user.module.Net()
    for _ in range(5):
        user.module.step(net)
        watch.passed()
    found = watch.close()
    seen = modules(found)
    assert set(seen) == {"Net", "blocks.0", "blocks.0.line", "blocks.1", "blocks.1.line"}
    assert [each.calls for each in seen.values()] == [5] * 5
    assert seen["Net"].seconds == pytest.approx(found.forward_seconds)
    assert seen["blocks.0"].own_seconds >= 5 * 0.004
    assert seen["blocks.1"].own_seconds >= 5 * 0.001
    assert seen["blocks.0"].seconds > seen["blocks.0"].own_seconds
    own = sum(each.own_seconds for each in seen.values())
    assert own == pytest.approx(found.forward_seconds)
    assert found.again_seconds == 0


def test_the_transforms_of_a_data_set_are_no_part_of_forward(
    user: UserFile, watch: LayerObserver
) -> None:
    user.module.epoch(user.module.Slow(0.0))
    assert [each.kind for each in watch.close().modules] == ["Slow", "Linear"]


def test_a_module_is_described(user: UserFile, watch: LayerObserver) -> None:
    net = user.module.Net()
    user.module.step(net)
    seen = modules(watch.close())
    assert seen["Net"].kind == "Net"
    assert seen["Net"].place == user.place("# root")
    assert (seen["Net"].parameters, seen["Net"].shape) == (0, (2, 4))
    assert seen["blocks.1"].place == user.place("# block")
    assert seen["blocks.1.line"].place == user.place("# line")
    assert seen["blocks.1.line"].parameters == 20


def test_what_a_backward_pass_computes_again_counts_apart(
    user: UserFile, watch: LayerObserver
) -> None:
    net = user.module.Net()
    net.again = True
    for _ in range(3):
        user.module.step(net)
        watch.passed()
    found = watch.close()
    seen = modules(found)
    assert (seen["Net"].calls, seen["Net"].again_calls) == (3, 0)
    assert (seen["blocks.0"].calls, seen["blocks.0"].again_calls) == (3, 3)
    assert seen["blocks.0.line"].again_calls == 3
    assert seen["blocks.0.line"].again_seconds == 0
    again = [seen[name].again_seconds for name in ("blocks.0", "blocks.1")]
    assert again[0] >= 3 * 0.004
    assert again[1] >= 3 * 0.001
    assert found.again_seconds == pytest.approx(sum(again))
    assert seen["blocks.0"].place == user.place("# checkpoint")
    assert seen["Net"].seconds == pytest.approx(found.forward_seconds)


def test_a_call_that_fails_is_over(user: UserFile, watch: LayerObserver) -> None:
    with pytest.raises(KeyError):
        user.module.Fails()(torch.ones(1))
    net = user.module.Net()
    user.module.step(net)
    found = watch.close()
    seen = modules(found)
    assert found.forward_seconds == pytest.approx(seen["Net"].seconds + seen["Fails"].seconds)


def test_modules_of_one_step_are_merged(user: UserFile, watch: LayerObserver) -> None:
    user.module.one_step_modules(20, watch.passed)
    found = watch.close().modules
    assert {(each.kind, each.calls) for each in found} == {
        ("Sequential", 20),
        ("Linear", 20),
    }
    root = next(each for each in found if each.kind == "Sequential")
    assert root.place == user.place("# made here")
    assert root.parameters == 0


def test_a_module_that_is_gone_after_many_steps_keeps_its_name(
    user: UserFile, watch: LayerObserver
) -> None:
    net = user.module.Net()
    for _ in range(4):
        user.module.step(net)
        watch.passed()
    del net
    assert "blocks.1.line" in modules(watch.close())


def test_there_is_an_end_to_the_modules_that_are_kept(
    user: UserFile, watch: LayerObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "_MOST_MODULES", 2)
    net = user.module.Net()
    user.module.step(net)
    assert len(watch.close().modules) == 2


def test_a_root_module_that_ends_the_steps_is_seen(user: UserFile) -> None:
    net = user.module.Net()
    undo = events.at_anchor(Anchor("forward"), lambda: None)
    user.module.step(net)
    before = user.module.Net.__call__
    undo_other = events.watch_forward(lambda *_: None)
    found = modules(user.watched(layers, lambda: user.module.step(net), 1))
    assert {name: each.calls for name, each in found.items()} == {
        "Net": 1, "blocks.0": 1, "blocks.0.line": 1, "blocks.1": 1, "blocks.1.line": 1,
    }  # fmt: skip
    assert user.module.Net.__call__ is before
    undo_other()
    undo()


def test_what_was_computed_is_the_same(user: UserFile, watch: LayerObserver) -> None:
    net, inputs = user.module.Net(), torch.randn(2, 4)
    watched = net(inputs)["logits"]
    watch.close()
    assert torch.equal(watched, net(inputs)["logits"])


def test_a_compiled_module_is_one_row_and_is_not_compiled_again(user: UserFile) -> None:
    counters = torch._dynamo.utils.counters
    net = torch.compile(user.module.nn.Sequential(torch.nn.Linear(4, 4)), backend="eager")
    net(torch.ones(2, 4))
    before = dict(counters["frames"])
    found = user.watched(layers, lambda: net(torch.ones(2, 4)), 1)
    assert dict(counters["frames"]) == before
    assert [each.kind for each in found.modules] == ["OptimizedModule"]


class Event:
    """Reads a clock of its own that ticks a second for each event; ready when told."""

    ticks = 0
    ready = False

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        Event.ticks += 1
        self.at = Event.ticks

    def query(self) -> bool:
        return Event.ready

    def elapsed_time(self, last: Event) -> float:
        return 1000.0 * (last.at - self.at)


class Cuda:
    """As much of `torch.cuda` as the clock needs."""

    Event = Event
    made = 0
    synchronized = 0

    def is_initialized(self) -> bool:
        return True

    def is_current_stream_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        self.synchronized += 1


def test_events_of_the_gpu_are_read_when_it_has_reached_them(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "ready", False)
    cuda = Cuda()
    monkeypatch.setattr(layers, "uses_gpu", lambda *_: True)
    monkeypatch.setattr(torch, "cuda", cuda)
    watch = layers.watch(user.settings)
    watch.open()
    line = torch.nn.Sequential(torch.nn.Linear(4, 4))
    line(torch.ones(4))
    watch.passed()
    assert watch._seen.forward_seconds == 0
    Event.ready = True
    watch.passed()
    assert watch._seen.forward_seconds == 3
    line(torch.ones(4))
    found = watch.close()
    seen = modules(found)
    assert (found.forward_seconds, cuda.synchronized) == (6, 1)
    assert (seen["Sequential"].seconds, seen["Sequential"].own_seconds) == (6, 4)
    assert (seen["0"].seconds, seen["0"].own_seconds) == (2, 2)


def test_calls_beyond_what_can_wait_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "_MOST_PAIRS", 1)
    monkeypatch.setattr(Event, "ready", False)
    clock, told = DeviceClock(Cuda()), []
    for _ in range(3):
        clock.between(clock.mark(0), clock.mark(0), told.append)
    clock.finish()
    assert told == [1.0]

"""The time of each module, and what backward passes compute again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import layers
from torchlint.runtime.probe.instruments.layers import DeviceClock, Layers
from torchlint.runtime.probe.settings import Anchor
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
def watch(user: UserFile) -> Iterator[Layers]:
    watch = layers.install(user.settings)
    watch.begin()
    yield watch
    watch.end()


def modules(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"] or each["class"]: each for each in found["modules"]}


def test_time_is_shared_out_to_modules_by_name(user: UserFile, watch: Layers) -> None:
    net = user.module.Net()
    for _ in range(5):
        user.module.step(net)
        watch.step()
    found = watch.end()
    seen = modules(found)
    assert set(seen) == {"Net", "blocks.0", "blocks.0.line", "blocks.1", "blocks.1.line"}
    assert [each["calls"] for each in seen.values()] == [5] * 5
    assert seen["Net"]["seconds"] == pytest.approx(found["forward_seconds"])
    assert seen["blocks.0"]["self_seconds"] >= 5 * 0.004
    assert seen["blocks.1"]["self_seconds"] >= 5 * 0.001
    assert seen["blocks.0"]["seconds"] > seen["blocks.0"]["self_seconds"]
    own = sum(each["self_seconds"] for each in seen.values())
    assert own == pytest.approx(found["forward_seconds"])
    assert (found["recomputed_seconds"], found["missed"], found["clock"]) == (0, 0, "host")
    assert found["others"]["calls"] == 0


def test_the_transforms_of_a_data_set_are_no_part_of_forward(user: UserFile, watch: Layers) -> None:
    user.module.epoch(user.module.Slow(0.0))
    assert [each["class"] for each in watch.end()["modules"]] == ["Slow", "Linear"]


def test_a_module_is_described(user: UserFile, watch: Layers) -> None:
    net = user.module.Net()
    user.module.step(net)
    seen = modules(watch.end())
    assert seen["Net"]["class"] == "Net"
    assert tuple(seen["Net"]["place"]) == user.place("# root")
    assert (seen["Net"]["own_parameters"], seen["Net"]["parameters"]) == (0, 40)
    assert seen["Net"]["shape"] == [2, 4]
    assert tuple(seen["blocks.1"]["place"]) == user.place("# block")
    assert tuple(seen["blocks.1.line"]["place"]) == user.place("# line")
    assert seen["blocks.1.line"]["own_parameters"] == 20


def test_what_a_backward_pass_computes_again_counts_apart(user: UserFile, watch: Layers) -> None:
    net = user.module.Net()
    net.again = True
    for _ in range(3):
        user.module.step(net)
        watch.step()
    found = watch.end()
    seen = modules(found)
    assert (seen["Net"]["calls"], seen["Net"]["recomputed_calls"]) == (3, 0)
    assert (seen["blocks.0"]["calls"], seen["blocks.0"]["recomputed_calls"]) == (3, 3)
    assert seen["blocks.0.line"]["recomputed_calls"] == 3
    assert seen["blocks.0.line"]["recomputed_seconds"] == 0
    again = [seen[name]["recomputed_seconds"] for name in ("blocks.0", "blocks.1")]
    assert again[0] >= 3 * 0.004
    assert again[1] >= 3 * 0.001
    assert found["recomputed_seconds"] == pytest.approx(sum(again))
    assert tuple(seen["blocks.0"]["place"]) == user.place("# checkpoint")
    assert seen["Net"]["seconds"] == pytest.approx(found["forward_seconds"])


def test_a_call_that_fails_is_over(user: UserFile, watch: Layers) -> None:
    with pytest.raises(KeyError):
        user.module.Fails()(torch.ones(1))
    net = user.module.Net()
    user.module.step(net)
    found = watch.end()
    seen = modules(found)
    assert found["forward_seconds"] == pytest.approx(
        seen["Net"]["seconds"] + seen["Fails"]["seconds"]
    )


def test_modules_of_one_step_are_merged(user: UserFile, watch: Layers) -> None:
    user.module.one_step_modules(20, watch.step)
    found = watch.end()["modules"]
    assert {(each["class"], each["calls"]) for each in found} == {
        ("Sequential", 20),
        ("Linear", 20),
    }
    root = next(each for each in found if each["class"] == "Sequential")
    assert tuple(root["place"]) == user.place("# made here")
    assert root["own_parameters"] == 0
    assert root["parameters"] == 20


def test_a_module_that_is_gone_after_many_steps_keeps_its_name(
    user: UserFile, watch: Layers
) -> None:
    net = user.module.Net()
    for _ in range(4):
        user.module.step(net)
        watch.step()
    del net
    assert "blocks.1.line" in modules(watch.end())


def test_more_modules_than_can_be_kept_are_summed(
    user: UserFile, watch: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "_MOST_MODULES", 2)
    net = user.module.Net()
    user.module.step(net)
    found = watch.end()
    assert len(found["modules"]) == 2
    assert found["others"]["calls"] == 3


def test_nothing_is_left_behind(user: UserFile) -> None:
    before = torch.nn.Module.__call__
    watch = layers.install(user.settings)
    watch.begin()
    assert torch.nn.Module.__call__ is not before
    watch.end()
    assert torch.nn.Module.__call__ is before


def test_a_root_module_that_ends_the_steps_is_seen(user: UserFile) -> None:
    net = user.module.Net()
    undo = events.at_anchor(Anchor("forward"), lambda: None)
    user.module.step(net)
    before = user.module.Net.__call__
    undo_other = events.watch_forward(lambda *_: None)
    watch = layers.install(user.settings)
    watch.begin()
    user.module.step(net)
    found = modules(watch.end())
    assert {name: each["calls"] for name, each in found.items()} == {
        "Net": 1, "blocks.0": 1, "blocks.0.line": 1, "blocks.1": 1, "blocks.1.line": 1,
    }  # fmt: skip
    assert user.module.Net.__call__ is before
    undo_other()
    undo()


def test_what_was_computed_is_the_same(user: UserFile, watch: Layers) -> None:
    net, inputs = user.module.Net(), torch.randn(2, 4)
    watched = net(inputs)["logits"]
    watch.end()
    assert torch.equal(watched, net(inputs)["logits"])


def test_a_compiled_module_is_one_row_and_is_not_compiled_again(user: UserFile) -> None:
    counters = torch._dynamo.utils.counters
    net = torch.compile(user.module.nn.Sequential(torch.nn.Linear(4, 4)), backend="eager")
    net(torch.ones(2, 4))
    before = dict(counters["frames"])
    watch = layers.install(user.settings)
    watch.begin()
    net(torch.ones(2, 4))
    found = watch.end()
    assert dict(counters["frames"]) == before
    assert found["compiled"]
    assert [each["class"] for each in found["modules"]] == ["OptimizedModule"]


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
    watch = layers.install(user.settings)
    watch.begin()
    line = torch.nn.Sequential(torch.nn.Linear(4, 4))
    line(torch.ones(4))
    watch.step()
    assert watch.forward_s == 0
    Event.ready = True
    watch.step()
    assert watch.forward_s == 3
    line(torch.ones(4))
    found = watch.end()
    seen = modules(found)
    assert (found["clock"], found["forward_seconds"], cuda.synchronized) == ("device", 6, 1)
    assert (seen["Sequential"]["seconds"], seen["Sequential"]["self_seconds"]) == (6, 4)
    assert (seen["0"]["seconds"], seen["0"]["self_seconds"]) == (2, 2)


def test_calls_beyond_what_can_wait_are_counted_as_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "_MOST_PAIRS", 1)
    monkeypatch.setattr(Event, "ready", False)
    clock, told = DeviceClock(Cuda()), []
    for _ in range(3):
        clock.between(clock.mark(0), clock.mark(0), told.append)
    clock.finish()
    assert told == [1.0]
    assert clock.missed == 2

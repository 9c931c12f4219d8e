"""The parts of the first steps, one after the other."""

from __future__ import annotations

import gc
import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import timeline
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import TimelineSeen

TRAIN = """
import gc

def read(tensor):
    return tensor.item()  # read

def train(loader, model, optimizer, stepped):
    for inputs in loader:  # data
        optimizer.zero_grad()
        loss = model(inputs).sum()  # forward
        loss.backward()  # backward
        read(loss)
        gc.collect()
        optimizer.step()  # optimizer
        stepped()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def watched(user: UserFile, batches: int) -> TimelineSeen:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(torch.ones(batches, 4), batch_size=1)  # type: ignore[arg-type]
    watch = timeline.watch(user.settings)
    watch.open()
    gc.freeze()  # the rest of this process takes a second to look through
    gc.disable()  # one collection a step is known
    try:
        user.module.train(loader, model, optimizer, watch.passed)
    finally:
        gc.enable()
        gc.unfreeze()
    return watch.close()


def test_each_part_of_a_step_has_its_line_and_its_time(user: UserFile) -> None:
    found = watched(user, 3)
    assert len(found.ends) == 3
    first = [each for each in found.spans if each.stop <= found.ends[0]]
    assert [(each.kind, each.place) for each in first] == [
        ("data", user.place("# data")),
        ("forward", user.place("# forward")),
        ("backward", user.place("# backward")),
        ("read", user.place("# read")),
        ("collector", None),
        ("optimizer", user.place("# optimizer")),
    ]
    assert all(one.stop <= two.start for one, two in pairwise(first))
    assert first[3].name == "item"


def test_it_stops_to_listen_after_the_first_steps(user: UserFile) -> None:
    plain = nn.Module.__call__, torch.Tensor.item, torch.autograd.backward
    found = watched(user, timeline.MOST_STEPS + 5)
    assert len(found.ends) == timeline.MOST_STEPS
    assert found.spans[-1].stop <= found.ends[-1]
    assert (nn.Module.__call__, torch.Tensor.item, torch.autograd.backward) == plain


def test_the_optimizer_whose_step_ends_the_last_one_is_part_of_it(user: UserFile) -> None:
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)])
    watch = timeline.watch(user.settings)
    undo = events.at_anchor(Anchor("optimizer", 0), watch.passed)
    watch.open()
    try:
        for _ in range(timeline.MOST_STEPS + 1):
            optimizer.step()
    finally:
        undo()
    assert kinds(watch) == ["optimizer"] * timeline.MOST_STEPS


def test_other_threads_are_not_on_the_line(user: UserFile) -> None:
    watch = timeline.watch(user.settings)
    watch.open()
    thread = threading.Thread(target=user.module.read, args=(torch.ones(()),))
    thread.start()
    thread.join()
    user.module.read(torch.ones(()))
    watch.passed()
    assert kinds(watch) == ["read"]


def test_what_an_optimizer_or_a_loader_reads_is_part_of_it(user: UserFile) -> None:
    watch = timeline.watch(user.settings)
    watch.open()
    watch.enter("optimizer")
    user.module.read(torch.ones(()))
    watch.leave()
    watch.passed()
    watch.enter("loader")
    watch.enter("forward")
    watch.leave()
    watch.leave()
    watch.passed()
    assert kinds(watch) == ["optimizer", "data"]


def kinds(watch: timeline.TimelineObserver) -> list[str]:
    """Without collections of garbage, which come when they come."""
    return [each.kind for each in watch.close().spans if each.kind != "collector"]

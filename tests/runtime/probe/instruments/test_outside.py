"""What comes between epochs, in loops whose epochs are cut."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import outside
from torchlint.runtime.probe.instruments.pauses import CollectorClock
from torchlint.runtime.probe.steps.gap_lines import GapLines
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN = """
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(4000, 2))
epochs = []

def works():
    sum(range(20_000))

def evaluate(loader):
    for x, in loader:
        for _ in range(100):
            works()

def train_epoch(loader, passed):
    for x, in loader:
        epochs[-1] += 1
        passed()

def train(count, passed, **options):
    loader = DataLoader(data, 4, **options)
    test = DataLoader(TensorDataset(torch.zeros(40, 2)), 4)
    for _ in range(count):
        epochs.append(0)
        train_epoch(loader, passed)
        evaluate(test)

def train_by_index(count, passed):
    for step in range(count):
        works()
        if step % 10 == 9:
            evaluate(DataLoader(TensorDataset(torch.zeros(80, 2)), 4))
        passed()

def works_often(times):
    for _ in range(times):
        works()

def train_unevenly(count, passed):
    for step in range(count):
        works_often(300 if step % 10 == 9 else 30)
        passed()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


class Window:
    """Opens at the end of the first step, as the window of a run does."""

    def __init__(self, user: UserFile, steps: int) -> None:
        self.instrument = outside.watch(replace(user.settings, steps=steps))
        self._open = False

    def passed(self) -> None:
        if not self._open:
            self._open = True
            self.instrument.open()
        else:
            self.instrument.passed()

    def watched(self, train: Callable[..., None], count: int, **options: Any) -> Any:
        try:
            train(count, self.passed, **options)
        finally:
            seen = self.instrument.close()
        return seen


def test_epochs_are_cut_and_their_length_is_that_of_the_loader(user: UserFile) -> None:
    window = Window(user, 20)
    seen = window.watched(user.module.train, 4)
    assert user.module.epochs == [21, 20, 20, 20]
    assert (seen.ends, seen.epoch_steps) == (3, pytest.approx(1000, rel=0.06))
    assert window.instrument.enough


def test_an_evaluation_is_at_the_line_of_the_loop_over_the_epochs(user: UserFile) -> None:
    seen = Window(user, 20).watched(user.module.train, 4)
    line = user.place("        evaluate(test)")
    parts = {(each.place, each.call) for each in seen.parts if each.seconds > 0.001}
    assert (line, "users_train.evaluate") in parts
    assert sum(each.seconds for each in seen.parts if each.place == line) > seen.between_s / 2


def test_an_epoch_that_ends_by_itself_is_as_long_as_it_is(user: UserFile) -> None:
    seen = Window(user, 5000).watched(user.module.train, 2)
    assert (seen.ends, seen.epoch_steps) == (1, 1000)


def test_what_follows_the_only_epoch_counts(user: UserFile) -> None:
    window = Window(user, 20)
    window.passed()
    seen = window.watched(user.module.train, 1)
    assert (seen.ends, seen.unfinished) == (1, False)
    assert {each.place for each in seen.parts} >= {user.place("        evaluate(test)")}


def test_workers_that_start_again_are_waited_for_at_the_loop_over_the_batches(
    user: UserFile,
) -> None:
    seen = Window(user, 20).watched(user.module.train, 4, num_workers=1)
    line = user.place("def train_epoch")[1] + 1
    there = [each for each in seen.parts if each.place[1] == line]
    assert max(there, key=lambda each: each.seconds).does == "loads"


def test_what_a_few_steps_come_to_is_kept_apart(user: UserFile) -> None:
    seen = Window(user, 20).watched(user.module.train_by_index, 45)
    assert seen.ends == 0
    line = user.place("            evaluate(DataLoader(")
    assert {each.times for each in seen.seldom if each.place == line} >= {4}


def test_what_usual_steps_do_as_well_is_not_what_makes_some_long(user: UserFile) -> None:
    """A machine that takes its processor away makes any line long now and then."""
    seen = Window(user, 20).watched(user.module.train_unevenly, 45)
    line = user.place("        works_often(300")
    assert [each for each in seen.seldom if each.place == line] == []


def test_what_the_garbage_collector_takes_by_itself_belongs_to_no_line(user: UserFile) -> None:
    taken = [0.0]
    lines = GapLines(Places(user.settings), lambda: taken[0])
    seen: dict[Any, float] = {}
    lines._add(seen, (), 0.25)
    taken[0] = 0.2
    lines._add(seen, (), 0.21)
    lines._add(seen, (), 0.05)
    assert seen[()] == pytest.approx(0.25 + 0.01 + 0.05)


def test_a_collection_that_a_line_asks_for_is_its_own(user: UserFile) -> None:
    """As after an evaluation."""
    clock = CollectorClock(Places(user.settings))
    gc.callbacks.append(clock.collecting)
    try:
        clock.asked(gc.collect)()
        assert clock.seen.gc_seconds == 0
        gc.collect()
        assert clock.so_far_s() == clock.seen.gc_seconds > 0
    finally:
        gc.callbacks.remove(clock.collecting)


def test_a_collection_that_has_not_ended_counts_until_now(user: UserFile) -> None:
    """The thread that looks gets its turn in the note of the collection's end."""
    clock = CollectorClock(Places(user.settings))
    clock.collecting("start", {})
    before = clock.so_far_s()
    assert clock.so_far_s() > before
    clock.collecting("stop", {})
    assert clock.so_far_s() == clock.seen.gc_seconds > before


def test_without_the_end_of_an_epoch_it_goes_on(user: UserFile) -> None:
    window = Window(user, 20)
    window.watched(user.module.train_by_index, 45)
    assert not window.instrument.enough


def test_loops_are_as_before_afterwards(user: UserFile) -> None:
    Window(user, 20).watched(user.module.train, 1)
    user.module.train(1, lambda: None)
    assert user.module.epochs[-1] == 1000

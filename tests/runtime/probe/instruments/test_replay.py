"""Loaders hand out one batch again and again, for as long as their epochs are."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import replay
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN = """
import torch
from torch.utils.data import Dataset, IterableDataset

class Numbers(Dataset):
    loaded = 0

    def __len__(self):
        return 10

    def __getitem__(self, index):
        Numbers.loaded += 1
        return {"x": torch.tensor([float(index)]), "index": index}

class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(10))

class Measured(Stream):
    def __len__(self):
        return 10

def train(loader, epochs=1):
    return [[batch for batch in loader] for _ in range(epochs)]

def train_in_place(loader):
    sums = []
    for batch in loader:
        sums.append(float(batch["x"].sum()))
        batch["x"].mul_(2)
    return sums

def take_apart(loader):
    return [(batch.pop("index"), len(batch)) for batch in loader]

def differentiate(loader):
    fresh = []
    for batch in loader:
        fresh.append(batch["x"].grad is None and not batch["x"].requires_grad)
        batch["x"].requires_grad_().sum().backward()
    return fresh
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.fixture
def watch(user: UserFile) -> replay.Replay:
    watch = replay.watch(user.settings)
    watch.open()
    return watch


def counts(watch: replay.Replay) -> dict[str, int]:
    """Of batches, those that there were none of left out."""
    watch.close()
    return {name: count for name, count in watch.count.items() if count}


def firsts(epochs: list[list[Any]]) -> list[list[float]]:
    return [[float(batch["x"][0]) for batch in epoch] for epoch in epochs]


def test_an_epoch_is_one_batch_as_often_as_it_has_batches(
    user: UserFile, watch: replay.Replay
) -> None:
    epochs = user.module.train(DataLoader(user.module.Numbers(), batch_size=4))
    assert firsts(epochs) == [[0, 0, 0]]
    assert user.module.Numbers.loaded == 4
    assert counts(watch) == {"real": 1, "replayed": 2}


def test_later_epochs_begin_with_the_batch_that_is_known(
    user: UserFile, watch: replay.Replay
) -> None:
    loader = DataLoader(user.module.Numbers(), batch_size=4)
    other = DataLoader(user.module.Numbers(), batch_size=5)
    epochs = user.module.train(loader, 2)
    assert firsts(epochs) == [[0, 0, 0], [0, 0, 0]]
    assert firsts(user.module.train(other)) == [[0, 0]]
    assert counts(watch) == {"real": 2, "replayed": 6}


def test_an_epoch_that_had_begun_ends_when_it_would(user: UserFile) -> None:
    iterator = iter(DataLoader(user.module.Numbers(), batch_size=2))
    next(iterator)
    next(iterator)
    watch = replay.watch(user.settings)
    watch.open()
    assert firsts(user.module.train(iterator)) == [[4, 4, 4]]
    assert counts(watch) == {"real": 1, "replayed": 2}


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_are_asked_no_more(user: UserFile, watch: replay.Replay, persistent: bool) -> None:
    loader = DataLoader(
        user.module.Numbers(), batch_size=2, num_workers=1, persistent_workers=persistent
    )
    assert firsts(user.module.train(loader, 3)) == [[0] * 5] * 3
    assert counts(watch) == {"real": 1, "replayed": 14}


def test_a_sampler_without_a_length_still_ends(user: UserFile, watch: replay.Replay) -> None:
    class Some:
        def __iter__(self) -> Any:
            return iter([[0, 1], [2, 3], [4, 5]])

    loader = DataLoader(user.module.Numbers(), batch_sampler=Some())
    assert firsts(user.module.train(loader)) == [[0, 0, 0]]
    assert counts(watch) == {"real": 1, "replayed": 2}


def test_whole_batches_of_indices_are_replayed(user: UserFile, watch: replay.Replay) -> None:
    class Rows(user.module.Numbers):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: list[int]) -> Any:
            return {"x": torch.tensor(index)}

    sampler = BatchSampler(SequentialSampler(range(10)), 4, drop_last=False)
    loader = DataLoader(Rows(), sampler=sampler, batch_size=None)
    assert firsts(user.module.train(loader)) == [[0, 0, 0]]
    assert counts(watch) == {"real": 1, "replayed": 2}


@pytest.mark.parametrize(("drop_last", "length"), [(False, 3), (True, 2)])
def test_a_stream_with_a_length_ends_there(
    user: UserFile, watch: replay.Replay, drop_last: bool, length: int
) -> None:
    loader = DataLoader(user.module.Measured(), batch_size=4, drop_last=drop_last)
    assert [len(epoch) for epoch in user.module.train(loader)] == [length]
    assert counts(watch) == {"real": 1, "replayed": length - 1}


def test_a_stream_without_a_length_is_left_alone(user: UserFile, watch: replay.Replay) -> None:
    (epoch,) = user.module.train(DataLoader(user.module.Stream(), batch_size=4))
    assert torch.cat(epoch).tolist() == list(range(10))
    assert counts(watch) == {"real": 3, "endless": 2}


def test_a_batch_that_the_script_writes_into_is_not_handed_out_again(
    user: UserFile, watch: replay.Replay
) -> None:
    sums = user.module.train_in_place(DataLoader(user.module.Numbers(), batch_size=5))
    assert sums == [10, 35]
    assert counts(watch) == {"real": 2, "changed": 1}


def test_a_container_that_the_script_takes_apart_is_whole_again(
    user: UserFile, watch: replay.Replay
) -> None:
    taken = user.module.take_apart(DataLoader(user.module.Numbers(), batch_size=5))
    assert [(indices.tolist(), left) for indices, left in taken] == [([0, 1, 2, 3, 4], 1)] * 2
    assert counts(watch) == {"real": 1, "replayed": 1}


def test_a_batch_comes_without_the_gradient_of_the_last_step(
    user: UserFile, watch: replay.Replay
) -> None:
    assert user.module.differentiate(DataLoader(user.module.Numbers(), batch_size=5)) == [True] * 2
    assert counts(watch) == {"real": 1, "replayed": 1}


@pytest.mark.parametrize(
    "collate",
    [lambda samples: (each for each in samples), lambda samples: bytearray(3), set],
)
def test_what_may_not_be_the_same_the_next_time_is_loaded(
    user: UserFile, watch: replay.Replay, collate: Callable[[Any], Any]
) -> None:
    loader = DataLoader(range(10), batch_size=5, collate_fn=collate)  # type: ignore[arg-type]
    user.module.train(loader)
    assert counts(watch) == {"real": 2, "unknown": 2}


def test_loading_is_told_from_replaying(user: UserFile, watch: replay.Replay) -> None:
    loader = DataLoader(user.module.Numbers(), batch_size=1)
    user.module.train(loader)
    watch.passed()
    beside_s = watch.beside_s
    watch.close()
    assert 0 < beside_s == watch.beside_s < 60


def test_shuffling_goes_on(user: UserFile, watch: replay.Replay) -> None:
    """The sampler still draws, so that random numbers after an epoch are the same."""
    after = []
    for end in (lambda: None, watch.close):
        torch.manual_seed(0)
        data = user.module.Numbers()
        user.module.train(DataLoader(data, 2, sampler=RandomSampler(data, replacement=True)))
        after.append(float(torch.rand(())))
        end()
    assert after[0] == after[1]


def test_steps_that_are_batches_go_on(user: UserFile) -> None:
    heard: list[int] = []
    undo = events.at_anchor(Anchor("loader"), lambda: heard.append(0))
    watch = replay.watch(user.settings)
    watch.open()
    user.module.train(DataLoader(user.module.Numbers(), batch_size=2))
    watch.close()
    undo()
    assert len(heard) == 5


def test_a_window_that_ends_with_a_batch_keeps_none(user: UserFile) -> None:
    watch = replay.watch(user.settings)
    undo = events.at_anchor(Anchor("loader"), watch.close)
    iterator = iter(DataLoader(user.module.Numbers(), batch_size=2))
    watch.open()
    batch = weakref.ref(next(iterator)["x"])
    undo()
    gc.collect()
    assert batch() is None


def test_an_iterator_goes_on_where_it_was(user: UserFile) -> None:
    iterator = iter(DataLoader(user.module.Numbers(), batch_size=2))
    own = set(vars(iterator))
    user.watched(replay, lambda: next(iterator), 2)
    assert set(vars(iterator)) == own
    assert firsts([list(iterator)]) == [[4, 6, 8]]


def test_a_window_that_is_over_replays_nothing_even_if_another_one_built_on_it(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in ((DataLoader, "__iter__"), (private.loader_iterator(), "__next__")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    watch, later = replay.watch(user.settings), replay.watch(user.settings)
    watch.open()
    later.open()
    watch.close()
    later.close()
    assert firsts(user.module.train(DataLoader(user.module.Numbers(), batch_size=4))) == [[0, 4, 8]]

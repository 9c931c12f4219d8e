"""Waiting for batches is seen by place, loader and stage."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import InputSeen, LoaderWaits
from torchlint.runtime.probe.instruments import input as instrument
from torchlint.runtime.probe.machine import thread_time
from torchlint.runtime.probe.machine.thread_time import ThreadTime
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instruments.input import InputObserver

TRAIN = """
import time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

class Slow(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):  # slow
        time.sleep(0.001)
        return torch.full((2,), float(index))

class Stream(IterableDataset):
    def __iter__(self):  # stream
        for index in range(24):
            time.sleep(0.001)
            yield torch.tensor([index])

class Nested(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):  # nested
        return next(iter(DataLoader(Slow(), batch_size=2)))

class Late:
    def __iter__(self):
        time.sleep(0.02)
        return iter([[0], [1], [2]])

def collate(samples):
    time.sleep(0.008)
    return torch.stack(samples)

def train(loader, stepped=lambda: None):
    seen = []
    for batch in loader:  # training
        seen.append(batch)
        stepped()
    return seen

def made(data=None):
    return DataLoader(data or Slow(), batch_size=4)  # making

def made_too(data):
    return DataLoader(data, batch_size=4)  # another place

def validate(loader):
    for batch in loader:  # validation
        pass

def by_hand(loader, stepped):
    iterator = iter(loader)
    for _ in range(3):
        next(iterator)  # by hand
        stepped()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.fixture
def watch(user: UserFile) -> InputObserver:
    watch = instrument.watch(user.settings)
    watch.open()
    return watch


def only(found: InputSeen) -> LoaderWaits:
    (waits,) = found.loaders
    return waits


class Disturbed(Dataset[torch.Tensor]):
    """Each sample takes 3 s, and for 2 s of them others have the processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.samples = 0
        clock = SimpleNamespace(perf_counter=lambda: 3 * self.samples)
        monkeypatch.setattr(thread_time, "time", clock)
        monkeypatch.setattr(ThreadTime, "held_s", lambda _: 2 * self.samples)

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        self.samples += 1
        return torch.tensor(index)


def test_while_others_have_the_processor_the_loader_takes_no_time(
    user: UserFile, watch: InputObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.module.train(DataLoader(Disturbed(monkeypatch), batch_size=2), watch.passed)
    seen = only(watch.close())
    assert (seen.first_s, seen.wait_s, seen.samples_s) == (2, 4, 6)
    assert seen.held_s == 12


def test_waits_are_where_the_loop_asks_for_a_batch(user: UserFile, watch: InputObserver) -> None:
    user.module.train(DataLoader(user.module.Slow(), batch_size=4), watch.passed)
    found: Any = watch.close()
    seen = only(found)
    assert watch.steps == 6
    assert seen.place == user.place("# training")
    assert (seen.batches, seen.firsts) == (6, 1)
    assert 0.02 <= seen.wait_s < 60
    assert 0.004 <= seen.first_s < 60
    waited = seen.wait_s + seen.first_s
    assert 0.024 <= seen.samples_s <= waited
    assert seen.samples_s + seen.collate_s <= waited


def test_it_is_known_where_a_loader_was_made(user: UserFile) -> None:
    watch = instrument.watch(user.settings)
    loader, other = user.module.made(), user.module.made()  # before the window, as scripts do
    watch.open()
    user.module.train(loader)
    user.module.train(DataLoader(user.module.Slow(), batch_size=4))  # by no code of the user
    found: Any = watch.close()
    assert [each.made for each in found.loaders] == [user.place("# making"), None]
    assert other.dataset is not loader.dataset


def test_loaders_that_share_their_dataset_are_told_apart(user: UserFile) -> None:
    watch = instrument.watch(user.settings)
    data = user.module.Slow()
    kept = [user.module.made(data), user.module.made_too(data)]
    watch.open()
    user.module.train(kept[1])
    assert only(watch.close()).made == user.place("# another place")


def test_collating_is_a_stage_of_its_own(user: UserFile, watch: InputObserver) -> None:
    loader = DataLoader(user.module.Slow(), batch_size=4, collate_fn=user.module.collate)
    user.module.train(loader)
    seen = only(watch.close())
    assert seen.collate_s >= 6 * 0.008
    assert 0.024 <= seen.samples_s < seen.wait_s + seen.first_s - 6 * 0.008
    assert seen.loader.collate == user.place("def collate")


def test_what_the_loader_was_told_is_reported(user: UserFile, watch: InputObserver) -> None:
    user.module.train(DataLoader(Subset(user.module.Slow(), range(10)), batch_size=4))
    seen = only(watch.close())
    assert seen.loader.dataset == "Subset"
    assert (seen.loader.workers, seen.loader.persistent, seen.loader.length) == (0, False, 3)
    assert seen.loader.samples == user.place("# slow")
    assert seen.loader.collate is None


def test_a_stream_is_timed_too(user: UserFile, watch: InputObserver) -> None:
    user.module.train(DataLoader(user.module.Stream(), batch_size=4))
    seen = only(watch.close())
    assert (seen.batches, seen.loader.length) == (6, None)
    assert seen.samples_s >= 0.024
    assert seen.loader.samples == user.place("# stream")


def test_each_place_is_counted_separately(user: UserFile, watch: InputObserver) -> None:
    loader = DataLoader(user.module.Slow(), batch_size=4)
    user.module.train(loader)
    user.module.validate(loader)
    user.module.validate(loader)
    found: Any = watch.close()
    batches = {each.place: (each.batches, each.firsts) for each in found.loaders}
    assert batches == {
        user.place("# training"): (6, 1),
        user.place("# validation"): (12, 2),
    }


def test_the_start_of_an_iterator_belongs_to_its_first_batch(
    user: UserFile, watch: InputObserver
) -> None:
    loader = DataLoader(user.module.Slow(), batch_size=4, num_workers=1)
    user.module.by_hand(loader, watch.passed)
    seen = only(watch.close())
    assert seen.place == user.place("# by hand")
    assert (seen.loader.workers, seen.firsts, seen.batches) == (1, 1, 3)
    # The worker has to load the first batch, whose samples take a millisecond each.
    assert seen.first_s >= 0.004
    assert seen.samples_s == seen.collate_s == 0


def test_what_a_sampler_prepares_is_part_of_the_start(user: UserFile, watch: InputObserver) -> None:
    user.module.by_hand(DataLoader([1, 2, 3], batch_sampler=user.module.Late()), watch.passed)  # type: ignore[arg-type]
    assert only(watch.close()).first_s >= 0.02


def test_the_collate_function_is_the_loaders_again(user: UserFile, watch: InputObserver) -> None:
    iterator: Any = iter(
        DataLoader(user.module.Slow(), batch_size=4, collate_fn=user.module.collate)
    )
    user.module.train(iterator)
    watch.close()
    assert iterator._dataset_fetcher.collate_fn is user.module.collate


def test_an_epoch_that_had_begun_has_no_first_batch(user: UserFile) -> None:
    iterator = iter(DataLoader(user.module.Slow(), batch_size=4))
    next(iterator)
    seen = only(user.watched(instrument, lambda: user.module.train(iterator), 1))
    assert (seen.batches, seen.firsts, seen.first_s) == (5, 0, 0)


def test_a_loader_inside_a_dataset_is_part_of_the_samples(
    user: UserFile, watch: InputObserver
) -> None:
    user.module.train(DataLoader(user.module.Nested(), batch_size=1))
    seen = only(watch.close())
    assert (seen.loader.dataset, seen.batches) == ("Nested", 2)
    assert 0.004 <= seen.samples_s <= seen.wait_s + seen.first_s


def test_batches_of_other_threads_do_not_count(user: UserFile, watch: InputObserver) -> None:
    loader = DataLoader(user.module.Slow(), batch_size=4)
    thread = threading.Thread(target=user.module.train, args=(loader,))
    thread.start()
    thread.join()
    assert watch.close() == InputSeen()


def test_a_window_that_ends_with_a_batch_has_its_wait(user: UserFile) -> None:
    watch = instrument.watch(user.settings)
    found: list[Any] = []
    given = 0

    def boundary() -> None:
        nonlocal given
        given += 1
        if given == 1:
            watch.open()
        elif not found:
            watch.passed()
            if given == 3:
                found.append(watch.close())

    undo = events.at_anchor(Anchor("loader"), boundary)
    user.module.train(DataLoader(user.module.Slow(), batch_size=4))
    undo()
    seen = only(found[0])
    assert (seen.batches, watch.steps) == (2, 2)
    assert seen.wait_s >= 0.008


def test_batches_and_errors_are_the_scripts_own(user: UserFile, watch: InputObserver) -> None:
    loader = DataLoader(user.module.Slow(), batch_size=4)
    batches = user.module.train(loader)
    iterator = iter(loader)
    loader.collate_fn = None
    with pytest.raises(TypeError, match="NoneType"):
        next(iter(loader))
    assert len(list(iterator)) == 6
    watch.close()
    assert torch.equal(torch.cat(batches)[:, 0], torch.arange(24.0))


def test_without_the_iterators_class_nothing_is_seen(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "loader_iterator", lambda: None)
    loader = DataLoader(user.module.Slow(), batch_size=4)
    assert user.watched(instrument, lambda: user.module.train(loader), 1) == InputSeen()

"""Loaders with another number of workers than the script asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchlint.runtime.probe.batches.loader_workers import force

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = TensorDataset(torch.arange(6))


@pytest.fixture(params=[0, 1])
def workers(request: pytest.FixtureRequest) -> Iterator[int]:
    undo = force(request.param)
    yield request.param
    undo()


def test_a_loader_gets_them_however_it_says_its_own(workers: int) -> None:
    plain = DataLoader(DATA)
    by_name = DataLoader(DATA, num_workers=2, persistent_workers=True, prefetch_factor=4)
    by_place = DataLoader(DATA, 3, False, None, None, 2)
    assert [each.num_workers for each in (plain, by_name, by_place)] == [workers] * 3
    assert by_place.batch_size == 3
    assert by_name.persistent_workers is (workers > 0)
    assert len(list(plain)) == 6


def test_a_stream_keeps_its_own(workers: int) -> None:
    class Stream(IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Iterator[int]:
            return iter(range(4))

    assert DataLoader(Stream()).num_workers == 0
    assert list(DataLoader(Stream(), batch_size=None)) == [0, 1, 2, 3]


def test_the_scripts_own_mistake_stays_its_own(workers: int) -> None:
    with pytest.raises(TypeError, match="no_such"):
        DataLoader(DATA, no_such=1)  # type: ignore[call-arg]


def test_it_is_taken_back() -> None:
    plain = DataLoader.__init__
    force(3)()
    assert DataLoader.__init__ is plain
    assert DataLoader(DATA).num_workers == 0

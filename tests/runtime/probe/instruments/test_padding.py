"""Padding is counted by the masks of batches."""

from __future__ import annotations

from collections import UserDict
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.utils.data import DataLoader

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instrument_messages import PaddedPlace
from torchlint.runtime.probe.instruments import padding

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instruments.padding import PaddingObserver

TRAIN = """
def train(loader, stepped=lambda: None):
    for batch in loader:  # training
        stepped()

def validate(loader):
    for batch in loader:  # validation
        pass
"""

HALF = [[1, 1, 0, 0], [1, 0, 0, 0]]


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.fixture
def watch(user: UserFile) -> PaddingObserver:
    watch = padding.watch(user.settings)
    watch.open()
    return watch


def batches(*each: Any) -> DataLoader[Any]:
    return DataLoader(each, batch_size=None)  # type: ignore[arg-type]


def masked(mask: Any, dtype: torch.dtype = torch.long) -> dict[str, torch.Tensor]:
    return {"input_ids": torch.ones(2, 4), "attention_mask": torch.tensor(mask, dtype=dtype)}


def only(watch: PaddingObserver) -> PaddedPlace:
    (place,) = watch.close().places
    return place


def test_padding_is_counted_by_place(user: UserFile, watch: PaddingObserver) -> None:
    user.module.train(batches(masked(HALF), masked([[1, 1, 1, 1], [1, 1, 1, 0]])), watch.passed)
    user.module.validate(batches(masked(HALF)))
    assert watch.steps == 2
    assert watch.close().places == [
        PaddedPlace(user.place("# training"), batches=2, positions=16, padded=6, beyond=4),
        PaddedPlace(user.place("# validation"), batches=1, positions=8, padded=5, beyond=4),
    ]


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int32])
def test_a_mask_may_be_of_any_whole_type(
    user: UserFile, watch: PaddingObserver, dtype: torch.dtype
) -> None:
    user.module.train(batches(masked(HALF, dtype)))
    assert only(watch).padded == 5


@pytest.mark.parametrize(
    "batch",
    [
        (masked(HALF), torch.ones(2)),
        {"text": masked(HALF), "label": torch.ones(2)},
        UserDict(masked(HALF)),
        masked([[0, 0, 1, 1], [0, 0, 0, 1]]),
        masked([[0, 1, 1, 0], [0, 0, 1, 0]]),
    ],
    ids=["in a tuple", "in a dict", "of a tokenizer", "to the left", "on both sides"],
)
def test_padding_is_found(user: UserFile, watch: PaddingObserver, batch: Any) -> None:
    user.module.train(batches(batch))
    seen = only(watch)
    assert (seen.batches, seen.padded, seen.beyond) == (1, 5, 4)


@pytest.mark.parametrize(
    "mask",
    [
        torch.tensor([[1, 0, 1, 0]]),
        torch.ones(1, 4, 4),
        torch.tensor([[0.0, -1e9]]),
        torch.ones(1, 4, dtype=torch.long, device="meta"),
    ],
    ids=["drops", "of pairs", "added", "on a device"],
)
def test_a_mask_that_says_something_else_is_not_counted(
    user: UserFile, watch: PaddingObserver, mask: torch.Tensor
) -> None:
    user.module.train(batches({"attention_mask": mask}))
    seen = only(watch)
    assert (seen.batches, seen.positions, seen.odd) == (0, 0, 1)


@pytest.mark.parametrize(
    "batch", [torch.zeros(2, 4), {"labels": torch.full((2, 4), -100)}, "text", None]
)
def test_without_a_mask_nothing_is_padding(
    user: UserFile, watch: PaddingObserver, batch: Any
) -> None:
    user.module.train(batches(batch))
    seen = only(watch)
    assert (seen.batches, seen.odd, seen.unmasked) == (0, 0, 1)


def test_counting_is_not_a_read_of_the_scripts(
    user: UserFile, watch: PaddingObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> Any:
        raise AssertionError

    iterator = iter(batches(masked(HALF)))
    for name in ("item", "tolist", "__bool__", "__int__", "nonzero"):
        monkeypatch.setattr(torch.Tensor, name, read)
    user.module.train(iterator)
    assert only(watch).padded == 5

"""Batches whose values are whole bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import floatbytes

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """
import torch
from torch.utils.data import DataLoader

def takes(samples):
    loader = DataLoader(samples, batch_size=4)
    for _ in loader:  # takes
        pass
"""
BYTES = torch.randint(0, 256, (8, 3, 64, 64), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.mark.parametrize(
    "samples",
    [BYTES.float(), BYTES.float() / 255, BYTES.float() * (1 / 255), BYTES.double() / 255],
    ids=["whole", "divided", "multiplied", "double"],
)
def test_bytes_are_known(
    user: UserFile, samples: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floatbytes, "_sent", lambda size: (3.0 * size, 2.0 * size))
    (found,) = user.watched(floatbytes, lambda: user.module.takes(list(samples)), 1).places
    assert found.place == user.place("# takes")
    assert found.batches == 2
    assert found.size == 4 * samples[0].numel() * samples.element_size()
    assert found.width == samples.element_size()
    saved = found.size - found.size / found.width
    assert (found.written_s, found.read_s) == (3.0 * saved, 2.0 * saved)


def test_both_ways_of_what_is_sent_are_timed() -> None:
    written, read = floatbytes._sent(1 << 20)
    assert written > 0
    assert read >= 0


@pytest.mark.parametrize(
    "samples",
    [
        BYTES.to(torch.uint8),
        (BYTES.float() / 255 - 0.45) / 0.22,
        BYTES.float() / 256 + 0.001,
        (BYTES > 100).float(),  # a mask
        BYTES.float() * 2,
        BYTES.float()[:, :, :8, :8],  # little
        torch.zeros(8, 3, 64, 64),
    ],
    ids=["uint8", "normalized", "other", "mask", "beyond", "little", "zero"],
)
def test_what_does_not_fit_into_a_byte_is_left_alone(user: UserFile, samples: torch.Tensor) -> None:
    assert user.watched(floatbytes, lambda: user.module.takes(list(samples)), 1).places == []


def test_what_only_the_first_batch_shows_is_chance(user: UserFile) -> None:
    samples = BYTES.float()
    samples[4:] += 0.5
    assert user.watched(floatbytes, lambda: user.module.takes(list(samples)), 1).places == []

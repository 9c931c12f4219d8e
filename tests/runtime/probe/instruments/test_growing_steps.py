"""How long the steps of a window take, and what is kept after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import growth

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """
import torch

kept = []

def keeps():
    kept.append((torch.zeros(2), [1], [2]))

def lets_go():
    torch.zeros(2)
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def test_what_python_keeps_is_counted(user: UserFile) -> None:
    seen = user.watched(growth, "keeps", 30)
    assert len(seen.seconds) == 30
    assert min(seen.seconds) > 0
    assert seen.tensors == 30
    assert seen.objects >= 60


def test_what_is_let_go_is_not(user: UserFile) -> None:
    assert user.watched(growth, "lets_go", 30).tensors == 0

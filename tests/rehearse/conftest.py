"""What the tests of rehearse share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from tests.warm_start import warm_start, warm_torchlint

if TYPE_CHECKING:
    from pathlib import Path

    from tests.warm_start import Torchlint

__all__ = ["warm_start", "warm_torchlint"]


class Rehearse(Protocol):
    """Rehearses this text as `train.py`, and gives the exit code and what is said."""

    def __call__(self, text: str, *options: str) -> tuple[int, str]: ...


@pytest.fixture
def rehearse(warm_torchlint: Torchlint, tmp_path: Path) -> Rehearse:
    def run(text: str, *options: str) -> tuple[int, str]:
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        return warm_torchlint(["rehearse", "train.py", "--yes", *options], tmp_path)

    return run

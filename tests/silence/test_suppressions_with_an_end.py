"""Suppressions with an end: the day decides when a check is reported, not when it is cached."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file
from torchlint.engine.check import check
from torchlint.memory.cache import Cache
from torchlint.memory.store import Store
from torchlint.project.target import Target
from torchlint.silence import until
from torchlint.silence.tiers import Wanted, choose

if TYPE_CHECKING:
    from pathlib import Path

LOOP = """\
import torch
from helper import show


def train(model, loader, optimizer):
    model.cuda()
    for images in loader:
        loss = model(images.cuda())
        loss.backward()
        optimizer.step()
        show(loss)
        print(loss.item())  # torchlint: ignore[TL201] until=2026-05-01 -- the log
"""
HELPER = """\
def show(loss):
    return loss.item()  # torchlint: ignore[TL201] until=2026-05-02
"""
ENDED = " A comment silenced it until 2026-05-0"


def found(folder: Path, day: int) -> list[str]:
    """The findings on a day of May, by a new process with a cache."""
    selection = Selection(("TL001", "TL201"))
    targets = [Target(str(path), selection, (2, 13)) for path in sorted(folder.glob("*.py"))]
    store = Store(lambda: Cache(str(folder / "cache"), "0" * 16))
    report = check(targets, store=store)
    assert report.diagnostics == ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(until, "today", lambda: date(2026, 5, day))
        shown = choose(report.findings, targets, Wanted()).findings
    assert all(ENDED in each.message for each in shown)
    assert report.digests.keys() >= {each.path for each in shown}
    return [f"{each.path.rpartition('/')[2]}:{each.start.row}" for each in shown]


def test_a_warm_cache_does_not_hide_that_a_suppression_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    (tmp_path / "helper.py").write_text(HELPER)
    assert found(tmp_path, 1) == []
    monkeypatch.setattr(map_file, "parse", None)
    assert found(tmp_path, 2) == ["train.py:12"]
    assert found(tmp_path, 3) == ["helper.py:2", "train.py:12"]
    assert found(tmp_path, 1) == []


def test_an_edit_elsewhere_keeps_the_day(tmp_path: Path) -> None:
    """The join is reused then."""
    (tmp_path / "train.py").write_text(LOOP)
    (tmp_path / "helper.py").write_text(HELPER)
    assert found(tmp_path, 1) == []
    (tmp_path / "helper.py").write_text(HELPER.replace("05-02", "05-01"))
    (tmp_path / "train.py").write_text("# moved\n" + LOOP.replace("05-01", "05-02"))
    assert found(tmp_path, 2) == ["helper.py:2"]

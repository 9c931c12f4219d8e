"""Workers that load with one thread each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.runtime.probe.instruments import one_thread
from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    import pytest


def test_opencv_is_told_before_the_script_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCV_FOR_THREADS_NUM", "6")
    watch = one_thread.watch(RunSettings(main="train.py", project="/project"))
    assert watch.alters
    assert os.environ["OPENCV_FOR_THREADS_NUM"] == "1"


def test_openblas_has_one_thread_in_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCV_FOR_THREADS_NUM", "6")
    told: list[str] = []
    monkeypatch.setattr(one_thread, "no_openblas_pool", lambda: told.append("one"))
    watch = one_thread.watch(RunSettings(main="train.py", project="/project"))
    assert told == []
    watch.rest()
    assert told == ["one"]

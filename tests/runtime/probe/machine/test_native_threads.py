"""Threads that libraries start, and how many they may use."""

from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.machine.native_threads import (
    native_times,
    no_openblas_pool,
    pools,
)

if TYPE_CHECKING:
    from pathlib import Path


def tasks(folder: Path, *threads: tuple[float, float], main: tuple[float, float]) -> str:
    """As in `/proc`: the main thread, and others by seconds with and without a processor."""
    named = {os.getpid(): main, **dict(enumerate(threads, 10**9))}
    for name, (ran, held) in named.items():
        (folder / str(name)).mkdir()
        (folder / str(name) / "schedstat").write_text(f"{ran * 1e9:.0f} {held * 1e9:.0f} 7\n")
    return str(folder)


def test_threads_at_work_are_counted_with_their_times(tmp_path: Path) -> None:
    folder = tasks(tmp_path, (1.0, 0.5), (0.01, 0.01), main=(2.0, 1.0))
    assert native_times(folder) == (2, 3.0, 1.5)


def test_those_of_python_do_not_count(tmp_path: Path) -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        folder = tasks(tmp_path, main=(2.0, 1.0))
        (tmp_path / str(thread.native_id)).mkdir()
        (tmp_path / str(thread.native_id) / "schedstat").write_text("9000000000 9000000000 7\n")
        assert native_times(folder) == (1, 2.0, 1.0)
    finally:
        end.set()
        thread.join()


def test_a_system_that_does_not_tell_is_not_zero(tmp_path: Path) -> None:
    assert native_times(str(tmp_path / "missing")) is None
    assert native_times(tasks(tmp_path, main=(0.0, 0.0))) is None


def test_opencv_is_asked_if_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cv2", raising=False)
    assert "OpenCV" not in pools()
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(getNumThreads=lambda: 6))
    assert pools()["OpenCV"] == 6


@pytest.mark.skipif(sys.platform != "linux", reason="only there loaded libraries are found")
def test_openblas_is_asked_and_told() -> None:
    import numpy as np

    if "OpenBLAS" not in pools():
        pytest.skip("this NumPy has another one")
    process = os.fork()
    if not process:  # what is told to it stays
        no_openblas_pool()
        alone = pools()["OpenBLAS"] == 1 and np.ones((200, 200)).dot(np.ones((200, 200))).all()
        os._exit(0 if alone else 1)
    assert os.waitpid(process, 0)[1] == 0


def test_an_opencv_that_fails_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(getNumThreads=lambda: int("?")))
    assert "OpenCV" not in pools()

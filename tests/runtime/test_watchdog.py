"""The process that cleans up after a parent that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.run_settings import VARIABLE
from torchlint.runtime.processes.watchdog import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.scenes import WaitsUntil

    Start = Callable[[str], subprocess.Popen[bytes]]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify needs POSIX")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes that live long, in sessions of their own, with a mark."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(mark: str) -> subprocess.Popen[bytes]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(1000)"],
                env={**os.environ, VARIABLE: mark},
                start_new_session=True,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    made = tmp_path / "torchlint-x"
    (made / "0-original").mkdir(parents=True)
    return str(made)


def abandon(guard: Guard) -> None:
    """What the end of this process would do."""
    assert guard._process.stdin is not None
    guard._process.stdin.close()
    guard._process.wait()


def test_an_abandoned_guard_ends_what_it_knows(start: Start, folder: str) -> None:
    watched, marked = start(""), start(f"{folder}/0-original/settings.json")
    forgotten, other = start(""), start(f"{folder}-other/settings.json")
    guard = Guard(folder)
    guard.watch(watched.pid)
    guard.watch(forgotten.pid)
    guard.forget(forgotten.pid)
    watched.send_signal(signal.SIGSTOP)
    abandon(guard)
    assert watched.wait() == marked.wait() == -signal.SIGKILL
    assert forgotten.poll() is other.poll() is None
    assert not os.path.exists(folder)


def test_a_dismissed_guard_touches_nothing(start: Start, folder: str) -> None:
    watched, marked = start(""), start(f"{folder}/0-original/settings.json")
    guard = Guard(folder)
    guard.watch(watched.pid)
    guard.dismiss()
    assert guard._process.returncode == 0
    assert watched.poll() is marked.poll() is None
    assert os.path.isdir(folder)


def ignored(pid: int) -> set[int]:
    """The signals that a process ignores."""
    with open(f"/proc/{pid}/status") as stream:
        mask = next(int(line.split()[1], 16) for line in stream if line.startswith("SigIgn"))
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_guard_does_not_leave_when_it_is_asked_to(
    start: Start, folder: str, waits_until: WaitsUntil
) -> None:
    watched = start("")
    guard = Guard(folder)
    assert os.getsid(guard._process.pid) != os.getsid(0)
    guard.watch(watched.pid)
    asked = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    assert waits_until(lambda: asked <= ignored(guard._process.pid))
    for number in asked:
        guard._process.send_signal(number)
    abandon(guard)
    assert watched.wait() == -signal.SIGKILL


def test_a_guard_that_is_gone_is_not_an_error(folder: str) -> None:
    guard = Guard(folder)
    guard._process.kill()
    guard._process.wait()
    guard.watch(1)
    guard.dismiss()


def test_a_guard_imports_nothing_from_the_folder_of_the_user(
    start: Start, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("psutil.py", "torchlint.py", "signal.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    guard = Guard(folder)
    abandon(guard)
    assert guard._process.returncode == 0
    assert not os.path.exists(folder)

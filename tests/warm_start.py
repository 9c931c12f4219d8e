"""Starts programs without seconds of imports: forks a Python that has done them.

What a test says about starting, importing or the environment at the start needs a fresh process;
what it says about the work itself does not.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import pytest

from torchlint import __main__ as main
from torchlint.runtime import run as runs
from torchlint.runtime.processes.process_tree import set_subreaper
from torchlint.runtime.sandbox import fence, overlayfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Start = Callable[..., subprocess.Popen[bytes]]
    Torchlint = Callable[[list[str], Path], tuple[int, str]]
    """Runs a command line in a folder; gives its exit code and what it printed."""

WARM_PYTHON = Path(__file__).with_name("warm_python.py")
FENCE = fence.__file__
TORCH = ("torch", "torch._dynamo")
"""The first optimizer imports the second, which takes as long as the first."""


class WarmPython:
    """The Python that is forked."""

    def __init__(self, *preloaded: str) -> None:
        self._lock = threading.Lock()
        # Of packets, so that a request arrives whole.
        self._wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, str(WARM_PYTHON), str(theirs.fileno()), *preloaded]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])

    def close(self) -> None:
        self._wire.close()
        self._process.wait()

    def start(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        start_new_session: bool = False,
    ) -> subprocess.Popen[bytes]:
        """As `subprocess.Popen`, for `[sys.executable, …]`."""
        if FENCE in command:  # a fork of a Python with threads cannot restrict itself
            command = command[command.index("--") + 1 :]
        assert command[0] == sys.executable
        streams = [
            _Stream(number, stream, "wb" if number == 0 else "rb")
            for number, stream in enumerate((stdin, stdout, stderr))
        ]
        request = {
            "words": command[1:],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "session": start_new_session,
        }
        child = _child(command, self._fork(request, [stream.theirs for stream in streams]))
        for stream in streams:
            stream.hand_over()
        child.stdin, child.stdout, child.stderr = (stream.ours for stream in streams)
        return child

    def _fork(self, request: object, files: list[int]) -> int:
        with self._lock:
            before = set_subreaper(True)
            try:
                socket.send_fds(self._wire, [json.dumps(request).encode()], files)
                return int(self._wire.recv(20))
            finally:
                set_subreaper(before)


class _Stream:
    """One of the three files of a program, and this end of it if it is a pipe."""

    def __init__(self, number: int, wanted: int | IO[bytes] | None, mode: str) -> None:
        self.ours: IO[bytes] | None = None
        self._opened = wanted in (subprocess.PIPE, subprocess.DEVNULL)
        if wanted == subprocess.PIPE:
            ends = os.pipe()
            mine, self.theirs = ends if mode == "rb" else reversed(ends)
            self.ours = open(mine, mode)  # noqa: SIM115
        elif wanted == subprocess.DEVNULL:
            self.theirs = os.open(os.devnull, os.O_RDWR)
        elif wanted is None:
            self.theirs = number
        else:
            self.theirs = wanted if isinstance(wanted, int) else wanted.fileno()

    def hand_over(self) -> None:
        if self._opened:
            os.close(self.theirs)


def _child(command: Sequence[str], pid: int) -> subprocess.Popen[bytes]:
    """A process that has become a child of this one, in the form of one that was started here."""
    child = subprocess.Popen.__new__(subprocess.Popen)
    vars(child).update(
        args=command, pid=pid, returncode=None, text_mode=None, _input=None,
        _child_created=True, _communication_started=False, _waitpid_lock=threading.Lock(),
    )  # fmt: skip
    return child


def start_by(start: Start) -> SimpleNamespace:
    """What may replace `subprocess` in a module that starts programs."""
    return SimpleNamespace(**{**vars(subprocess), "Popen": start})


def started(*preloaded: str) -> Iterator[Start]:
    """Starts programs in a Python that has imported these; in a fresh one elsewhere than Linux."""
    if not sys.platform.startswith("linux"):
        yield subprocess.Popen
        return
    python = WarmPython(*preloaded)
    yield python.start
    python.close()


@pytest.fixture(scope="session")
def warm_start() -> Iterator[Start]:
    """Starts a script that uses torch."""
    yield from started(*TORCH)


@pytest.fixture(scope="session")
def gpu_start() -> Iterator[Start]:
    """Starts a script that uses torch, on a machine that seems to have a GPU; skips the test where
    nothing starts warm."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the GPU is there only for what starts warm")
    yield from started(*TORCH, "simulated_gpu")


def torchlint_by(
    start_one: Start, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Torchlint:
    """In this process, whose runs start so; fails if one of them is left."""
    started = []

    def start(*words: Any, **how: Any) -> subprocess.Popen[bytes]:
        started.append(start_one(*words, **how))
        return started[-1]

    def torchlint(words: list[str], project: Path) -> tuple[int, str]:
        monkeypatch.chdir(project)
        monkeypatch.setattr(runs, "subprocess", start_by(start))
        # The other shield puts programs before Python.
        monkeypatch.setattr(overlayfs, "available", lambda *folders: overlayfs.REDIRECT)
        code = main.run(words)
        said = "".join(capfd.readouterr())
        assert {process.poll() is None for process in started} <= {False}
        return code, said

    return torchlint


@pytest.fixture
def warm_torchlint(
    warm_start: Start, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Torchlint:
    """In this process, whose runs start with torch imported."""
    return torchlint_by(warm_start, monkeypatch, capfd)

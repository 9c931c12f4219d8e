"""Starts scripts that use torch without two seconds of imports: forks a Python that has done them.

What a test says about starting, importing or the environment at the start needs a process of its
own; what it says about steps and numbers does not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from torchlint.runtime.processes import set_subreaper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Start = Callable[..., subprocess.Popen[bytes]]

WARM_PYTHON = Path(__file__).with_name("warm_python.py")


class WarmPython:
    """The Python that is forked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(WARM_PYTHON)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self) -> None:
        self._process.communicate()

    def start(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None,
        env: Mapping[str, str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        **as_always: Any,
    ) -> subprocess.Popen[bytes]:
        """As `subprocess.Popen`, for `[sys.executable, script, …]` in a session of its own."""
        assert command[0] == sys.executable
        assert as_always == {"stdin": subprocess.DEVNULL, "start_new_session": True}
        request = {
            "argv": command[1:],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(env),
            "stdout": stdout.name,
            "stderr": stderr.name,
        }
        return _child(self._fork(json.dumps(request).encode()), command)

    def _fork(self, request: bytes) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            before = set_subreaper(True)
            try:
                self._process.stdin.write(request + b"\n")
                self._process.stdin.flush()
                return int(self._process.stdout.readline())
            finally:
                set_subreaper(before)


def _child(pid: int, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """A process that has become a child of this one, in the form of one that was started here."""
    child = subprocess.Popen.__new__(subprocess.Popen)
    vars(child).update(
        args=command, pid=pid, returncode=None, stdin=None, stdout=None, stderr=None,
        _child_created=True, _waitpid_lock=threading.Lock(), _communication_started=False,
        _input=None, text_mode=None,
    )  # fmt: skip
    return child


@pytest.fixture(scope="session")
def warm_start() -> Iterator[Start]:
    """Starts a script in a process that has torch; a fresh one where there is no subreaper."""
    if not sys.platform.startswith("linux"):
        yield subprocess.Popen
        return
    python = WarmPython()
    yield python.start
    python.close()

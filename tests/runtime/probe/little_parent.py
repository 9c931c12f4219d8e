"""The other end of a run's socket, small enough to read, and what ends a run for good."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.run_settings import VARIABLE

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

Message = dict[str, Any]
Answer = Callable[[Message], Message | None]


@dataclass
class Outcome:
    """What came of a run: messages in the order of their arrival, of all its processes."""

    scratch: Path
    messages: list[Message] = field(default_factory=list)
    code: int | None = None
    """Exit code, if the process ended by itself."""

    def of(self, kind: str) -> list[Message]:
        return [message for message in self.messages if message["type"] == kind]

    @property
    def ended(self) -> Message:
        assert self.of("ended"), f"the script did not end: {self.messages}\n{self.stderr}"
        return self.of("ended")[-1]

    @property
    def stdout(self) -> str:
        return (self.scratch / "stdout").read_text()

    @property
    def stderr(self) -> str:
        return (self.scratch / "stderr").read_text()

    @property
    def lines(self) -> list[str]:
        """What the script printed; fails with its standard error if it did not finish."""
        assert self.ended["status"] == "finished", self.stderr
        return self.stdout.splitlines()

    def listed(self, name: str) -> list[str]:
        """Lines of a file that the run's processes append to, sorted."""
        path = self.scratch / name
        return sorted(path.read_text().splitlines()) if path.exists() else []


class Parent:
    """Listens on the run's socket; says start to everybody, then what `answer` says."""

    def __init__(self, path: str, outcome: Outcome, answer: Answer, until: Sequence[str]) -> None:
        self._outcome, self._answer, self._until = outcome, answer, until
        self._lock = threading.Lock()
        self.through = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        # A close alone does not wake the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                wire, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(wire,), daemon=True).start()

    def _talk(self, wire: socket.socket) -> None:
        role = ""
        with wire, wire.makefile("rb") as lines:
            try:
                for line in lines:
                    message = json.loads(line)
                    role = message.get("role", role)
                    with self._lock:
                        self._outcome.messages.append(message)
                        answer = (
                            {"type": "start"}
                            if message["type"] == "hello"
                            else self._answer(message)
                        )
                    if answer is not None:
                        wire.sendall(json.dumps(answer).encode() + b"\n")
                    if role == "main" and message["type"] in self._until:
                        self.through.set()
            except OSError:
                return


def kill_tree(settings: str, child: subprocess.Popen[bytes]) -> None:
    """Kill every process of the run, and wait until all are gone."""
    deadline = time.monotonic() + 200
    while True:
        if child.poll() is None:
            child.kill()
            child.wait()
        left = processes_of(settings, child.pid)
        if not left:
            return
        assert time.monotonic() < deadline, f"still alive: {left}"
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.005)


def processes_of(settings: str, session: int) -> list[int]:
    """Processes of a session, and those whose environment names the settings file.

    Zombies have no environment, and are left to whoever waits for them.
    """
    mark = f"{VARIABLE}={settings}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as stream:
                    environ = stream.read().split(b"\0")
                if mark in environ or (environ != [b""] and os.getsid(int(entry)) == session):
                    found.append(int(entry))
            except OSError:
                continue
    return found

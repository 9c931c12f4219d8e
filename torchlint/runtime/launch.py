"""Starts one run of the program and listens to it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime.channel import GONE, HELLO, Channel, Peer
from torchlint.runtime.failures import (
    CRASHED,
    ERROR,
    TIMEOUT,
    Failed,
    from_ended,
    from_exit,
    tail_of,
)
from torchlint.runtime.messages import MalformedError, Message
from torchlint.runtime.probe.settings import VARIABLE, Settings, write
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

__all__ = ["Child", "Failed", "Job", "Workspace", "malloc_settings"]

ENDED: Final = "ended"

PROBE: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe", "__main__.py")

# Not `-m`, which would put the folder that the user stands in before the standard library.
_TORCHRUN: Final = (
    "import sys; sys.path[:] = filter(None, sys.path)\n"
    "from torch.distributed.run import main; main()"
)
_THREADS: Final = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_MALLOC: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
_RANK_EXIT: Final = re.compile(r"exitcode\s*:\s*(-?\d+)")
"""In what torchrun writes when a rank has failed; its own code is always 1."""
_TICK_S: Final = 0.1
"""How soon the death of a process is seen that keeps its connection open in a fork."""
_LAST_BREATH_S: Final = 5.0
"""From the end of a connection to the end of its process."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the program.

    Args:
        settings: `socket` and `scratch` are filled in when it is started.
        nproc: torchrun starts so many processes; 1: no torchrun.
        environment: on top of this process's own.
        cwd: where it starts; empty: here.
    """

    settings: Settings
    nproc: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""


def malloc_settings() -> dict[str, str]:
    """Variables that keep glibc from giving large blocks back to the kernel after every step.

    Page faults for the same memory again and again are most of the noise between two processes
    that train a convolutional net on a CPU. Empty where the allocator is not glibc's; what the
    user has set stays.
    """
    if not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc":
        return {}
    return {name: value for name, value in _MALLOC.items() if name not in os.environ}


class Child:
    """A run that is under way. A context manager that leaves no process of it.

    Every method that waits raises Failed if the run does not do its part, KeyboardInterrupt aside.
    """

    def __init__(self, job: Job, workspace: Workspace) -> None:
        self.variant = job.settings.variant
        self.folder = workspace.folder(self.variant)
        self.nproc = job.nproc
        self._workspace = workspace
        self._stderr = os.path.join(self.folder, "stderr")
        self._started = False
        self._lost_at: float | None = None
        settings = replace(job.settings, socket=workspace.socket(), scratch=self.folder)
        mark = os.path.join(self.folder, "settings.json")
        write(settings, mark)
        self._channel = Channel(settings.socket)
        try:
            self._tree = workspace.start(lambda: _begin(job, settings, mark, self.folder), mark)
        except OSError as error:
            self._channel.close()
            raise self._failed(ERROR, f"The run could not be started: {error}.") from error
        except BaseException:
            self._channel.close()
            raise

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def peers(self) -> tuple[Peer, ...]:
        """The processes that have introduced themselves."""
        return tuple(peer for peer in self._channel.peers if peer.greeting is not None)

    def greet(self, timeout_s: float) -> None:
        """Wait until the script is about to run, in all processes that were started."""
        while sum(peer.main for peer in self.peers) < self.nproc:
            self.receive(timeout_s, "start")

    def start(self) -> None:
        """Let the script run."""
        self._started = True
        for peer in self.peers:
            self._channel.start(peer)

    def turn(self, peer: Peer, *, settle: int, steps: int) -> None:
        """Give a process the word: so many steps that do not count, and so many that do."""
        self._channel.send(peer, "turn", settle=settle, steps=steps)

    def receive(self, timeout_s: float, doing: str) -> tuple[Peer, Message]:
        """The next message of any process.

        Args:
            timeout_s: after so many seconds without one, the run has failed.
            doing: what is waited for, for the message to the user.
        """
        found = self.poll(timeout_s)
        if found is None:
            raise self.timed_out(timeout_s, doing)
        return found

    def poll(self, wait_s: float) -> tuple[Peer, Message] | None:
        """The next message of any process, or None if none comes within `wait_s` seconds."""
        deadline = time.monotonic() + wait_s
        while True:
            if self._workspace.stopping:
                raise self._failed(ERROR, "The run was stopped.")
            left = deadline - time.monotonic()
            over = self._tree.exit_code is not None
            found = self._hear(0.0 if over else max(0.0, min(left, _TICK_S)))
            if found is not None:
                return found
            if over or self._is_lost():
                raise self._crashed()
            if left <= 0:
                return None

    def timed_out(self, timeout_s: float, doing: str) -> Failed:
        """The run said nothing for too long."""
        return self._failed(
            TIMEOUT, f"The run did not {doing}: nothing was heard of it for {timeout_s:g} s."
        )

    def malformed(self, error: MalformedError) -> Failed:
        """The run said something that it should not have."""
        return self._failed(
            ERROR, f"The run sent what verify does not understand ({error}).", kind="protocol"
        )

    def freeze(self) -> None:
        """Stop all of its processes where they are."""
        self._tree.freeze()

    def thaw(self) -> None:
        """Let them go on."""
        self._tree.thaw()

    def end(self) -> None:
        """End all of its processes at once: no `finally:`, no `atexit`, nothing is flushed."""
        try:
            self._workspace.end(self._tree)
        finally:
            self._channel.close()

    def _hear(self, wait_s: float) -> tuple[Peer, Message] | None:
        try:
            found = self._channel.receive(wait_s)
            if found is not None:
                self._note(*found)
        except MalformedError as error:
            raise self.malformed(error) from error
        return found

    def _note(self, peer: Peer, message: Message) -> None:
        """What concerns every kind of run."""
        if message.type == HELLO and self._started:
            self._channel.start(peer)
        elif message.type == ENDED:
            peer.ended = True
            failed = from_ended(message, self.variant, self._stderr)
            mains = [each for each in self.peers if each.main]
            if failed.status == ERROR or (peer.main and all(each.ended for each in mains)):
                raise failed
        elif message.type == GONE and peer.main and not peer.ended:
            self._lost_at = time.monotonic()

    def _is_lost(self) -> bool:
        """A main process has hung up and yet does not end."""
        return self._lost_at is not None and time.monotonic() - self._lost_at > _LAST_BREATH_S

    def _crashed(self) -> Failed:
        code = self._tree.exit_code
        if code is None:
            return self._failed(CRASHED, "The script broke the connection that verify measures by.")
        if self.nproc > 1 and (rank := _RANK_EXIT.search(tail_of(self._stderr))):
            code = int(rank[1])
        return from_exit(code, self.variant, self._stderr)

    def _failed(self, status: str, message: str, kind: str = "") -> Failed:
        return Failed(
            status, message, variant=self.variant, kind=kind or status, tail=tail_of(self._stderr)
        )


def _begin(job: Job, settings: Settings, mark: str, folder: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, PROBE, mark]
    if job.nproc > 1:
        command[1:1] = ["-c", _TORCHRUN, "--standalone", "--nproc-per-node", str(job.nproc)]
    if settings.sandbox == "overlayfs":
        from torchlint.runtime.sandbox import wrap

        command = wrap(command, settings.project, folder)
    with (
        open(os.path.join(folder, "stdout"), "wb") as stdout,
        open(os.path.join(folder, "stderr"), "wb") as stderr,
    ):
        return subprocess.Popen(  # noqa: S603 - running the user's program is what was asked for
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=job.cwd or None,
            env=_environment(job, settings, mark),
            start_new_session=True,
        )


def _environment(job: Job, settings: Settings, mark: str) -> dict[str, str]:
    found = {"PYTHONFAULTHANDLER": "1", **os.environ, **job.environment}
    found |= {VARIABLE: mark, "PYTHONDONTWRITEBYTECODE": "1"}
    if settings.threads is not None:
        found |= dict.fromkeys(_THREADS, str(settings.threads))
    if settings.device == "cpu":
        found["CUDA_VISIBLE_DEVICES"] = ""
    return found

"""Starts one run of the program and listens to it."""

from __future__ import annotations

import math
import os
import subprocess
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime import probe
from torchlint.runtime.channel import GONE, HELLO, Channel, Peer
from torchlint.runtime.decoding import MalformedError, Message
from torchlint.runtime.failures import (
    CRASHED,
    ERROR,
    FINISHED,
    NO_GPU,
    TIMEOUT,
    Failed,
    OutOfTime,
    from_ended,
    from_exit,
    not_understood,
    tail_of,
)
from torchlint.runtime.launchers.python import Python
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.probe.messages import Compiling, Ended
from torchlint.runtime.probe.run_settings import RunSettings, write
from torchlint.runtime.processes.locks import waiting
from torchlint.runtime.processes.network import Network, network
from torchlint.runtime.run_variables import variables
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox.disk_space import release
from torchlint.runtime.sandbox.fenced import fenced
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, wrap
from torchlint.runtime.sandbox.shared_memory import sweep
from torchlint.runtime.started import Here
from torchlint.runtime.temporary_folders import remove

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torchlint.runtime.launchers.launcher_protocol import Launcher
    from torchlint.runtime.nodes.nodes import Nodes
    from torchlint.runtime.started import Started
    from torchlint.runtime.workspace import Workspace

ENDED: Final = "ended"
COMPILING: Final = "compiling"
COMPILES: Final = "torch.compile was still compiling"

PROBE: Final = os.path.join(os.path.dirname(os.path.abspath(probe.__file__)), "__main__.py")

_TICK_S: Final = 0.1
"""How soon the death of a process is seen that keeps its connection open in a fork."""
_GRACE_S: Final = 5.0
"""From the first process that reports to the last."""
_LAST_BREATH_S: Final = 5.0
"""From the end of a connection to the end of its process."""
_OTHER_ERROR_S: Final = 0.5
"""From the death of a rank to the error of another that had a connection to it, at most."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the program.

    Args:
        settings: `socket` and `scratch` are filled in when it is started.
        launcher: what starts its processes.
        nodes: the machines that it is spread over; None: this one alone. Their launcher is
            torchrun.
        environment: on top of this process's own.
        cwd: where it starts; empty: here.
        stdin: a file that it reads as its standard input; empty: it has none.
        own_network: under overlayfs it gets a loopback of its own, and sees no other machine.
    """

    settings: RunSettings
    launcher: Launcher = field(default_factory=Python)
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    stdin: str = ""
    own_network: bool = False
    nodes: Nodes | None = None


class Run:
    """A run that is under way. A context manager that leaves no process of it.

    Every method that waits raises Failed if the run does not do its part, and OutOfTime at the
    deadline of its workspace.
    """

    def __init__(self, job: Job, workspace: Workspace) -> None:
        self.name = job.settings.name
        self.folder = workspace.folder(self.name)
        self.launcher = job.launcher
        self._device = job.settings.device
        self._workspace = workspace
        self._stderr = os.path.join(self.folder, "stderr")
        self._stdout = os.path.join(self.folder, "stdout")
        self._started = False
        self._lost: tuple[float, Peer] | None = None
        self._error: tuple[float, Failed] | None = None
        self._temporary = ""
        self._compiling: set[Peer] = set()
        start = self._start_here if job.nodes is None else self._start_on_nodes
        self._channel, self._tree = start(job)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    @property
    def peers(self) -> tuple[Peer, ...]:
        """The processes that have introduced themselves."""
        return tuple(peer for peer in self._channel.peers if peer.greeting is not None)

    @property
    def compiling(self) -> bool:
        """Whether `torch.compile` is at work in one of them, and it is silent for that reason."""
        return any(not peer.gone for peer in self._compiling)

    def greet(self, timeout_s: float) -> None:
        """Wait until the script is about to run, in all processes that were started."""
        while sum(peer.main for peer in self.peers) < self.launcher.processes:
            peer, _ = self.receive(timeout_s, "start")
            if self._device == "cuda" and peer.main and peer.hello.device == "cpu":
                raise self._failed(NO_GPU, "This machine has no GPU that torch can use.")

    def start(self) -> None:
        """Let the script run."""
        self._started = True
        for peer in self.peers:
            self._channel.start(peer)

    def send(self, peer: Peer, word: str, **values: int) -> None:
        """Send one process a message of its mode."""
        self._channel.send(peer, word, **values)

    def receive(self, timeout_s: float, doing: str) -> tuple[Peer, Message]:
        """The next message of any process.

        Args:
            timeout_s: after so many seconds without one, the run has failed, unless it is
                compiling.
            doing: what is awaited, for the message to the user.
        """
        while True:
            found = self.poll(timeout_s)
            if found is not None:
                return found
            if not self.compiling:
                raise self.timed_out(timeout_s, doing)

    def poll(self, wait_s: float) -> tuple[Peer, Message] | None:
        """The next message of any process, or None if none comes within `wait_s` seconds."""
        deadline = time.monotonic() + wait_s
        while True:
            if self._workspace.stopping:
                raise self._failed(ERROR, "The run was stopped.")
            if self._workspace.is_late:
                raise OutOfTime(COMPILES if self.compiling else "")
            left = deadline - time.monotonic()
            self._workspace.tend()
            over = self._tree.exit_code is not None
            found = self._hear(0.0 if over else max(0.0, min(left, _TICK_S)))
            if found is not None:
                return found
            if over or self._is_lost():
                raise self._crashed()
            if (
                self._error is not None
                and self._lost is None
                and _age(self._error) > _OTHER_ERROR_S
            ):
                raise self._error[1]
            if left <= 0 and self._error is None:
                return None

    def reports(
        self, kind: str, timeout_s: float, doing: str, *, compiling_s: float = math.inf
    ) -> Iterator[tuple[Peer, Message]]:
        """The messages of one kind, which each process sends once: the first within `timeout_s`
        seconds, the others as far as they come soon after it and before the script ends.

        Args:
            doing: what the first process has failed to do by then.
            compiling_s: the first has to come within so many seconds even if it compiles.

        Raises:
            Failed: the script failed; or it ended, or the time did, before there was one.
        """
        deadline: float | None = None
        latest = time.monotonic() + compiling_s
        while True:
            left_s = (latest if deadline is None else deadline) - time.monotonic()
            wait_s = min(timeout_s, left_s) if deadline is None else left_s
            try:
                heard = self.poll(max(0.0, wait_s))
            except Failed as failed:
                if failed.status != FINISHED or deadline is None:
                    raise
                return
            if heard is None and deadline is None:
                if not self.compiling or time.monotonic() >= latest:
                    raise self.timed_out(min(timeout_s, compiling_s), doing)
                continue
            if heard is None:
                return
            if heard[1].kind == kind:
                yield heard
                deadline = deadline or time.monotonic() + _GRACE_S

    def timed_out(self, timeout_s: float, doing: str) -> Failed:
        """The run sent nothing for too long."""
        return self._failed(
            TIMEOUT, f"The run did not {doing}: it sent nothing for {timeout_s:g} s."
        )

    def malformed(self, error: MalformedError) -> Failed:
        """The run sent something that it should not have."""
        return not_understood(error, self.name, tail_of(self._stderr))

    def waits_for(self, others: Iterable[Run]) -> bool:
        """Whether one of its processes waits for a lock that another run holds."""
        waits = waiting()
        if not waits:  # mostly; to look at processes would disturb the one that is measured
            return False
        own = {process.pid for process in self._tree.look()}
        theirs = {process.pid for other in others for process in other._tree.look()}
        return any(waiter in own and holder in theirs for waiter, holder in waits)

    def network(self) -> Network:
        """What its processes have to do with the network now."""
        return network({process.pid for process in self._tree.look()})

    def freeze(self) -> None:
        """Stop all of its processes where they are."""
        self._tree.freeze()

    def thaw(self) -> None:
        """Let them continue."""
        self._tree.thaw()

    def end(self) -> None:
        """End all of its processes at once: no `finally:`, no `atexit`, nothing is flushed."""
        try:
            self._tree.end()
        finally:
            self._channel.close()
            release(self.folder)
            if self._temporary:
                remove(self._temporary)
                sweep(self.folder)

    def _hear(self, wait_s: float) -> tuple[Peer, Message] | None:
        try:
            message = self._channel.receive(wait_s)
            if message is not None:
                self._note(*message)
        except MalformedError as error:
            raise self.malformed(error) from error
        return message

    def _note(self, peer: Peer, message: Message) -> None:
        """What concerns every kind of run."""
        if message.kind == HELLO and self._started:
            self._channel.start(peer)
        elif message.kind == COMPILING:
            if message.read(Compiling).begun:
                self._compiling.add(peer)
            else:
                self._compiling.discard(peer)
        elif message.kind == ENDED:
            peer.ended = True
            failed = from_ended(message.read(Ended), self.name, self._stderr, self._stdout)
            mains = [each for each in self.peers if each.main]
            if failed.status == ERROR and len(mains) > 1:
                # It may only be an error because another rank has died.
                self._error = self._error or (time.monotonic(), failed)
            elif failed.status == ERROR or (peer.main and all(each.ended for each in mains)):
                raise failed
        elif message.kind == GONE and peer.main and not peer.ended and self._lost is None:
            self._lost = time.monotonic(), peer

    def _is_lost(self) -> bool:
        """A main process has hung up and yet does not end."""
        return self._lost is not None and _age(self._lost) > _LAST_BREATH_S

    def _crashed(self) -> Failed:
        trouble = self._tree.trouble(self.name)
        if trouble is not None:
            return trouble
        if self._error is not None and self._lost is None:
            return self._error[1]
        ended = self._tree.exit_on(self._lost[1].hello.node if self._lost else "")
        if ended is None:
            return self._failed(CRASHED, "The script broke the connection to torchlint.")
        if ended.tail is not None:
            with open(self._stderr, "w", encoding="utf-8") as stream:
                stream.write(ended.tail)
        lost = self._lost[1].rank if self._lost is not None else None
        code, rank = self.launcher.ended(ended.code, tail_of(self._stderr), lost)
        on = f" on {ended.node}" if ended.node else ""
        who = "The process" if rank is None else f"Rank {rank}{on}"
        return from_exit(code, self.name, self._stderr, who)

    def _failed(self, status: str, message: str, kind: str = "") -> Failed:
        return Failed(
            status, message, name=self.name, kind=kind or status, tail=tail_of(self._stderr)
        )

    def _start_on_nodes(self, job: Job) -> tuple[Channel, Started]:
        assert job.nodes is not None
        assert isinstance(job.launcher, Torchrun)
        channel, token = job.nodes.channel()
        settings = replace(job.settings, token=token, scratch=self.folder)
        try:
            return channel, job.nodes.start(
                job.launcher,
                settings,
                port=channel.port,
                environment=job.environment,
                cwd=job.cwd,
                stdin=job.stdin,
            )
        except BaseException:
            channel.close()
            raise

    def _start_here(self, job: Job) -> tuple[Channel, Started]:
        self._temporary = self._workspace.temporary()
        address = self._workspace.socket()
        settings = replace(
            job.settings, socket=address, scratch=self.folder, fenced=not fence.why_not()
        )
        mark = os.path.join(self.folder, "settings.json")
        write(settings, mark)
        channel = Channel(address)
        try:
            tree = self._workspace.start(lambda: self._begin(job, settings, mark), mark)
            return channel, Here(tree, self._workspace)
        except OSError as error:
            channel.close()
            raise self._failed(ERROR, f"The run could not be started: {error}.") from error
        except BaseException:
            channel.close()
            raise

    def _begin(self, job: Job, settings: RunSettings, mark: str) -> subprocess.Popen[bytes]:
        environment = variables(settings, mark, self._temporary, job.environment)
        command = fenced(job.launcher.command([PROBE, mark]), settings, environment)
        if settings.sandbox == OVERLAYFS:
            command = wrap(command, settings.project, self.folder, own_network=job.own_network)
        with (
            open(job.stdin or os.devnull, "rb") as stdin,
            open(self._stdout, "wb") as stdout,
            open(self._stderr, "wb") as stderr,
        ):
            return subprocess.Popen(  # noqa: S603 - running the user's program is asked for
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=job.cwd or None,
                env=environment,
                start_new_session=True,
            )


def _age(noted: tuple[float, object]) -> float:
    return time.monotonic() - noted[0]

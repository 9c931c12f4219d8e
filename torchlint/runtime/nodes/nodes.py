"""The machines that runs are spread over, as the parent sees them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from torchlint.runtime.channel import GONE, HELLO, Channel
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.failures import CRASHED, ERROR, Failed, tail_of
from torchlint.runtime.launchers import slurm
from torchlint.runtime.nodes import node_agent
from torchlint.runtime.nodes.meeting import (
    Meeting,
    NodeError,
    announce,
    hosts_of_this_machine,
    new_token,
)
from torchlint.runtime.nodes.orders import OfRun, RunExited, StartRun
from torchlint.runtime.started import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psutil

    from torchlint.runtime.channel import Peer
    from torchlint.runtime.decoding import Message
    from torchlint.runtime.launchers.torchrun import Torchrun
    from torchlint.runtime.probe.run_settings import RunSettings
    from torchlint.runtime.processes.process_tree import ProcessTree
    from torchlint.runtime.workspace import Workspace

TORCHRUN: Final = "torchrun"
SLURM: Final = "slurm"

_TICK_S: Final = 0.2
_PATIENCE_S: Final = 20.0
"""For an agent to end what it has started, or to leave."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How runs are spread over machines.

    Args:
        launcher: TORCHRUN: the user starts torchlint on each node; SLURM: `srun` starts the agents.
        nodes: how many; this machine is the first.
        shared: a folder that all of them see at the same path.
        meeting: name of the file in it that the others look for; empty: only Slurm has to know.
        wait_s: for the others to join.
    """

    launcher: str
    nodes: int
    shared: str
    meeting: str = ""
    wait_s: float = 300.0


@dataclass(slots=True)
class _Run:
    """What the agents have said about one run: by node."""

    exits: dict[int, RunExited] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)


class Nodes:
    """Starts runs on all machines at once. A context manager; at its end they are left alone.

    Methods may be called from several threads.

    Args:
        workspace: is in the shared folder.

    Raises:
        NodeError: the machines did not come together.
    """

    def __init__(self, spread: Spread, workspace: Workspace) -> None:
        self._spread = spread
        self._workspace = workspace
        self._lock = threading.RLock()
        self._token = new_token()
        self._channel = Channel("", self._token)
        self._agents: dict[int, Peer] = {}
        self._runs: dict[int, _Run] = {}
        self._lost: set[int] = set()
        self._meeting = os.path.join(
            spread.shared if spread.meeting else workspace.root, spread.meeting or "meeting.json"
        )
        self._starter: ProcessTree | None = None
        self._said = os.path.join(workspace.folder("nodes"), "stderr")
        try:
            self._gather()
        except BaseException:
            self.close()
            raise
        hellos = [self._agents[node].hello for node in range(spread.nodes)]
        self.processors = min(each.processors for each in hellos)
        self.names = _distinct([self._agents[node].hello.node for node in range(spread.nodes)])

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def channel(self) -> tuple[Channel, str]:
        """A new one for the ranks of a run, and the token that they have to know."""
        return Channel("", self._token), self._token

    def start(
        self,
        launcher: Torchrun,
        settings: RunSettings,
        *,
        port: int,
        environment: Mapping[str, str],
        cwd: str,
        stdin: str,
    ) -> OnNodes:
        """Start a run on all of them.

        Args:
            port: at which its ranks find the parent.
            cwd: where they start.
            stdin: a file for their standard input; empty: none.
        """
        with self._lock:
            number = len(self._runs)
            self._runs[number] = _Run()
            master_port = _free_port()
            for node, peer in self._agents.items():
                own = {**asdict(settings), "node": self.names[node], "token": self._token}
                order = StartRun(
                    number,
                    own,
                    port,
                    launcher.on_a_node,
                    launcher.nodes,
                    master_port,
                    dict(environment),
                    cwd,
                    stdin,
                )
                self._channel.send(peer, "start", **asdict(order))
        return OnNodes(self, number)

    def close(self) -> None:
        """Let the agents clean up and go."""
        with suppress(MalformedError):
            for peer in self._agents.values():
                self._channel.send(peer, "leave")
            deadline = time.monotonic() + _PATIENCE_S
            while len(self._lost) < len(self._agents) and time.monotonic() < deadline:
                self._hear(_TICK_S)
        self._channel.close()
        if self._starter is not None:
            self._workspace.end(self._starter)
        with suppress(OSError):
            os.unlink(self._meeting)

    def exits(self, run: int) -> Mapping[int, RunExited]:
        """How a run has ended, by node, as far as it has."""
        self._hear(0.0)
        return self._runs[run].exits

    def lost(self) -> str:
        """Which agents have gone though they were needed, in words; empty if none has."""
        if not self._lost:
            return ""
        names = ", ".join(self.names[node] for node in sorted(self._lost))
        return f"{names} ended its part of the job{_because(tail_of(self._said))}"

    def end(self, run: int) -> None:
        """End all processes of a run, on every node that there still is."""
        with self._lock:
            for peer in self._agents.values():
                self._channel.send(peer, "end", run=run)
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            if self._runs[run].ended | self._lost >= set(self._agents):
                return
            with suppress(MalformedError):
                self._hear(_TICK_S)

    # talking to the agents

    def _gather(self) -> None:
        spread = self._spread
        announce(
            Meeting(hosts_of_this_machine(), self._channel.port, self._token, spread.nodes),
            self._meeting,
        )
        command = [sys.executable, os.path.abspath(node_agent.__file__), self._meeting]
        if spread.launcher == SLURM:
            command = slurm.on_each_node(spread.nodes, command)
        self._starter = self._workspace.start(lambda: self._begin(command), self._meeting)
        deadline = time.monotonic() + spread.wait_s
        while len(self._agents) < spread.nodes:
            if self._workspace.stopping:
                raise NodeError("Stopped while the nodes were awaited.")
            over = self._starter.exit_code is not None
            self._hear(0.0 if over else _TICK_S)
            if self._lost or (over and len(self._agents) < spread.nodes):
                raise NodeError(f"The nodes could not start{_because(tail_of(self._said))}.")
            if time.monotonic() > deadline:
                missing = sorted(set(range(spread.nodes)) - set(self._agents))
                raise NodeError(
                    f"{_numbered(missing)} did not join within {spread.wait_s:g} s"
                    f"{_because(tail_of(self._said))}; {_HOW_TO_JOIN[spread.launcher]}."
                )

    def _begin(self, command: list[str]) -> subprocess.Popen[bytes]:
        with open(os.devnull, "r+b") as nothing, open(self._said, "wb") as stderr:
            return subprocess.Popen(  # noqa: S603
                command,
                stdin=nothing,
                stdout=nothing,
                stderr=stderr,
                env=slurm.variables_of_a_step(),
                start_new_session=True,
            )

    def _hear(self, wait_s: float) -> None:
        """Take in what agents say within so many seconds."""
        with self._lock:
            found = self._channel.receive(wait_s)
            while found is not None:
                self._note(*found)
                found = self._channel.receive(0.0)

    def _note(self, peer: Peer, message: Message) -> None:
        if message.kind == HELLO:
            if len(self._agents) == self._spread.nodes:
                return  # one too many, which is never asked to do anything
            if peer.rank in self._agents:
                raise NodeError(
                    f"Two nodes say that they are node {peer.rank}; give each its own --node-rank."
                )
            self._agents[peer.rank] = peer
        elif message.kind == GONE:
            self._lost.add(peer.rank)
        elif message.kind == "exited":
            exited = message.read(RunExited)
            if exited.run in self._runs:
                self._runs[exited.run].exits[peer.rank] = exited
        elif message.kind == "ended":
            run = message.read(OfRun).run
            if run in self._runs:
                self._runs[run].ended.add(peer.rank)


_HOW_TO_JOIN: Final = {
    TORCHRUN: "start the same command there, with its own --node-rank",
    SLURM: "give a folder that all nodes share with --shared",
}


class OnNodes:
    """The processes of one run on all machines.

    They are not stopped between their turns: a rank waits inside a hook anyway, and to stop a
    machine's processes while another's continue ends connections.
    """

    def __init__(self, nodes: Nodes, run: int) -> None:
        self._nodes = nodes
        self._run = run

    @property
    def exit_code(self) -> int | None:
        """Of the node that failed first, or 0 if all have ended; None while it runs."""
        exits = self._nodes.exits(self._run)
        failed = [each.code for each in exits.values() if each.code]
        if failed or self._nodes.lost():
            return failed[0] if failed else 1
        return 0 if len(exits) == len(self._nodes.names) else None

    def exit_on(self, node: str) -> Exit | None:
        """Of one node, or of the first that failed if this one has not ended."""
        named = [
            Exit(found.code, self._nodes.names[number], found.tail)
            for number, found in self._nodes.exits(self._run).items()
        ]
        wanted = [each for each in named if each.node == node]
        return next(iter([*wanted, *(each for each in named if each.code)]), None)

    def trouble(self, name: str) -> Failed | None:
        """A node that is gone, or could not start the run.

        Args:
            name: of the run.
        """
        for node, found in self._nodes.exits(self._run).items():
            if found.why:
                where = self._nodes.names[node]
                return Failed(
                    ERROR,
                    f"{where} could not start the script: {found.why}; all nodes need the same "
                    "folders at the same paths.",
                    name=name,
                    kind="node",
                )
        lost = self._nodes.lost()
        return Failed(CRASHED, f"{lost}.", name=name, kind="node") if lost else None

    def look(self) -> set[psutil.Process]:
        """None that this machine could look at."""
        return set()

    def freeze(self) -> None:
        """Ranks wait for their turn by themselves."""

    def thaw(self) -> None:
        """Nothing was stopped."""

    def end(self) -> None:
        """End them all."""
        self._nodes.end(self._run)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Machines of one name (two agents on one machine) get their number as well."""
    many = Counter(names)
    return tuple(
        f"{name} (node {node})" if many[name] > 1 else name for node, name in enumerate(names)
    )


def _numbered(nodes: list[int]) -> str:
    return f"Node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def _because(tail: str) -> str:
    """The last thing that the agents' launcher has said, in brackets."""
    lines = tail.strip().splitlines()
    return f" ({lines[-1].strip().rstrip('.')})" if lines else ""


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("", 0))
        port = trial.getsockname()[1]
        assert isinstance(port, int)
        return port

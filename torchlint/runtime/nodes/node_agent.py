"""What runs on each machine: starts and ends processes as the parent asks, and nothing else.

If the parent goes, or this process is asked to end, all that it has started is ended and its
folder removed, as at the end of every `Workspace`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys

if __name__ == "__main__":
    # Not this folder, which Python put first, but the one that this copy of torchlint is in.
    sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))

import json
import select
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime import probe
from torchlint.runtime.channel import HELLO
from torchlint.runtime.decoding import decode
from torchlint.runtime.failures import tail_of
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.nodes.meeting import Meeting, NodeError, find
from torchlint.runtime.nodes.orders import OfRun, RunExited, StartRun
from torchlint.runtime.probe.link import TCP, connect
from torchlint.runtime.probe.messages import Hello
from torchlint.runtime.probe.run_settings import from_values, write
from torchlint.runtime.run_variables import variables
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox.fenced import fenced
from torchlint.runtime.sandbox.shared_memory import sweep
from torchlint.runtime.temporary_folders import remove
from torchlint.runtime.workspace import Workspace
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.runtime.decoding import Message
    from torchlint.runtime.processes.process_tree import ProcessTree

_PROBE: Final = os.path.join(os.path.dirname(os.path.abspath(probe.__file__)), "__main__.py")
_TICK_S: Final = 0.2
_ANSWER_S: Final = 5.0
"""For a machine to let us connect."""
_LONGEST_LINE: Final = 1 << 26


def name_of_this_machine() -> str:
    """As Slurm calls it, or else as it calls itself."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def serve(path: str, node: int, *, wait_s: float, joined: Callable[[Meeting], None]) -> None:
    """Join the parent that the file names, and do what it asks until it lets go.

    Args:
        path: of the file, in a folder that all machines share.
        node: number of this machine, from 0.
        wait_s: for the parent to appear.
        joined: called when it has.

    Raises:
        NodeError: there is no parent.
    """
    meeting, wire = find(path, wait_s, _join)
    if not 0 <= node < meeting.nodes:
        wire.close()
        raise NodeError(
            f"Node 0 expects {meeting.nodes} nodes, so there is no node {node}; give the same "
            "--nnodes everywhere, and numbers from 0 with --node-rank."
        )
    joined(meeting)
    with wire, Workspace() as workspace:
        _Agent(wire, workspace, meeting, node).work()


def _join(meeting: Meeting) -> socket.socket | None:
    for host in meeting.hosts:
        with suppress(OSError):
            socket.create_connection((host, meeting.port), timeout=_ANSWER_S).close()
            return connect(f"{TCP}{host}:{meeting.port}")
    return None


@dataclass(slots=True)
class _Started:
    """The processes of one run on this machine."""

    tree: ProcessTree
    folder: str
    temporary: str
    said: bool = False


class _Agent:
    def __init__(
        self, wire: socket.socket, workspace: Workspace, meeting: Meeting, node: int
    ) -> None:
        self._wire = wire
        self._workspace = workspace
        self._node = node
        # As this machine reaches the first one.
        self._host = str(wire.getpeername()[0])
        self._token = meeting.token
        self._runs: dict[int, _Started] = {}

    def work(self) -> None:
        """Until the parent hangs up."""
        self._say(
            HELLO,
            Hello(
                token=self._token,
                node=name_of_this_machine(),
                pid=os.getpid(),
                rank=self._node,
                processors=processors(),
            ),
        )
        for message in self._messages():
            if message.kind == "start":
                self._start(message.read(StartRun))
            elif message.kind == "end":
                self._end(message.read(OfRun).run)
            elif message.kind == "leave":
                return

    def _messages(self) -> Iterator[Message]:
        """What the parent says; in between, what has ended here is told."""
        begun = b""
        while True:
            ready = select.select([self._wire], [], [], _TICK_S)[0]
            self._tell()
            self._workspace.tend()
            if not ready:
                continue
            try:
                chunk = self._wire.recv(1 << 16)
            except OSError:
                return
            if not chunk or len(begun) > _LONGEST_LINE:
                return
            *lines, begun = (begun + chunk).split(b"\n")
            yield from map(decode, lines)

    def _tell(self) -> None:
        for run, started in self._runs.items():
            code = started.tree.exit_code
            if code is not None and not started.said:
                started.said = True
                self._exited(run, code, tail_of(os.path.join(started.folder, "stderr")))

    def _exited(self, run: int, code: int, tail: str = "", why: str = "") -> None:
        self._say("exited", RunExited(run, code, tail, why))

    def _start(self, order: StartRun) -> None:
        try:
            self._runs[order.run] = self._begin(order)
        except OSError as error:
            self._exited(order.run, 1, why=str(error))

    def _begin(self, order: StartRun) -> _Started:
        folder, temporary = self._workspace.folder("run"), self._workspace.temporary()
        address = f"{TCP}{self._host}:{order.port}"
        settings = replace(
            from_values(order.settings), socket=address, local=folder, fenced=not fence.why_not()
        )
        for path in (settings.project, settings.scratch):
            if not os.path.isdir(path):
                raise NotADirectoryError(f"there is no folder {path}")
        mark = os.path.join(folder, "settings.json")
        write(settings, mark)
        launcher = Torchrun(order.on_a_node, order.nodes)
        command = launcher.command_on(self._node, self._host, order.master_port, [_PROBE, mark])

        variables_of_it = variables(settings, mark, temporary, order.environment)
        command = fenced(command, settings, variables_of_it)

        def begin() -> subprocess.Popen[bytes]:
            with (
                open(order.stdin or os.devnull, "rb") as stdin,
                open(os.path.join(folder, "stdout"), "wb") as stdout,
                open(os.path.join(folder, "stderr"), "wb") as stderr,
            ):
                return subprocess.Popen(  # noqa: S603 - running the user's program is asked for
                    command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=order.cwd or None,
                    env=variables_of_it,
                    start_new_session=True,
                )

        return _Started(self._workspace.start(begin, mark), folder, temporary)

    def _end(self, run: int) -> None:
        started = self._runs.pop(run, None)
        if started is not None:
            self._workspace.end(started.tree)
            remove(started.temporary)
            sweep(started.folder)
            remove(started.folder)
        self._say("ended", OfRun(run))

    def _say(self, word: str, message: Hello | RunExited | OfRun) -> None:
        with suppress(OSError):  # the parent is gone, which the next message tells
            self._wire.sendall(json.dumps({"type": word, **asdict(message)}).encode() + b"\n")


def main(path: str) -> int:
    """Serve as the node that Slurm says this is."""
    try:
        serve(path, int(os.environ.get("SLURM_NODEID", "0")), wait_s=60.0, joined=lambda _: None)
    except NodeError as error:
        sys.stderr.write(f"{name_of_this_machine()}: {error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

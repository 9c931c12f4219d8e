"""The connection to the parent: a Unix socket, or TCP to another machine; one JSON object per line
in each direction."""

from __future__ import annotations

import json
import os
import platform
import sys
import threading
from dataclasses import fields
from socket import (  # bound before a script can replace them
    AF_UNIX,
    IPPROTO_TCP,
    SO_KEEPALIVE,
    SOCK_STREAM,
    SOL_SOCKET,
    TCP_NODELAY,
    getaddrinfo,
    socket,
)
from typing import TYPE_CHECKING, NoReturn

from torchlint.runtime.probe.messages import Hello

if TYPE_CHECKING:
    from io import BufferedReader

    from torchlint.runtime.probe.run_settings import RunSettings

TCP = "tcp:"
"""Begins the address of a parent on another machine."""

ORPHANED = 70
"""Exit code of a process whose parent is gone."""


class Link:
    """Connects when it is first used; a process that was forked gets a connection of its own.

    If the parent dies, the process ends at once: nothing is left to stop it, and an exception in
    the script's frames would run its `finally:` blocks.

    Args:
        settings: name the parent's socket, and the device: `cpu` hides an accelerator from `hello`.
        role: `main` for the process that the parent started, `child` for those the script starts.
    """

    def __init__(self, settings: RunSettings, role: str = "main") -> None:
        self.role = role
        self._settings = settings
        self._forget()
        os.register_at_fork(after_in_child=self._after_fork)

    def _forget(self) -> None:
        # Another thread may have held the lock at the moment of a fork.
        self._lock = threading.RLock()
        self._socket: socket | None = None
        self._reader: BufferedReader | None = None

    def _after_fork(self) -> None:
        # The copy must not keep the connection open: its end tells the parent of a death.
        inherited = self._socket
        self._forget()
        self.role = "child"
        if inherited is not None:
            os.close(inherited.detach())

    def hello(self) -> None:
        """Introduce this process to the parent and wait until it says start; once per process."""
        with self._lock:
            if self._socket is not None:
                return
            try:
                self._connect()
            except OSError:
                os._exit(ORPHANED)
            self.send("hello", self._introduction())
            self.receive()

    def send(self, word: str, message: object = None) -> None:
        """Send the parent a message.

        Args:
            word: its type.
            message: a dataclass of `probe.messages`.
        """
        line = json.dumps({"type": word, **_plain(message)}, default=_plain).encode() + b"\n"
        with self._lock:
            self.hello()
            assert self._socket is not None
            try:
                self._socket.sendall(line)
            except OSError:
                os._exit(ORPHANED)

    def receive(self) -> dict[str, object]:
        """The parent's next message; blocks until there is one."""
        with self._lock:
            self.hello()
            assert self._reader is not None
            try:
                line = self._reader.readline()
            except OSError:
                line = b""
            if not line.endswith(b"\n"):
                os._exit(ORPHANED)
            message: dict[str, object] = json.loads(line)
            return message

    def ask(self, word: str, message: object = None) -> dict[str, object]:
        """Send the parent a message and wait for the answer, with no other thread in between."""
        with self._lock:
            self.send(word, message)
            return self.receive()

    def wait_to_be_killed(self) -> NoReturn:
        """Block until the parent ends this process, by a signal or by its own death."""
        while True:
            self.receive()

    def _connect(self) -> None:
        wire = connect(self._settings.socket)
        self._socket, self._reader = wire, wire.makefile("rb")

    def _introduction(self) -> Hello:
        torch = sys.modules.get("torch")
        rank, world = _place()
        return Hello(
            self._settings.token,
            self._settings.node,
            os.getpid(),
            rank,
            world,
            self.role,
            str(getattr(torch, "__version__", "")),
            platform.python_version(),
            _device(self._settings.device),
        )


def _plain(message: object) -> dict[str, object]:
    """The fields of a dataclass; none of None."""
    if message is None:
        return {}
    return {each.name: getattr(message, each.name) for each in fields(message)}  # type: ignore[arg-type]


def connect(address: str) -> socket:
    """A connection to the parent, which waits without a limit.

    Args:
        address: the path of a Unix socket, or `tcp:HOST:PORT`.

    Raises:
        OSError: there is none.
    """
    if not address.startswith(TCP):
        wire = socket(AF_UNIX, SOCK_STREAM)
        # A script may set another default (`socket.setdefaulttimeout`).
        wire.settimeout(None)
        wire.connect(address)
        return wire
    host, _, port = address.removeprefix(TCP).rpartition(":")
    family, kind, _, _, where = getaddrinfo(host, int(port), type=SOCK_STREAM)[0]
    wire = socket(family, kind)
    wire.settimeout(None)
    wire.connect(where)
    wire.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    wire.setsockopt(SOL_SOCKET, SO_KEEPALIVE, 1)
    return wire


def _place() -> tuple[int, int]:
    """Rank and size of the process group; before there is one, what the launcher says.

    `mp.spawn` says nothing in the environment of its children.
    """
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return _number("RANK", 0), _number("WORLD_SIZE", 1)


def _number(variable: str, default: int) -> int:
    try:
        return int(os.environ[variable])
    except (KeyError, ValueError):
        return default


def _device(wanted: str) -> str:
    """`cuda` if torch could use an accelerator, without initializing its driver.

    A driver that is initialized cannot be used by workers that the script forks; torch asks NVML
    instead where this variable is set (`torch.cuda.is_available`).
    """
    torch = sys.modules.get("torch")
    if torch is None or wanted == "cpu":
        return "cpu"
    variable = "PYTORCH_NVML_BASED_CUDA_CHECK"
    before = os.environ.get(variable)
    os.environ[variable] = "1"
    try:
        return "cuda" if torch.cuda.is_available() else "cpu"
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before

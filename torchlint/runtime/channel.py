"""The parent's end of the socket that the processes of one run talk through.

Lines of JSON, in both directions. A run has one connection for each of its processes that takes
steps: the script itself, torchrun's ranks, or children that the script started. Where they run on
several machines, the socket is TCP's, and a sender that does not know its token is ignored.
"""

from __future__ import annotations

import hmac
import json
import selectors
import socket
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from torchlint.runtime.decoding import MalformedError, Message, decode
from torchlint.runtime.probe.messages import Hello

HELLO: Final = "hello"
GONE: Final = "gone"
"""Type of the message that means a closed connection."""

_CHUNK: Final = 1 << 18
_LONGEST_LINE: Final = 1 << 28
_LONGEST_GREETING: Final = 1 << 12
"""Over TCP, anybody can send one."""
_MOST_READING_S: Final = 1.0
"""Past the time to wait, of what keeps coming without a message in it."""
_IDLE_S, _EVERY_S, _TIMES = 30, 10, 3
"""When a machine that says nothing is asked whether it is there, how often and how many times."""


@dataclass(slots=True, eq=False)
class Peer:
    """One connected process; what it is becomes known with its `hello`."""

    connection: socket.socket
    greeting: Hello | None = None
    gone: bool = False
    started: bool = False
    ended: bool = False
    buffer: bytearray = field(default_factory=bytearray)

    @property
    def hello(self) -> Hello:
        """What the process says about itself."""
        assert self.greeting is not None
        return self.greeting

    @property
    def main(self) -> bool:
        """The parent started it."""
        return self.greeting is not None and self.greeting.role == "main"

    @property
    def rank(self) -> int:
        return self.hello.rank


class Channel:
    """Listens, and reads every process that connects. No call waits past its limit.

    Args:
        path: of a new Unix socket; empty: listen to all networks, at a port that is free.
        token: what a process has to know to be heard over a network.
    """

    def __init__(self, path: str, token: str = "") -> None:
        self.peers: list[Peer] = []
        self._token = token
        self._arrived: deque[tuple[Peer, Message]] = deque()
        self._selector = selectors.DefaultSelector()
        self._listener = _listen(path)
        try:
            self._listener.setblocking(False)
            self._selector.register(self._listener, selectors.EVENT_READ)
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Of the network that it listens to."""
        port = self._listener.getsockname()[1]
        assert isinstance(port, int)
        return port

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for peer in self.peers:
            peer.connection.close()
        self._listener.close()
        self._selector.close()

    def receive(self, wait_s: float) -> tuple[Peer, Message] | None:
        """The next message of any process, or None if none comes within `wait_s` seconds.

        A process that hangs up says so by a last message of the type GONE.

        Raises:
            MalformedError: something came that is not a message.
        """
        deadline = time.monotonic() + wait_s
        while not self._arrived:
            left = deadline - time.monotonic()
            ready = self._selector.select(max(0.0, left))
            for key, _ in ready:
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._read(key.data)
            if left <= (-_MOST_READING_S if ready else 0.0) and not self._arrived:
                return None
        return self._arrived.popleft()

    def send(self, peer: Peer, word: str, **values: object) -> None:
        """Send one process a message. One that has gone is skipped: GONE reports it."""
        line = json.dumps({"type": word, **values}).encode() + b"\n"
        with suppress(OSError):
            peer.connection.setblocking(True)
            peer.connection.settimeout(5.0)
            peer.connection.sendall(line)
        with suppress(OSError):
            peer.connection.setblocking(False)

    def start(self, peer: Peer) -> None:
        """Let a process that has said hello continue, once."""
        if not peer.started:
            peer.started = True
            self.send(peer, "start")

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            raise MalformedError(f"too many connections: {error.strerror}") from error
        connection.setblocking(False)
        if self._token:
            _keep_asking(connection)
        peer = Peer(connection)
        self.peers.append(peer)
        self._selector.register(connection, selectors.EVENT_READ, peer)

    def _read(self, peer: Peer) -> None:
        try:
            chunk = peer.connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._drop(peer)
            if peer.greeting is not None:
                self._arrived.append((peer, Message(GONE, {})))
            return
        searched = len(peer.buffer)
        peer.buffer += chunk
        if self._token and peer.greeting is None and self._is_a_stranger(peer.buffer):
            self._drop(peer)
            return
        while (end := peer.buffer.find(b"\n", searched)) >= 0:
            line = bytes(peer.buffer[:end])
            del peer.buffer[: end + 1]
            searched = 0
            self._take(peer, decode(line))
        if len(peer.buffer) > _LONGEST_LINE:
            raise MalformedError("a line without an end")

    def _drop(self, peer: Peer) -> None:
        self._selector.unregister(peer.connection)
        peer.connection.close()
        peer.gone = True
        if peer.greeting is None:
            self.peers.remove(peer)

    def _is_a_stranger(self, begun: bytearray) -> bool:
        """Whether what came first cannot be the greeting of a process that knows the token."""
        line, end, _ = bytes(begun).partition(b"\n")
        if not end:
            return len(line) > _LONGEST_GREETING
        try:
            message = decode(line)
            token = message.read(Hello).token
        except MalformedError:
            return True
        return message.kind != HELLO or not hmac.compare_digest(
            token.encode(), self._token.encode()
        )

    def _take(self, peer: Peer, message: Message) -> None:
        if peer.greeting is None:
            if message.kind != HELLO:
                raise MalformedError(f"{message.kind} came before hello")
            peer.greeting = message.read(Hello)
            if not peer.main:
                self.start(peer)
        self._arrived.append((peer, message))


def _listen(path: str) -> socket.socket:
    if path:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(path)
            listener.listen(128)
        except BaseException:
            listener.close()
            raise
        return listener
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    return socket.create_server(("", 0), family=family, backlog=128, dualstack_ipv6=both)


def _keep_asking(connection: socket.socket) -> None:
    """A machine that loses its power hangs nothing up."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _IDLE_S),
        ("TCP_KEEPINTVL", _EVERY_S),
        ("TCP_KEEPCNT", _TIMES),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

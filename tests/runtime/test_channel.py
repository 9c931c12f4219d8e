"""The parent's end of the socket."""

from __future__ import annotations

import errno
import json
import shutil
import socket
import tempfile
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime import channel as channels
from torchlint.runtime.channel import GONE, Channel
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.probe.messages import Hello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Call = Callable[[], "Caller"]

HELLO = {"type": "hello", "pid": 7, "rank": 1, "world": 2, "role": "main"}
CHILD = {**HELLO, "role": "child"}


class Caller:
    """A process that calls, as far as the channel can tell."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(600)
        self.socket.connect(path)

    def say(self, message: object) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def told(self) -> list[object]:
        """Everything that has been sent to it until now."""
        self.socket.setblocking(False)
        try:
            return [json.loads(line) for line in self.socket.recv(1 << 16).splitlines()]
        except BlockingIOError:
            return []


@pytest.fixture
def path() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="t")
    yield str(Path(folder, "s"))
    shutil.rmtree(folder)


@pytest.fixture
def channel(path: str) -> Iterator[Channel]:
    with Channel(path) as made:
        yield made


@pytest.fixture
def call(channel: Channel, path: str) -> Iterator[Call]:
    made: list[Caller] = []

    def connect() -> Caller:
        made.append(Caller(path))
        return made[-1]

    yield connect
    for caller in made:
        caller.socket.close()


def heard(channel: Channel) -> list[tuple[int, str]]:
    """Position of the peer and type of every message until now."""
    found = []
    while (message := channel.receive(0)) is not None:
        found.append((channel.peers.index(message[0]), message[1].kind))
    return found


def test_every_connection_is_heard(channel: Channel, call: Call) -> None:
    first, second = call(), call()
    second.say(HELLO)
    assert heard(channel) == [(1, "hello")]
    first.say(HELLO)
    second.say({"type": "ready"})
    assert sorted(heard(channel)) == [(0, "hello"), (1, "ready")]


def test_what_a_process_says_about_itself_is_kept(channel: Channel, call: Call) -> None:
    call().say({"type": "hello", "pid": 7, "rank": 1, "world": 2, "role": "child", "torch": "2.1"})
    peer, _ = channel.receive(5)
    assert peer.hello == Hello(pid=7, rank=1, world=2, role="child", torch="2.1")
    assert (peer.rank, peer.main) == (1, False)


def test_lines_arrive_whole_however_they_were_cut(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(HELLO)
    line = b'{"type": "record", "text": "' + "ä".encode() * 300_000 + b'"}\n{"type": "re'
    sent = 0
    found = []
    caller.socket.setblocking(False)
    while sent < len(line):
        try:
            sent += caller.socket.send(line[sent : sent + 99_991])
        except BlockingIOError:
            found += heard(channel)
    found += heard(channel)
    assert found == [(0, "hello"), (0, "record")]
    caller.raw(b'ady"}\n')
    assert heard(channel) == [(0, "ready")]


def test_a_line_may_end_together_with_the_next(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(HELLO)
    caller.raw(b'{"type": "block", "text": "' + b"x" * 1000)
    assert heard(channel) == [(0, "hello")]
    caller.raw(b'"}\n{"type": "ready"}\n')
    assert heard(channel) == [(0, "block"), (0, "ready")]


def test_a_main_process_waits_until_it_is_started(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(HELLO)
    peer, _ = channel.receive(5)
    assert caller.told() == []
    channel.start(peer)
    channel.start(peer)
    assert caller.told() == [{"type": "start"}]


def test_a_child_of_the_script_starts_at_once(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(CHILD)
    heard(channel)
    assert caller.told() == [{"type": "start"}]


def test_nothing_is_heard_for_as_long_as_wanted(channel: Channel, call: Call) -> None:
    call().say(HELLO)
    heard(channel)
    assert channel.receive(0.01) is None


def test_a_closed_connection_is_a_last_message(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(HELLO)
    caller.say({"type": "ended"})
    caller.socket.close()
    assert heard(channel) == [(0, "hello"), (0, "ended"), (0, GONE)]
    assert channel.peers[0].gone


def test_a_client_that_leaves_without_a_word_is_ignored(channel: Channel, call: Call) -> None:
    call().socket.close()
    assert heard(channel) == []
    assert channel.peers == []


def test_what_never_becomes_a_message_holds_nobody_up(
    channel: Channel, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deadline is looked at between two messages."""
    call().raw(b"x")
    heard(channel)
    call().raw(b"y")
    monkeypatch.setattr(channel, "_read", lambda _peer: None)  # so there is always more
    seconds = count(0.0, 0.25)
    monkeypatch.setattr(channels, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    assert channel.receive(0.5) is None


def test_more_connections_than_there_can_be_are_refused(
    channel: Channel, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def accept() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(channel._listener.__class__, "accept", lambda _self: accept())
    call()
    with pytest.raises(MalformedError, match="Too many open files"):
        heard(channel)


def test_speaking_to_one_that_has_gone_is_not_an_error(channel: Channel, call: Call) -> None:
    caller = call()
    caller.say(HELLO)
    heard(channel)
    caller.socket.close()
    channel.send(channel.peers[0], "turn", settle=1, steps=2)
    assert heard(channel) == [(0, GONE)]
    channel.send(channel.peers[0], "turn", settle=1, steps=2)


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"\n",
        b'{"type": "ready", "pid": 7}\n',  # before hello
        b'{"type": "hello", "pid": "7"}\n',
        b'{"type": "hello", "pid": 7, "rank": 1.5}\n',
    ],
)
def test_what_is_not_a_message_is_refused(channel: Channel, call: Call, line: bytes) -> None:
    call().raw(line)
    with pytest.raises(MalformedError):
        channel.receive(5)


def test_a_line_without_an_end_is_refused(
    channel: Channel, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "_LONGEST_LINE", 1000)
    caller = call()
    caller.say(HELLO)
    heard(channel)
    caller.raw(b"x" * 900)
    assert heard(channel) == []
    caller.raw(b"x" * 900)
    with pytest.raises(MalformedError, match="without an end"):
        heard(channel)


def test_a_path_too_long_for_a_socket_leaves_nothing_open() -> None:
    with pytest.raises(OSError, match="too long"):
        Channel("/tmp/" + "x" * 200)


# over a network -----------------------------------------------------------------------------


class Networked(Caller):
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=600)


def test_over_a_network_only_who_knows_the_token_is_heard() -> None:
    with Channel("", "secret") as channel:
        callers = [Networked(channel.port) for _ in range(6)]
        callers[0].say(HELLO)
        callers[1].say({**HELLO, "token": "wrong"})
        callers[2].say({"type": "ready", "token": "secret"})
        callers[3].raw(b"GET / HTTP/1.1\r\n\r\n")
        callers[4].raw(b"x" * 5000)
        callers[5].say({**HELLO, "token": "secret", "node": "node2"})
        callers[5].say({"type": "ready"})
        found = []
        while len(found) < 2:
            peer, message = channel.receive(10)  # type: ignore[misc]
            found.append((message.kind, peer.hello.node))
        assert found == [("hello", "node2"), ("ready", "node2")]
        assert heard(channel) == []
        for stranger in callers[:5]:
            assert stranger.socket.recv(1) == b""  # it was hung up on
        for caller in callers:
            caller.socket.close()

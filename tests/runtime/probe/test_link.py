"""The wire to the parent: who speaks on it, and what happens when nobody listens."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.messages import Hello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PRELUDE = """
import os, sys, threading
from torchlint.runtime.probe.link import Link
from torchlint.runtime.probe.messages import Ended, Hello, Raised
from torchlint.runtime.probe.run_settings import RunSettings
link = Link(RunSettings(main="", project="", socket=sys.argv[1], device="cpu"))
"""


class Wire:
    """One connection of the parent's."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self._lines = wire.makefile("rb")

    def read(self) -> dict[str, Any]:
        line = self._lines.readline()
        return json.loads(line) if line else {"type": "the end"}

    def say(self, **message: object) -> None:
        self._wire.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        self._lines.close()
        self._wire.close()


class Side:
    """Starts programs that hold a link, and is the parent that they talk to."""

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "s")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self._path)
        self.listener.listen()
        self.listener.settimeout(600)
        self.programs: list[subprocess.Popen[str]] = []
        self.wires: list[Wire] = []

    def start(self, program: str, **env: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + program, self._path],
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.programs.append(child)
        return child

    def accept(self) -> Wire:
        accepted, _ = self.listener.accept()
        accepted.settimeout(600)
        wire = Wire(accepted)
        self.wires.append(wire)
        return wire

    def close(self) -> None:
        for wire in self.wires:
            wire.close()
        self.listener.close()
        for child in self.programs:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            assert child.stdout is not None
            child.stdout.close()


@pytest.fixture
def side(scratches: Callable[[], Path]) -> Iterator[Side]:
    side = Side(scratches())
    yield side
    side.close()


def test_the_first_word_says_who_speaks(side: Side) -> None:
    child = side.start("link.hello()", RANK="1", WORLD_SIZE="2")
    hello = side.accept().read()
    python = sys.version.split()[0]
    expected = Hello(pid=child.pid, rank=1, world=2, python=python, device="cpu")
    assert hello == {"type": "hello", **asdict(expected)}


def test_a_process_that_is_not_a_rank_is_rank_zero_of_one(side: Side) -> None:
    side.start("link.hello()", RANK="", WORLD_SIZE="many")
    hello = side.accept().read()
    assert (hello["rank"], hello["world"]) == (0, 1)


def test_a_process_group_knows_the_rank_better_than_the_environment(side: Side) -> None:
    program = """
import types
sys.modules["torch"] = types.SimpleNamespace(distributed=types.SimpleNamespace(
    is_available=lambda: True, is_initialized=lambda: True,
    get_rank=lambda: 2, get_world_size=lambda: 3))
link.hello()
"""
    side.start(program, RANK="0", WORLD_SIZE="1")
    hello = side.accept().read()
    assert (hello["rank"], hello["world"]) == (2, 3)


def test_nothing_happens_before_the_parent_says_start(side: Side) -> None:
    child = side.start("link.hello(); print('started', flush=True); link.send('x')")
    wire = side.accept()
    assert wire.read()["type"] == "hello"
    wire.say(type="start")
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    assert wire.read() == {"type": "x"}


def test_the_first_message_introduces_by_itself(side: Side) -> None:
    side.start("assert not link._socket; link.send('x'); link.send('y')")
    wire = side.accept()
    assert wire.read()["type"] == "hello"
    wire.say(type="start")
    assert [wire.read()["type"] for _ in range(3)] == ["x", "y", "the end"]


def test_an_answer_comes_back_whole(side: Side) -> None:
    child = side.start("print(len(link.ask('ready')['text']), flush=True)")
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    assert wire.read() == {"type": "ready"}
    wire.say(type="turn", text="x" * 1_000_000)
    assert child.communicate()[0] == "1000000\n"


@pytest.mark.parametrize("how", ["link.wait_to_be_killed()", "link.receive()", "link.ask('ready')"])
def test_a_dead_parent_ends_the_process_at_once(side: Side, how: str) -> None:
    child = side.start(
        f"""
import atexit
atexit.register(print, "atexit")
link.hello()
try:
    {how}
finally:
    print("finally")
"""
    )
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    if "ask" in how:
        wire.read()
    wire.close()
    assert child.communicate(timeout=600)[0] == ""
    assert child.returncode == 70


def test_a_script_that_sets_timeouts_does_not_set_them_for_the_parent(side: Side) -> None:
    child = side.start(
        """
import socket
socket.setdefaulttimeout(0.001)
socket.socket = None
link.hello()
print("started", flush=True)
"""
    )
    wire = side.accept()
    wire.read()
    # Longer than the script's timeout; the parent has all the time it wants.
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.2)
    wire.say(type="start")
    assert child.communicate()[0] == "started\n"


def test_a_parent_that_is_gone_from_the_start_ends_the_process(side: Side) -> None:
    side.listener.close()
    child = side.start("link.hello(); print('on')")
    assert child.communicate(timeout=600)[0] == ""
    assert child.returncode == 70


def test_sending_into_the_void_ends_the_process(side: Side) -> None:
    child = side.start(
        """
link.hello()
while True:
    link.send("x", Raised(text="x" * 100000))
"""
    )
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    wire.close()
    child.communicate(timeout=600)
    assert child.returncode == 70


FORK = """
link.hello()
pid = os.fork()
if pid == 0:
    assert not link._socket
    link.send("child", Hello(role=link.role))
    os._exit(0)
print(pid, flush=True)
{}
"""


def test_a_forked_child_speaks_on_a_line_of_its_own(side: Side) -> None:
    child = side.start(FORK.format("link.wait_to_be_killed()"))
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    other = side.accept()
    hello = other.read()
    assert child.stdout is not None
    assert (hello["type"], hello["role"], hello["pid"]) == (
        "hello",
        "child",
        int(child.stdout.readline()),
    )
    other.say(type="start")
    assert other.read()["role"] == "child"


def test_a_forked_child_does_not_hide_the_death_of_its_parent(side: Side) -> None:
    side.start(FORK.format("os._exit(0)"))
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    # The child is alive: it waits for a start that does not come.
    side.accept()
    assert wire.read() == {"type": "the end"}


def test_a_fork_while_another_thread_waits_does_not_block_the_child(side: Side) -> None:
    side.start(
        """
link.hello()
threading.Thread(target=link.receive, daemon=True).start()
while link._lock.acquire(blocking=False):  # until the other thread has it
    link._lock.release()
pid = os.fork()
if pid == 0:
    link.send("child")
os._exit(0)
"""
    )
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    other = side.accept()
    assert other.read()["role"] == "child"


def test_answers_go_to_the_thread_that_asked(side: Side) -> None:
    child = side.start(
        """
def ask(number):
    for _ in range(50):
        assert link.ask("ready", Ended(code=number))["code"] == number
threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("in order")
"""
    )
    wire = side.accept()
    wire.read()
    wire.say(type="start")
    for _ in range(200):
        wire.say(code=wire.read()["code"])
    assert child.communicate()[0] == "in order\n"

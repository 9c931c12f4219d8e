"""Signals that ask for an end."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.processes import interrupts as module
from torchlint.runtime.processes.interrupts import Interrupts
from torchlint.runtime.processes.process_tree import ProcessTree
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify needs POSIX")

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """The handlers of a program of its own, not those of whatever runs the tests."""
    before = {number: signal.getsignal(number) for number in ALL}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def arrived() -> list[bool]:
    return []


@pytest.fixture
def interrupts(arrived: list[bool]) -> Iterator[Interrupts]:
    made = Interrupts(lambda: arrived.append(True))
    made.install()
    yield made
    made.begin_closing()
    made.restore()


def test_ctrl_c_is_an_exception(interrupts: Interrupts, arrived: list[bool]) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert arrived == [True]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_an_exception_with_the_usual_code(
    interrupts: Interrupts, number: int
) -> None:
    with pytest.raises(SystemExit) as raised:
        signal.raise_signal(number)
    assert raised.value.code == 128 + number


def test_a_second_ctrl_c_does_not_break_into_the_first(interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)


def test_ctrl_c_works_again_when_the_first_was_swallowed(
    interrupts: Interrupts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SAME_WISH_S", -1.0)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_nothing_interrupts_what_is_held_together(
    interrupts: Interrupts, arrived: list[bool]
) -> None:
    reached = []

    def hold() -> None:
        with interrupts.held():
            signal.raise_signal(signal.SIGINT)
            reached.append(True)

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert reached == arrived == [True]


def test_holding_twice_holds_to_the_outer_end(interrupts: Interrupts) -> None:
    reached = []

    def hold() -> None:
        with interrupts.held():
            with interrupts.held():
                signal.raise_signal(signal.SIGINT)
            reached.append(True)

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert reached == [True]


def test_another_thread_holds_nothing_up(interrupts: Interrupts) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with interrupts.held():
            entered.set()
            leave.wait(200)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(200)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    leave.set()
    thread.join()


def test_a_signal_during_the_end_is_delivered_after_it(arrived: list[bool]) -> None:
    interrupts = Interrupts(lambda: arrived.append(True))
    interrupts.install()
    interrupts.begin_closing()
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupts.restore()


def test_a_signal_that_was_answered_is_not_delivered_again(arrived: list[bool]) -> None:
    interrupts = Interrupts(lambda: arrived.append(True))
    interrupts.install()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    interrupts.begin_closing()
    signal.raise_signal(signal.SIGINT)
    interrupts.restore()


def test_the_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in ALL]
    interrupts = Interrupts(list)
    interrupts.install()
    assert all(a != b for a, b in zip(before, map(signal.getsignal, ALL), strict=True))
    interrupts.restore()
    assert [signal.getsignal(number) for number in ALL] == before


def test_what_is_ignored_stays_ignored(arrived: list[bool]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupts = Interrupts(lambda: arrived.append(True))
    interrupts.install()
    signal.raise_signal(signal.SIGHUP)
    assert arrived == []
    interrupts.restore()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_handler_of_the_program_is_called() -> None:
    called = []
    signal.signal(signal.SIGTERM, lambda number, frame: called.append(number))
    interrupts = Interrupts(list)
    interrupts.install()
    signal.raise_signal(signal.SIGTERM)
    interrupts.restore()
    assert called == [signal.SIGTERM]


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = [signal.getsignal(number) for number in ALL]
    interrupts = Interrupts(list)
    thread = threading.Thread(target=interrupts.install)
    thread.start()
    thread.join()
    assert [signal.getsignal(number) for number in ALL] == before


# the workspace ------------------------------------------------------------------------------

MARK = "a mark"
"""Of a run. Without one, all processes of the tests that have none would be the run's."""


def sleeper() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "import time; time.sleep(1000)"]
    return subprocess.Popen(command, start_new_session=True)


def test_a_workspace_ends_in_order_though_ctrl_c_is_pressed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill = ProcessTree.kill_once
    pressed = []

    def impatient(tree: ProcessTree) -> bool:
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return kill(tree)

    monkeypatch.setattr(ProcessTree, "kill_once", impatient)
    with pytest.raises(KeyboardInterrupt), Workspace(str(tmp_path)) as workspace:
        tree = workspace.start(sleeper, MARK)
    assert pressed == [True]
    assert tree.exit_code == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_a_process_starts_leaves_none(tmp_path: Path) -> None:
    trees = []

    def pressed() -> subprocess.Popen[bytes]:
        trees.append(sleeper())
        signal.raise_signal(signal.SIGINT)
        return trees[0]

    with pytest.raises(KeyboardInterrupt), Workspace(str(tmp_path)) as workspace:
        workspace.start(pressed, MARK)
    assert trees[0].returncode == -signal.SIGKILL


def test_ctrl_c_tells_the_other_threads_to_stop(tmp_path: Path) -> None:
    with Workspace(str(tmp_path)) as workspace:
        assert not workspace.stopping
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert workspace.stopping


def test_a_workspace_works_outside_the_main_thread(tmp_path: Path) -> None:
    trees = []

    def work() -> None:
        with Workspace(str(tmp_path)) as workspace:
            trees.append(workspace.start(sleeper, MARK))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert trees[0].exit_code == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []

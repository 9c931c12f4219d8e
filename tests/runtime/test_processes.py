"""The processes of a run, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from torchlint.runtime import temporary_folders as folders
from torchlint.runtime.probe.run_settings import VARIABLE
from torchlint.runtime.processes import process_tree as processes
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.scenes import WaitsUntil
    from torchlint.runtime.processes.process_tree import ProcessTree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify needs POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a subreaper")

PREAMBLE = """
import os, signal, subprocess, sys, time

def note() -> None:
    descriptor = os.open(os.environ.get("PIDS") or sys.argv[1], os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b"%d\\n" % os.getpid())
    os.close(descriptor)

def linger() -> None:
    note()
    while True:
        time.sleep(100)
"""

ALONE = "linger()"
WORKERS = """
for _ in range(2):
    if os.fork() == 0:
        linger()
linger()
"""
OWN_GROUP = """
if os.fork() == 0:
    os.setpgid(0, 0)
    linger()
linger()
"""
OWN_SESSION = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        linger()
    linger()
linger()
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        linger()
    os._exit(0)
os.wait()
linger()
"""
DAEMON_OF_A_DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            linger()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
linger()
"""
WITHOUT_ENVIRONMENT = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pids = os.environ["PIDS"]
        os.execve(sys.executable, [sys.executable, __file__, pids, "daemon"], {})
    os._exit(0)
os.wait()
linger()
"""
STOPPED_WORKER = """
if os.fork() == 0:
    note()
    os.kill(os.getpid(), signal.SIGSTOP)
linger()
"""
DEAF = """
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
    signal.signal(each, signal.SIG_IGN)
if os.fork() == 0:
    linger()
linger()
"""
LEADER_GONE = """
if os.fork() == 0:
    linger()
"""

SHAPES = {
    "alone": (ALONE, 1),
    "workers": (WORKERS, 3),
    "own group": (OWN_GROUP, 2),
    "own session": (OWN_SESSION, 3),
    "daemon": (DAEMON, 2),
    "daemon of a daemon": (DAEMON_OF_A_DAEMON, 2),
    "stopped worker": (STOPPED_WORKER, 2),
    "deaf": (DEAF, 2),
    "leader gone": (LEADER_GONE, 1),
}


class Grove:
    """Starts trees of processes that write themselves down."""

    def __init__(self, folder: str, waits_until: WaitsUntil) -> None:
        self.folder = folder
        self.pids = os.path.join(folder, "pids")
        self._waits_until = waits_until
        open(self.pids, "w").close()

    def plant(self, workspace: Workspace, body: str, grown: int) -> ProcessTree:
        """Start a script, and wait until so many processes linger."""
        script = os.path.join(self.folder, "script.py")
        with open(script, "w") as stream:
            stream.write(PREAMBLE + 'if "daemon" in sys.argv:\n    linger()\n' + dedent(body))
        mark = os.path.join(workspace.folder("run"), "settings.json")
        already = len(self.noted())
        tree = workspace.start(
            lambda: subprocess.Popen(
                [sys.executable, script],
                env={**os.environ, "PIDS": self.pids, VARIABLE: mark},
                start_new_session=True,
            ),
            mark,
        )
        assert self._waits_until(lambda: len(self.noted()) == already + grown)
        return tree

    def noted(self) -> list[int]:
        with open(self.pids) as stream:
            return [int(line) for line in stream]

    def states(self) -> set[str]:
        return {psutil.Process(pid).status() for pid in self.noted()}

    def left(self) -> list[int]:
        """Dead ones that nobody has reaped count too."""
        return [pid for pid in self.noted() if psutil.pid_exists(pid)]


@pytest.fixture
def grove(tmp_path: Path, waits_until: WaitsUntil) -> Iterator[Grove]:
    made = Grove(str(tmp_path), waits_until)
    yield made
    for pid in made.left():
        psutil.Process(pid).kill()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(str(tmp_path)) as made:
        yield made


@linux
@pytest.mark.parametrize(("body", "grown"), SHAPES.values(), ids=SHAPES)
def test_nothing_of_a_run_is_left(
    grove: Grove, workspace: Workspace, body: str, grown: int
) -> None:
    tree = grove.plant(workspace, body, grown)
    workspace.end(tree)
    assert grove.left() == []


@linux
@pytest.mark.parametrize(
    ("body", "grown"), [*SHAPES.values(), (WITHOUT_ENVIRONMENT, 2)], ids=[*SHAPES, "no environment"]
)
def test_nothing_is_left_after_the_workspace(
    grove: Grove, tmp_path: Path, body: str, grown: int
) -> None:
    with Workspace(str(tmp_path)) as workspace:
        grove.plant(workspace, body, grown)
    assert grove.left() == []
    assert not os.path.exists(workspace.root)


@linux
@pytest.mark.parametrize("shape", [each for each in SHAPES if each != "stopped worker"])
def test_freeze_stops_all_and_thaw_lets_them_go_on(
    grove: Grove, workspace: Workspace, waits_until: WaitsUntil, shape: str
) -> None:
    tree = grove.plant(workspace, *SHAPES[shape])
    for _ in range(2):
        tree.freeze()
        assert waits_until(lambda: grove.states() == {psutil.STATUS_STOPPED})
        tree.thaw()
        assert waits_until(lambda: grove.states() == {psutil.STATUS_SLEEPING})


@linux
def test_a_frozen_run_can_be_ended(grove: Grove, workspace: Workspace) -> None:
    tree = grove.plant(workspace, *SHAPES["own session"])
    tree.freeze()
    workspace.end(tree)
    assert grove.left() == []


@linux
@pytest.mark.parametrize("before_each", ["pass", "os.setsid()"], ids=["one group", "new sessions"])
def test_a_process_that_goes_on_in_its_child_again_and_again_is_ended(
    grove: Grove, tmp_path: Path, waits_until: WaitsUntil, before_each: str
) -> None:
    before = processes.children()
    body = f"""
    if os.fork() == 0:
        os.setsid()
        note()
        for _ in range(5000):  # on a busy machine, dead ones could take all numbers of processes
            if os.fork():
                os._exit(0)
            {before_each}
    linger()
    """
    with Workspace(str(tmp_path)) as workspace:
        workspace.end(grove.plant(workspace, body, 2))
        # Nothing is left for the end of the workspace but what nobody has reaped; on a busy machine,
        # what was killed takes a moment to die.
        ours = before | {guard()}
        assert waits_until(
            lambda: all(each.status() == "zombie" for each in processes.children() - ours)
        )
    assert processes.children() == before


def guard() -> psutil.Process:
    """The process that a workspace starts for its own use."""
    for each in processes.children():
        with suppress(psutil.Error):  # what nobody has reaped yet has no words
            if "watchdog.py" in " ".join(each.cmdline()):
                return each
    raise AssertionError("there is none")


@linux
def test_orphans_that_have_ended_are_reaped_while_a_run_goes_on(
    grove: Grove, workspace: Workspace, waits_until: WaitsUntil
) -> None:
    """There are only so many processes, and dead ones count."""
    body = """
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                note()
            os._exit(0)
    for _ in range(5):
        os.wait()
    linger()
    """
    tree = grove.plant(workspace, body, 6)

    def only_the_run_is_left() -> bool:
        workspace.tend()
        return grove.left() == [tree.session]

    assert waits_until(only_the_run_is_left)
    assert tree.exit_code is None


@linux
def test_what_this_process_waits_for_itself_is_not_reaped(workspace: Workspace) -> None:
    code = "import sys; sys.exit(3)"
    tree = workspace.start(lambda: subprocess.Popen([sys.executable, "-c", code]), "a mark")
    own = subprocess.Popen([sys.executable, "-c", code])
    for pid in (tree.session, own.pid):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    workspace.tend()
    assert (tree.exit_code, own.wait()) == (3, 3)


class Chain:
    """A process that is another one each time somebody looks, until it is caught."""

    def __init__(self, caught_after: int) -> None:
        self.generation = 0
        self.killed: list[int] = []
        self._caught_after = caught_after

    def look(self) -> list[int]:
        if self._caught_after in self.killed:
            return []
        self.generation += 1
        return [1, self.generation + 1]

    def kill(self, pid: int, _number: int) -> None:
        self.killed.append(pid)


@pytest.mark.parametrize("caught_after", [2, 50, 10**9])
def test_a_chain_of_processes_is_followed_and_given_up_at_last(
    caught_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain(caught_after)
    monkeypatch.setattr(processes, "adopted", chain.look)
    monkeypatch.setattr(processes.os, "kill", chain.kill)
    monkeypatch.setattr(processes, "reap", list)
    processes.end_adopted(lambda pid: pid != 1)
    last = min(caught_after, processes._GENERATIONS + 1)
    assert chain.killed == list(range(2, last + 1))


def test_groups_that_are_new_each_time_do_not_hold_a_signal_up(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def groups(_processes: object) -> set[int]:
        assert len(asked) < 100
        asked.append(10**9 + len(asked))
        return {asked[-1]}

    tree = workspace.start(sleeper, "a mark")
    monkeypatch.setattr(processes, "_groups", groups)
    monkeypatch.setattr(processes, "_signal_group", lambda *_: None)
    tree.freeze()
    monkeypatch.undo()


def sleeper() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "import time; time.sleep(1000)"]
    return subprocess.Popen(command, start_new_session=True)


def test_runs_that_cannot_be_ended_share_one_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel holds them, and the user's budget is over."""
    now = [0.0]

    class Held:
        def kill_once(self) -> bool:
            return False

    def pause(seconds: float) -> None:
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=pause)
    monkeypatch.setattr(processes, "time", clock)
    assert not processes.end_all([Held(), Held(), Held()])  # type: ignore[list-item]
    assert now[0] == pytest.approx(processes._PATIENCE_S, abs=0.1)


@linux
def test_runs_do_not_touch_one_another(
    grove: Grove, workspace: Workspace, waits_until: WaitsUntil
) -> None:
    first = grove.plant(workspace, *SHAPES["daemon"])
    others = set(grove.noted())
    second = grove.plant(workspace, *SHAPES["daemon"])
    first_pids = {each.pid for each in first.look()}
    assert first_pids == others
    second.freeze()
    assert waits_until(
        lambda: {psutil.Process(each.pid).status() for each in second.look()} == {"stopped"}
    )
    assert {psutil.Process(pid).status() for pid in others} == {"sleeping"}
    workspace.end(second)
    assert set(grove.left()) == others


def test_a_child_in_the_session_of_this_process_is_not_swept_away() -> None:
    before = processes.children()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert processes.sweep(before)
    assert child.poll() is None
    child.communicate(b"\n")
    assert child.returncode == 0


def test_other_children_of_this_process_live_on(grove: Grove, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    before = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    with Workspace(str(tmp_path)) as workspace:
        inside = subprocess.Popen(command, stdin=subprocess.PIPE)
        grove.plant(workspace, *SHAPES["workers"])
    for process in (before, inside):
        assert process.poll() is None
        process.communicate()
        assert process.returncode == 0


@linux
def test_this_process_is_a_subreaper_only_inside(tmp_path: Path) -> None:
    assert processes.set_subreaper(False) is False
    with Workspace(str(tmp_path)):
        assert processes.set_subreaper(True) is True
    assert processes.set_subreaper(False) is False


def test_what_cannot_be_ended_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PATIENCE_S", 0.0)
    assert processes._until_none_is_left(lambda: False) is False


# folders ------------------------------------------------------------------------------------


def test_folders_without_permissions_are_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "work" / "work").mkdir(parents=True)
    (top / "work" / "file").touch()
    (top / "work" / "work").chmod(0)
    (top / "work").chmod(0)
    assert folders.remove(str(top))
    assert not top.exists()


def test_what_a_link_leads_to_is_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    outside.chmod(0o500)
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "link").symlink_to(outside)
    assert folders.remove(str(tmp_path / "top"))
    assert (outside / "file").exists()
    assert outside.stat().st_mode & 0o777 == 0o500


def test_a_folder_is_short_enough_for_a_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 80)
    deep.mkdir()
    folder = folders.create(str(deep))
    try:
        assert len(folder) <= folders._LONGEST
        assert list(deep.iterdir()) == []
    finally:
        folders.remove(folder)


def test_only_this_user_can_enter(tmp_path: Path) -> None:
    folder = folders.create("/tmp")
    try:
        assert os.stat(folder).st_mode & 0o777 == 0o700
    finally:
        folders.remove(folder)


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    with Workspace() as workspace:
        names = ["original", "original", "../../etc", "", "only TL101:a/b.py"]
        made = [workspace.folder(name) for name in names]
        assert len(set(made)) == len(made)
        assert all(os.path.dirname(path) == workspace.root for path in made)
        assert workspace.folders() == tuple(made)
        assert len({workspace.socket() for _ in range(3)}) == 3


def test_a_run_sees_what_changed_last_among_very_many_temporary_files(tmp_path: Path) -> None:
    real, shown = tmp_path / "real", tmp_path / "shown"
    real.mkdir()
    for number in range(520):
        (real / str(number)).touch()
        os.utime(real / str(number), (number, number))
    folders.show(str(real), str(shown))
    assert {each.name for each in shown.iterdir()} == set(map(str, range(20, 520)))
    assert (shown / "519").resolve() == real / "519"

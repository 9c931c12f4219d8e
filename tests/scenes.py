"""What the tests of runtime and verify share: a stand-in for the probe, and a look for what was left."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import psutil
import pytest

from torchlint.runtime import run
from torchlint.runtime.launchers.python import Python
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.probe.run_settings import MEASURE, VARIABLE, Anchor, RunSettings
from torchlint.runtime.run import Job
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    WaitsUntil = Callable[[Callable[[], bool]], bool]

FAKE_PROBE = '''
"""Talks like the probe, and runs the script with `link`, `Link`, `settings` and `note`."""
import json, os, runpy, socket, sys

with open(sys.argv[-1]) as stream:
    settings = json.load(stream)


def note():
    """Writes down this process, so that the test can see whether it is gone."""
    descriptor = os.open(os.environ["FAKE_PIDS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, b"%d\\n" % os.getpid())
    os.close(descriptor)


class Link:
    def __init__(self, role="child", **more):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(settings["socket"])
        self.reader = self.socket.makefile("rb")
        rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        hello = dict(type="hello", pid=os.getpid(), rank=rank, world=world, role=role)
        self.send(**{**hello, "torch": "2.0", "python": "3", "device": "cpu", **more})
        assert self.receive() == {"type": "start"}

    def send(self, **message):
        self.raw(json.dumps(message).encode() + b"\\n")

    def raw(self, data):
        self.socket.sendall(data)

    def receive(self):
        line = self.reader.readline()
        if not line:
            os._exit(70)
        return json.loads(line)

    def ready(self):
        self.send(type="ready")
        return self.receive()

    def block(self, turn, wall=0.5, wait=True, **more):
        values = dict(type="block", steps=turn["steps"], wall=wall, cpu=0.25, gpu=None)
        self.send(**{**values, "memory_mb": 10.0, "throttled": None, "compiled": False, **more})
        return self.receive() if wait else None

    def survey(self, **more):
        anchor = {"kind": "optimizer", "index": 0}
        values = dict(type="survey", anchor=anchor, words="SGD.step", steps=3, step_s=0.5,
                      times=[0.5, 0.5, 0.5], warm=1, finished=False,
                      counts={"optimizer": [3], "backward": 3, "forward": 3, "loader": 0,
                              "skipped": 0},
                      lanes={"data": [0.1], "forward": [], "backward": [], "optimizer": [],
                             "other": []},
                      exercised=[], exercise_known=True, served=[], compiled=False,
                      memory_mb=10.0, device="cpu", gpu_name=None)
        self.send(**{**values, **more})

    def end(self, status="finished", code=0, steps=3, error=None):
        self.send(type="ended", status=status, code=code, steps=steps, error=error)
        self.wait()

    def wait(self):
        while True:
            self.receive()


def log(what):
    """Writes down what this process was told, for the test to read."""
    line = json.dumps([settings["name"], what]).encode() + b"\\n"
    descriptor = os.open(os.environ["FAKE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line)
    os.close(descriptor)


note()
link = Link("main")
log("start")
names = dict(link=link, Link=Link, settings=settings, note=note, log=log)
runpy.run_path(settings["main"], names)
'''

FAKE_TORCHRUN = """
import os, subprocess, sys

def main():
    count = int(sys.argv[sys.argv.index("--nproc-per-node") + 1])
    command = [sys.executable, *sys.argv[-2:]]
    ranks = [
        subprocess.Popen(command, start_new_session=True,
                         env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(count)})
        for rank in range(count)
    ]
    for _ in ranks:
        if os.wait()[1] != 0:
            for rank in ranks:
                rank.kill()
            sys.exit(1)
"""

TURNS = """
turn = link.ready()
while True:
    log(turn)
    turn = link.block(turn)
"""
"""A script that trains for ever."""


class Scene:
    """Makes jobs whose runs talk like the probe without torch, and knows their processes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        # In what seems to be a cache: a run may write there.
        self.notes = Path(tempfile.mkdtemp(prefix="n"))
        self.pids = self.notes / "pids"
        self.pids.touch()
        self.probe = folder / "fake_probe.py"
        self.probe.write_text(FAKE_PROBE)
        torchrun = folder / "packages" / "torch" / "distributed" / "run.py"
        torchrun.parent.mkdir(parents=True)
        for package in (torchrun.parent, torchrun.parent.parent):
            (package / "__init__.py").touch()
        torchrun.write_text(FAKE_TORCHRUN)
        # Outside of pytest's folder, whose path is too long for a socket.
        self.temporary = Path(tempfile.mkdtemp(prefix="t"))

    def job(self, body: str, name: str = "original", nproc: int = 1, **more: object) -> Job:
        """A job for a script with this text."""
        script = self.folder / f"{name}.py"
        script.write_text(dedent(body))
        values: dict[str, object] = {
            "mode": MEASURE,
            "name": name,
            "main": str(script),
            "project": str(self.folder),
            "anchor": Anchor("optimizer"),
            **more,
        }
        environment = {
            "FAKE_PIDS": str(self.pids),
            "FAKE_LOG": str(self.notes / "log"),
            "HF_HOME": str(self.notes),
            "PYTHONPATH": str(self.folder / "packages"),
        }
        return Job(
            RunSettings(**values),  # type: ignore[arg-type]
            launcher=Torchrun(nproc) if nproc > 1 else Python(),
            environment=environment,
            cwd=str(self.folder),
        )

    def workspace(self) -> Workspace:
        """One in this test's own temporary folder."""
        return Workspace(parent=str(self.temporary))

    def noted(self) -> list[int]:
        """The processes that have run so far."""
        return [int(line) for line in self.pids.read_text().split()]

    def logged(self) -> list[tuple[str, object]]:
        """Name of the run, and what its script was told or saw."""
        with open(self.notes / "log") as stream:
            return [(name, what) for name, what in map(json.loads, stream)]

    def left(self) -> list[str]:
        """Processes and files that are still there."""
        return [
            *(f"process {pid}" for pid in self.noted() if is_running(pid)),
            *map(str, self.temporary.iterdir()),
        ]

    def end(self) -> None:
        for pid in self.noted():
            if is_running(pid):
                psutil.Process(pid).kill()
        for folder in (self.temporary, self.notes):
            shutil.rmtree(folder, ignore_errors=True)


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that only waits to be reaped does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 200.0) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Jobs that need no torch. Whatever they leave, the test fails."""
    made = Scene(tmp_path, monkeypatch)
    monkeypatch.setattr(run, "PROBE", str(made.probe))
    monkeypatch.delenv(VARIABLE, raising=False)
    try:
        yield made
        left = made.left()
        assert not left
    finally:
        made.end()


@pytest.fixture
def turns() -> str:
    """The text of a script that trains for ever."""
    return TURNS


@pytest.fixture
def waits_until() -> WaitsUntil:
    """Polls a condition until it comes true."""
    return wait_until

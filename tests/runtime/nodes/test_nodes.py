"""Two agents on this machine, as two nodes, and what stays of them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.scenes import is_running, wait_until
from torchlint.experiment.rotation import rotate
from torchlint.runtime.failures import Failed
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.nodes.nodes import TORCHRUN, Nodes, Spread
from torchlint.runtime.probe.run_settings import MEASURE, PLAIN, VARIABLE, Anchor, RunSettings
from torchlint.runtime.run import Job, Run
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("torch")

MEETING = "meeting.json"
SERVE = """
import sys
from torchlint.runtime.nodes.node_agent import serve
serve(sys.argv[1], 1, wait_s=600.0, joined=lambda _: None)
"""
TRAINS = """
import os
import torch
from torch import distributed, nn

distributed.init_process_group("gloo")
rank = distributed.get_rank()
if rank == 0:
    with open("made_by_0", "w") as stream:
        stream.write("by rank 0")
distributed.barrier()
with open("made_by_0") as stream:
    assert stream.read() == "by rank 0"
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""
WAITS = """
import time
while True:
    time.sleep(0.05)
"""


class Place:
    """A project, a shared folder, and an agent for node 1."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.shared = Path(tempfile.mkdtemp(prefix="torchlint-test-", dir=folder))
        command = [sys.executable, "-c", SERVE, str(self.shared / MEETING)]
        self.other = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    @contextmanager
    def nodes(self) -> Iterator[tuple[Workspace, Nodes]]:
        spread = Spread(TORCHRUN, 2, str(self.shared), MEETING, 60.0)
        with Workspace(str(self.shared)) as workspace, Nodes(spread, workspace) as nodes:
            yield workspace, nodes

    def job(self, nodes: Nodes, text: str, name: str = "original", **more: object) -> Job:
        script = self.project / f"{name}.py"
        script.write_text(text)
        values = {"mode": PLAIN, "threads": 1, "device": "cpu", "project": str(self.project)}
        settings = RunSettings(main=str(script), name=name, **{**values, **more})  # type: ignore[arg-type]
        return Job(settings, launcher=Torchrun(1, 2), cwd=str(self.project), nodes=nodes)


def failure(run: Run) -> Failed:
    """How the run fails, whatever it says before."""
    try:
        while True:
            run.receive(120.0, "end")
    except Failed as failed:
        return failed


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Whatever stays of it, the test fails."""
    made = Place(tmp_path)
    try:
        yield made
        _, said = made.other.communicate(timeout=600)
        assert (made.other.returncode, said) == (0, "")
        assert list(made.shared.iterdir()) == []
    finally:
        made.other.kill()
        made.other.communicate()


def test_programs_on_two_nodes_take_turns_and_see_what_the_other_node_writes(place: Place) -> None:
    with place.nodes() as (workspace, nodes):
        assert [name.partition(" ")[2] for name in nodes.names] == ["(node 0)", "(node 1)"]
        jobs = {
            name: place.job(nodes, TRAINS, name, mode=MEASURE, anchor=Anchor("optimizer"))
            for name in "ab"
        }
        done = rotate(
            jobs, workspace, warmup=2, settle=1, steps=3, blocks=2, seed=0, timeout_s=600.0
        )
    blocks = done.blocks["a"] + done.blocks["b"]
    assert [block.steps for block in blocks] == [3] * 4
    assert [[rank for rank, _ in block.ranks] for block in blocks] == [[0, 1]] * 4
    assert not (place.project / "made_by_0").exists()


def test_a_rank_that_is_killed_ends_the_run_on_all_nodes_and_is_named(place: Place) -> None:
    with place.nodes() as (workspace, nodes), Run(place.job(nodes, WAITS), workspace) as run:
        run.greet(120.0)
        pids = {peer.rank: peer.hello.pid for peer in run.peers}
        run.start()
        psutil.Process(pids[1]).kill()
        failed = failure(run)
    assert failed.message == f"Rank 1 on {nodes.names[1]} was ended by SIGKILL."
    assert wait_until(lambda: not any(map(is_running, pids.values())))


def test_a_node_without_the_project_is_named(place: Place) -> None:
    with place.nodes() as (workspace, nodes):
        job = place.job(nodes, WAITS, project=str(place.project / "nowhere"))
        with Run(job, workspace) as run, pytest.raises(Failed) as raised:
            run.greet(120.0)
    assert raised.value.message.endswith(
        f"could not start the script: there is no folder {place.project}/nowhere; all nodes need "
        "the same folders at the same paths."
    )


def test_an_agent_that_is_killed_ends_the_run_and_nothing_stays_on_its_node(place: Place) -> None:
    try:
        with place.nodes() as (workspace, nodes), Run(place.job(nodes, WAITS), workspace) as run:
            run.greet(120.0)
            pids = {peer.rank: peer.hello.pid for peer in run.peers}
            run.start()
            mark = psutil.Process(pids[1]).environ()[VARIABLE]
            place.other.kill()
            failed = failure(run)
            # By the guard that the agent has left behind.
            assert wait_until(lambda: not Path(mark).parents[1].exists())
        assert failed.message == f"{nodes.names[1]} ended its part of the job."
        assert wait_until(lambda: not any(map(is_running, pids.values())))
    finally:
        # For the fixture: it was killed on purpose.
        place.other.communicate()
        place.other = subprocess.Popen(["true"], stderr=subprocess.PIPE, text=True)

"""The options that say on which machines a script runs; nothing is run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from torchlint.experiment import missing_packages
from torchlint.experiment.errors import ExperimentError
from torchlint.runtime.launchers import slurm
from torchlint.runtime.nodes import node_agent
from torchlint.runtime.nodes.meeting import NodeError
from torchlint.verify import verification as session

if TYPE_CHECKING:
    from pathlib import Path

INSIDE = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURMD_NODENAME": "node1"}


@pytest.fixture(autouse=True)
def outside_of_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("SLURM")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(missing_packages, "require_packages", lambda: None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """The requests that would have been run."""
    requests = []

    def verify(request, *_):
        requests.append(request)
        raise ExperimentError("nothing is run here")

    monkeypatch.setattr(session, "verify", verify)
    return requests


@pytest.fixture
def train(here: Path) -> Path:
    script = here / "train.py"
    script.write_text("import torch\n")
    return script


@pytest.mark.parametrize("command", ["verify", "profile"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--nnodes 2", "--nnodes needs --launcher torchrun or slurm."),
        ("--node-rank 1", "--node-rank needs --launcher torchrun."),
        ("--launcher torchrun --nnodes 2", "Give this node's number with --node-rank"),
        ("--launcher torchrun --nnodes 2 --node-rank 1 --shared nowhere", "is not a folder"),
        ("--launcher torchrun --nnodes 2 --node-rank 0 --shared nowhere", "is not a folder"),
        ("--launcher mpi", "mpi"),
        ("--nnodes 0", "is not a whole number from 1 up"),
        ("--launcher slurm --queue-time soon", "is not a time"),
    ],
)
def test_what_does_not_fit_together_is_said(torchlint, train, command, words, said) -> None:
    outcome = torchlint(command, "train.py", *words.split())
    assert outcome.code == 2
    assert said in outcome.err


def test_without_slurm_that_is_said(torchlint, train, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = torchlint("verify", "train.py", "--launcher", "slurm")
    assert outcome.code == 2
    assert "There is no srun here; --launcher slurm needs the commands of Slurm." in outcome.err


def test_outside_of_a_job_the_command_runs_again_in_one(
    torchlint, train, monkeypatch, asked
) -> None:
    given = {}

    def run(command, **more):
        given.update(command=command, **more)
        return 7, "Job 5 did not start within 5 s."

    monkeypatch.setattr(slurm, "missing_tool", lambda: "")
    monkeypatch.setattr(slurm, "run_in_a_job", run)
    words = "--launcher slurm --nnodes 2 --nproc-per-node 4 --slurm=--partition=gpu --queue-time 5s"
    outcome = torchlint("verify", "train.py", *words.split())
    assert outcome.code == 7
    assert "many times in a new Slurm job of 2 nodes, for a few seconds" in outcome.err
    assert outcome.err.endswith("Job 5 did not start within 5 s.\n")
    assert (given["nodes"], given["on_a_node"], given["wait_s"]) == (2, 4, 5)
    assert given["options"] == ("--partition=gpu",)
    assert asked == []


def test_on_a_node_of_a_job_the_runs_are_spread_over_its_nodes(
    torchlint, train, monkeypatch, asked, tmp_path
) -> None:
    for name, value in {**INSIDE, "SLURM_GPUS_ON_NODE": "4"}.items():
        monkeypatch.setenv(name, value)
    torchlint("verify", "train.py", "--launcher", "slurm", "--against", "train.py", "--shared", ".")
    (request,) = asked
    assert (request.spread.launcher, request.nodes, request.nproc) == ("slurm", 2, 4)
    assert request.folder == os.path.realpath(".")


def test_more_nodes_than_the_job_has_are_refused(torchlint, train, monkeypatch) -> None:
    for name, value in INSIDE.items():
        monkeypatch.setenv(name, value)
    outcome = torchlint("verify", "train.py", "--launcher", "slurm", "--nnodes", "3")
    assert outcome.code == 2
    assert "The job has 2 nodes; ask for no more than that with --nnodes." in outcome.err


def test_another_node_serves_node_0_and_asks_nothing(torchlint, train, monkeypatch, here) -> None:
    served = []

    def serve(path, node, **_):
        served.append((path, node))

    monkeypatch.setattr(node_agent, "serve", serve)
    words = "--launcher torchrun --nnodes 2 --node-rank 1 --shared ."
    outcome = torchlint("verify", "train.py", *words.split())
    assert outcome.code == 0
    assert served == [(os.path.join(os.path.realpath(here), "torchlint-nodes.json"), 1)]

    def nobody(*_, **__):
        raise NodeError("nobody is there; start node 0")

    monkeypatch.setattr(node_agent, "serve", nobody)
    outcome = torchlint("verify", "train.py", *words.split())
    assert (outcome.code, outcome.err.splitlines()[-1]) == (
        2,
        "Error: nobody is there; start node 0",
    )

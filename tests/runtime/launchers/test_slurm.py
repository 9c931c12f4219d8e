"""What Slurm's environment and its commands say, in their own words (version 22.05)."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.launchers import slurm
from torchlint.runtime.probe.world import slurm_ranks

if TYPE_CHECKING:
    from pathlib import Path

GRANTED = "salloc: Granted job allocation 11"
ABORTED = "srun: Job step aborted: Waiting up to 12 seconds for job step to finish."
STEP = "slurmstepd-node1: error: *** STEP 11.0 ON node1 CANCELLED AT 2026-11-25T17:21:51 ***"
OVER = (
    "slurmstepd-node1: error: *** STEP 12.0 ON node1 CANCELLED AT 2026-11-25T17:23:05 DUE TO TIME "
    "LIMIT ***"
)


class Commands:
    """Stand-ins for `salloc` and `srun` that say some lines and end with a code."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        for name in [name for name in os.environ if name.startswith("SLURM")]:
            monkeypatch.delenv(name)
        self.make("squeue", "echo Resources")

    def make(self, name: str, body: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho {name} \"$@\" >> '{self.folder}/asked'\n{body}\n")
        path.chmod(0o755)

    def say(self, *lines: str, code: int = 0) -> None:
        text = "\n".join(lines)
        self.make("salloc", f"cat >&2 <<'END'\n{text}\nEND\nexit {code}")
        self.make("srun", f"cat >&2 <<'END'\n{text}\nEND\nexit {code}")

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setattr(slurm, "_REASON_S", 0.0)
    return Commands(tmp_path, monkeypatch)


def run(wait_s: int | None = None, **environment: str) -> tuple[int, str, str]:
    """Exit code, sentence, and what is passed on."""
    stderr = io.StringIO()
    code, sentence = slurm.run_in_a_job(
        ["torchlint", "profile"],
        nodes=2,
        on_a_node=4,
        options=["--partition=gpu"],
        wait_s=wait_s,
        environment={**os.environ, **environment},
        stderr=stderr,
    )
    return code, sentence, stderr.getvalue()


def test_what_the_command_says_is_passed_on_and_what_slurm_says_is_not(commands: Commands) -> None:
    commands.say("salloc: Granted job allocation 7", "[ 0 s] Timing", "salloc: Relinquishing job 7")
    assert run() == (0, "", "[ 0 s] Timing\n")


def test_a_new_job_has_room_for_all_ranks_and_starts_on_its_first_node(commands: Commands) -> None:
    commands.say()
    run(wait_s=60)
    (asked,) = commands.asked
    assert asked.startswith("salloc --ntasks-per-node=4 --partition=gpu --immediate=60 --nodes=2 ")
    assert "srun --cpu-bind=none --overlap" in asked
    assert asked.endswith("--nodes=1 --ntasks=1 --relative=0 --disable-status torchlint profile")


def test_in_a_job_no_other_one_is_asked_for(commands: Commands) -> None:
    commands.say()
    run(SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2")
    (asked,) = commands.asked
    assert asked.startswith("srun ")


@pytest.mark.parametrize(
    ("said", "code", "outcome"),
    [
        ([GRANTED, "srun: error: node1: task 0: Exited with exit code 4"], 4, (4, "")),
        (
            [GRANTED, "srun: forcing job termination", "srun: error: node1: task 0: Exited with "
             "exit code 4", ABORTED, STEP, "salloc: Relinquishing job allocation 11"],
            4,
            (4, ""),
        ),
        (
            [GRANTED, "srun: error: node1: task 0: Exited with exit code 4",
             "salloc: Job allocation 11 has been revoked."],
            4,
            (4, ""),
        ),
        ([GRANTED, STEP, "srun: error: node1: task 0: Exited with exit code 130"], 130, (130, "")),
        (
            [GRANTED, "salloc: Job allocation 11 has been revoked.", ABORTED, STEP],
            143,
            (130, "Job 11 was cancelled."),
        ),
        ([ABORTED, STEP, "srun: error: node1: task 0: Terminated"], 143,
         (130, "The job was cancelled.")),
        (
            [GRANTED, "salloc: Job 12 has exceeded its time limit and its allocation has been "
             "revoked.", OVER],
            143,
            (7, "Job 11 reached its time limit; ask for more time, as with --slurm=--time=60."),
        ),
        (
            ["salloc: error: Job submit/allocate failed: Invalid partition name specified"],
            1,
            (2, "Slurm did not give the nodes: Job submit/allocate failed: Invalid partition name "
             "specified."),
        ),
    ],
)  # fmt: skip
def test_each_end_is_one_sentence(
    commands: Commands, said: list[str], code: int, outcome: tuple[int, str]
) -> None:
    commands.say(*said, code=code)
    assert run() == (*outcome, "")


def test_a_queue_that_does_not_move_is_given_up_with_its_reason(commands: Commands) -> None:
    commands.say(
        "salloc: Pending job allocation 5",
        "salloc: job 5 queued and waiting for resources",
        "salloc: error: Unable to allocate resources: Connection timed out",
        code=1,
    )
    code, sentence, passed_on = run(wait_s=5)
    assert (code, passed_on) == (7, "Job 5 waits in the queue (Resources).\n")
    assert sentence == (
        "Job 5 did not start within 5 s and was taken back; allow more with --queue-time, or ask "
        "for fewer nodes."
    )


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"SLURM_JOB_ID": "7"}, slurm.Allocation("7", 1, False, None)),
        (
            {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURMD_NODENAME": "a",
             "SLURM_GPUS_ON_NODE": "8", "SLURM_NTASKS_PER_NODE": "1"},
            slurm.Allocation("7", 2, True, 8),
        ),
        (
            {"SLURM_JOB_ID": "7", "SLURM_NTASKS_PER_NODE": "4(x2)"},
            slurm.Allocation("7", 1, False, 4),
        ),
        (
            {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "x", "SLURM_GPUS_ON_NODE": "0"},
            slurm.Allocation("7", 1, False, None),
        ),
    ],
)  # fmt: skip
def test_the_environment_of_a_job_says_what_it_has(
    environment: dict[str, str], found: slurm.Allocation | None
) -> None:
    assert slurm.allocation(environment) == found


def test_an_agent_is_started_on_each_node_and_bound_to_no_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = slurm.on_each_node(3, ["python", "agent.py"])
    assert command[0] == "srun"
    assert {"--nodes=3", "--ntasks=3", "--ntasks-per-node=1", "--cpu-bind=none"} <= set(command)
    assert command[-2:] == ["python", "agent.py"]
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    known = slurm.variables_of_a_step()
    assert known["SLURM_JOB_ID"] == "7"
    assert "SLURM_CPUS_PER_TASK" not in known


def test_a_rank_finds_its_own_number_in_the_variables_of_slurm() -> None:
    torchrun = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
    environment = {"SLURM_PROCID": "1", "SLURM_LOCALID": "0", "SLURM_NTASKS": "2", **torchrun}
    slurm_ranks.correct(environment)
    told = {name: environment[f"SLURM_{name}"] for name in ("PROCID", "LOCALID", "NTASKS")}
    assert told == {"PROCID": "3", "LOCALID": "1", "NTASKS": "4"}
    assert environment["SLURM_TASKS_PER_NODE"] == "2(x2)"
    slurm_ranks.correct(torchrun)
    assert "SLURM_PROCID" not in torchrun

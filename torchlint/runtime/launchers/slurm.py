"""Slurm: which nodes a job has, and how its programs are started on them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psutil

from torchlint.runtime.processes.interrupts import Interrupts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

_WHOLE_NODE: Final = ("--cpu-bind=none", "--overlap", "--kill-on-bad-exit=0")
"""A step has all processors of the job on a node: its tasks are bound to none of them. Others run
at the same time."""
_OF_ONE_TASK: Final = (
    "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_LIST",
    "SLURM_CPU_BIND_TYPE",
    "SLURM_CPU_BIND_VERBOSE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_DISTRIBUTION",
    "SRUN_CPUS_PER_TASK",
)
"""Variables of a step that a step inside it would take for its own options."""
_TOOL: Final = re.compile(
    r"^(?:salloc|srun|slurmstepd(?:-\S+)?): (?:error: )?(?:\*\*\* )?(.*?)(?: \*\*\*)?$"
)
_NOISE: Final = re.compile(
    r"^(?:Exited with exit code|task \d|tasks? .*: (?:Exited|Terminated|Killed)|Job step aborted"
    r"|\w+: tasks? .*: (?:Exited|Terminated|Killed)|Granted job allocation|Relinquishing job"
    r"|Pending job allocation|Nodes .* are ready|Waiting for resource|Force Terminated"
    r"|Job allocation \d+ has been revoked|launch/slurm|.*Job step aborted)"
)
"""What its tools say about each end, the good ones too."""
_QUEUED: Final = re.compile(r"job (\d+) queued and waiting for resources")
_GRANTED: Final = re.compile(r"(?:Granted job allocation|job) (\d+)")
_CANCELLED: Final = re.compile(r"allocation \d+ has been revoked|CANCELLED|Force Terminated")
"""Also said about a job that has ended by itself, and of its steps."""
_ENDED_BY_SLURM: Final = (128 + signal.SIGTERM, 128 + signal.SIGKILL)
REFUSED, OUT_OF_TIME, STOPPED = 2, 7, 130
"""Exit codes of the commands that run scripts."""
_REASON_S: Final = 1.0
"""Until Slurm knows why a new job has to wait."""
_TIME_LIMIT: Final = re.compile(r"TIME LIMIT|exceeded its time limit")


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a job has, as its environment says.

    Args:
        job: its number.
        nodes: how many.
        inside: this process runs on one of them, and not on the login node.
        on_a_node: processes that each node should have: one for each of its GPUs, or as many as
            the job was given tasks for; None: it says neither.
    """

    job: str
    nodes: int
    inside: bool
    on_a_node: int | None


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """That of the job that this process belongs to; None outside of one."""
    job = environment.get("SLURM_JOB_ID", "")
    if not job:
        return None
    # "2(x2)" where all nodes have as many, "4,2" where they have not.
    tasks = re.match(r"\d+", environment.get("SLURM_NTASKS_PER_NODE", ""))
    gpus = environment.get("SLURM_GPUS_ON_NODE", "")
    return Allocation(
        job,
        _whole(environment.get("SLURM_JOB_NUM_NODES", "")) or 1,
        bool(environment.get("SLURMD_NODENAME")),
        _whole(gpus) or (int(tasks[0]) if tasks else None),
    )


def on_each_node(nodes: int, command: Sequence[str]) -> list[str]:
    """The command that starts another one once on each node of the job around this process."""
    count = [f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"]
    return ["srun", *_WHOLE_NODE, *count, *command]


def variables_of_a_step() -> dict[str, str]:
    """The environment for `srun` inside a step: without what describes that step's own task."""
    return {name: value for name, value in os.environ.items() if name not in _OF_ONE_TASK}


def missing_tool() -> str:
    """The name of one that is not installed here; empty if all are."""
    return next((tool for tool in ("srun", "salloc") if shutil.which(tool) is None), "")


def run_in_a_job(
    command: Sequence[str],
    *,
    nodes: int,
    on_a_node: int,
    options: Sequence[str],
    wait_s: int | None,
    environment: Mapping[str, str],
    stderr: TextIO,
) -> tuple[int, str]:
    """Run a command on the first node of a job, which is asked for if there is none yet.

    What it prints goes where this process prints; what Slurm's own tools say is kept.

    Args:
        nodes: of the new job.
        on_a_node: processes that it has room for on each, unless the options say otherwise.
        options: for `salloc`.
        wait_s: how long the job may wait in the queue; None: as long as it takes.
        environment: for the command.

    Returns:
        Its exit code, or one for what Slurm did, and then one sentence that says it.
    """
    # Disabled status: srun passes Ctrl-C on, instead of asking for a second one.
    first = ["--nodes=1", "--ntasks=1", "--relative=0", "--disable-status"]
    whole = ["srun", *_WHOLE_NODE, *first, *command]
    if allocation(environment) is None:
        limit = [] if wait_s is None else [f"--immediate={wait_s}"]
        # The last one counts.
        room = f"--ntasks-per-node={on_a_node}"
        whole = ["salloc", room, *options, *limit, f"--nodes={nodes}", *whole]
    interrupts = Interrupts(lambda: None)
    interrupts.install()
    try:
        with subprocess.Popen(  # noqa: S603 - to run it is asked for
            whole, stderr=subprocess.PIPE, text=True, errors="replace", env=dict(environment)
        ) as process:
            said = _forward(process, stderr)
    finally:
        interrupts.restore()
    return _outcome(said, process.returncode, wait_s)


def _forward(process: subprocess.Popen[str], stderr: TextIO) -> list[str]:
    """Pass on what the command says, until its end; returns what Slurm's tools say."""
    said: list[str] = []
    assert process.stderr is not None
    while True:
        try:
            for line in process.stderr:
                tool = _TOOL.match(line.rstrip("\n"))
                if tool is not None:
                    said.append(tool[1])
                queued = None if tool is None else _QUEUED.search(tool[1])
                if queued:
                    line = f"Job {queued[1]} waits in the queue{_reason(queued[1])}.\n"
                if tool is None or queued:
                    stderr.write(line)
                    stderr.flush()
            return said
        except (KeyboardInterrupt, SystemExit):
            # The command says what was known, and ends in order.
            with suppress(psutil.Error):
                tree = psutil.Process(process.pid)
                for each in (*tree.children(recursive=True), tree):
                    each.send_signal(signal.SIGINT)


def _reason(job: str) -> str:
    """Why a job waits, as Slurm says it, in brackets: `Resources`, `PartitionNodeLimit`."""
    time.sleep(_REASON_S)
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run(  # noqa: S603
            ["squeue", "--noheader", "--jobs", job, "--format", "%r"],  # noqa: S607
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10.0,
            check=False,
        )
        reason = asked.stdout.strip()
        return f" ({reason})" if reason and reason != "None" else ""
    return ""


def _outcome(said: Sequence[str], code: int, wait_s: int | None) -> tuple[int, str]:
    text = "\n".join(said)
    job = next((match[1] for line in said if (match := _GRANTED.search(line))), "")
    name, started = f"Job {job}" if job else "The job", "Granted" in text
    rest = [line for line in said if not _NOISE.search(line) and not _QUEUED.search(line)]
    if not code:
        return 0, ""
    if _TIME_LIMIT.search(text):
        more = "ask for more time, as with --slurm=--time=60"
        return OUT_OF_TIME, f"{name} reached its time limit; {more}."
    if not started and wait_s is not None and _QUEUED.search(text):
        more = "allow more with --queue-time, or ask for fewer nodes"
        return OUT_OF_TIME, f"{name} did not start within {wait_s} s and was taken back; {more}."
    if code in _ENDED_BY_SLURM and _CANCELLED.search(text):
        return STOPPED, f"{name} was cancelled."
    if rest and not started:
        return REFUSED, f"Slurm did not give the nodes: {rest[-1].rstrip('.')}."
    return code, ""


def python() -> list[str]:
    """This torchlint, as a command."""
    import torchlint

    main = os.path.join(os.path.dirname(os.path.abspath(torchlint.__file__)), "__main__.py")
    return [sys.executable, main]


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) else None

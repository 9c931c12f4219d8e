"""What the first machine and the agents on the others tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StartRun:
    """Start the processes of a run.

    Args:
        settings: fields of `probe.run_settings.RunSettings`.
        port: at which its ranks find the parent.
        on_a_node, nodes, master_port: for torchrun.
        environment: on top of that of the agent.
        cwd: where they start; empty: where the agent is.
        stdin: a file for their standard input; empty: none.
    """

    run: int
    settings: dict[str, Any]
    port: int
    on_a_node: int
    nodes: int
    master_port: int
    environment: dict[str, str]
    cwd: str
    stdin: str


@dataclass(frozen=True, slots=True)
class OfRun:
    """A run that is to end, or that has ended."""

    run: int


@dataclass(frozen=True, slots=True)
class RunExited:
    """How a run has ended on one machine: exit code, last lines of its standard error, and why it
    could not start; empty if it could."""

    run: int
    code: int
    tail: str = ""
    why: str = ""

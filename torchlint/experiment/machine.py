"""What the machine is, for the report."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.runtime.sandbox import fence
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from torchlint.experiment.jobs import Jobs
    from torchlint.runtime.survey_reader import Survey

UNKNOWN_DEVICE: Final = "unknown"
"""No run has shown yet on which device the program computes."""


class Hardware(NamedTuple):
    """What a measured speed depends on: versions of torch and Python, model and number of the
    processors."""

    torch: str
    python: str
    processor: str
    processors: int


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the settings of the runs; `settings` are the variables that torchlint set.

    `nodes` are the names of the machines where there are several; `processors` are then those of
    the one that has the fewest.
    """

    torch: str
    python: str
    device: str
    threads: int | None
    processors: int
    load: tuple[float, ...]
    sandbox: str
    processor: str = ""
    processes: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    gpu: dict[str, str] | None = None
    nodes: tuple[str, ...] = ()


def hardware() -> Hardware:
    """What it is here and now."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "unknown"
    return Hardware(torch, platform.python_version(), _processor(), processors())


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(jobs: Jobs, seen: Survey | None) -> Environment:
    """The machine and how the runs are set up."""
    here = hardware()
    gpu = {"name": seen.gpu_name} if seen is not None and seen.gpu_name else None
    return Environment(
        torch=here.torch,
        python=here.python,
        device=seen.device if seen is not None else UNKNOWN_DEVICE,
        threads=jobs.threads,
        processors=here.processors if jobs.nodes is None else jobs.nodes.processors,
        processor=here.processor,
        load=tuple(round(value, 2) for value in os.getloadavg()),
        sandbox=jobs.sandbox if fence.why_not() else f"{jobs.sandbox}, Landlock",
        processes=seen.processes if seen is not None else 1,
        settings=dict(sorted(jobs.environment.items())),
        gpu=gpu,
        nodes=() if jobs.nodes is None else jobs.nodes.names,
    )

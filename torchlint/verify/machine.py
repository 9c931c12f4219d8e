"""What the machine is, for the report."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

from torchlint.verify.result import Environment
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from torchlint.runtime.survey import Survey
    from torchlint.verify.jobs import Jobs


def environment(jobs: Jobs, seen: Survey | None, sandbox: str) -> Environment:
    """The machine and how the runs are set up."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "unknown"
    gpu = {"name": seen.gpu_name} if seen is not None and seen.gpu_name else None
    return Environment(
        torch=torch,
        python=platform.python_version(),
        device=seen.device if seen is not None else "unknown",
        threads=jobs.threads,
        processors=processors(),
        load=tuple(round(value, 2) for value in os.getloadavg()),
        sandbox=sandbox,
        processes=seen.processes if seen is not None else 1,
        settings=dict(jobs.environment),
        gpu=gpu,
    )

"""Runs of which several go side by side, since nothing is timed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from torchlint.runtime.failures import Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

_T = TypeVar("_T")


def attempts(
    run: Callable[[Job], _T], jobs: Sequence[Job], workspace: Workspace, *, at_once: int
) -> list[_T | Failed]:
    """What comes of each job, in their order; a failure takes the place of its result."""

    def attempt(job: Job) -> _T | Failed:
        try:
            return run(job)
        except Failed as failed:
            return failed

    with ThreadPoolExecutor(max(1, at_once)) as pool:
        try:
            return list(pool.map(attempt, jobs))
        except BaseException:
            workspace.stop()  # else the pool would wait until every run has ended
            raise

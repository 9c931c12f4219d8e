"""Runs a program to write down what it computes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from torchlint.runtime.failures import Failed
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace


def record(job: Job, workspace: Workspace, *, timeout_s: float) -> dict[str, object]:
    """What the first process that takes steps has written down: the `record` message.

    Args:
        timeout_s: a run that says nothing for so many seconds has failed.

    Raises:
        Failed: the script failed, or came to its end without a record.
    """
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        while True:
            peer, message = run.receive(timeout_s, "take enough steps")
            if message.type == "record" and peer.rank == 0:
                return dict(message.values)


def record_all(
    jobs: Sequence[Job], workspace: Workspace, *, timeout_s: float, at_once: int
) -> list[dict[str, object] | Failed]:
    """The records of several jobs in their order, `at_once` of them side by side; a failure
    stands in the place of its record."""

    def attempt(job: Job) -> dict[str, object] | Failed:
        try:
            return record(job, workspace, timeout_s=timeout_s)
        except Failed as failed:
            return failed

    with ThreadPoolExecutor(max(1, at_once)) as pool:
        try:
            return list(pool.map(attempt, jobs))
        except BaseException:
            workspace.stop()  # else the pool would wait until every run has ended
            raise

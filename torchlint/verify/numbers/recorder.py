"""Runs what the comparison of numbers asks for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.settings import RECORD
from torchlint.verify.numbers.recording import record_all
from torchlint.verify.numbers.traces import Trace
from torchlint.verify.plan import ORIGINAL, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.runtime.probe.settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace
    from torchlint.verify.jobs import Jobs
    from torchlint.verify.numbers.agreement import Request
    from torchlint.verify.result import DeclaredPlan


class Recorder:
    """Records what variants compute.

    Args:
        at_once: how many runs go side by side; nothing is timed here.
    """

    def __init__(
        self,
        jobs: Jobs,
        workspace: Workspace,
        plan: DeclaredPlan,
        anchor: Anchor,
        variants: Sequence[Variant],
        *,
        at_once: int,
        timeout_s: float,
    ) -> None:
        self._jobs = jobs
        self._workspace = workspace
        self._plan = plan
        self._anchor = anchor
        self._variants = {each.name: each for each in (*variants, Variant(ORIGINAL, ()))}
        self._at_once = at_once
        self._timeout_s = timeout_s
        self._states = workspace.folder("states")
        self._saved: set[int] = set()

    def run(self, requests: Sequence[Request]) -> Sequence[Trace]:
        """The traces of these requests, in their order.

        Raises:
            Failed: a run failed.
        """
        first = [request for request in requests if self._saves(request)]
        rest = [request for request in requests if request not in first]
        traces = dict(zip(first, self._record(first), strict=True))
        traces.update(zip(rest, self._record(rest), strict=True))
        return [traces[request] for request in requests]

    def _saves(self, request: Request) -> bool:
        """Whether the others take their first weights from this run."""
        first = request.variant == ORIGINAL and request.perturb is None and request.level >= 2
        return first and request.level not in self._saved

    def _record(self, requests: Sequence[Request]) -> list[Trace]:
        jobs = [self._job(request) for request in requests]
        self._saved.update(request.level for request in requests if self._saves(request))
        payloads = record_all(
            jobs, self._workspace, timeout_s=self._timeout_s, at_once=self._at_once
        )
        traces: list[Trace] = []
        for payload in payloads:
            if isinstance(payload, Failed):
                raise payload
            traces.append(Trace.from_payload(payload))
        return traces

    def _job(self, request: Request) -> Job:
        transplants = request.level >= 2
        return self._jobs.job(
            self._variants[request.variant],
            RECORD,
            anchor=self._anchor,
            steps=self._plan.numeric_steps,
            level=request.level,
            perturb=request.perturb,
            state=os.path.join(self._states, str(request.level)) if transplants else None,
            save_state=self._saves(request),
        )

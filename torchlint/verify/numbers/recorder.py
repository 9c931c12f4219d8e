"""Runs programs to write down what they compute."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.experiment.errors import no_steps_from
from torchlint.experiment.first_look import clash_of
from torchlint.experiment.side_by_side import attempts
from torchlint.experiment.subject import CHANGED, ORIGINAL, Variant
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.failures import Failed, not_understood
from torchlint.runtime.probe.messages import Recorded
from torchlint.runtime.probe.run_settings import RECORD
from torchlint.runtime.run import Run
from torchlint.runtime.survey_reader import noted
from torchlint.verify.numbers.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.subject import Watched
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace
    from torchlint.verify.numbers.agreement import RunRequest


class VariantRecorder:
    """Records what variants compute.

    Args:
        at_once: how many runs go side by side; nothing is timed here.
        places: the lines to watch in the original, and in the changed program.
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
        places: tuple[Watched, Watched] = ({}, {}),
    ) -> None:
        self.clash = ""
        """What a run failed with next to another one, and not alone."""
        self.records: dict[str, Recorded] = {}
        """How far the original and the changed program went, by variant."""
        self._places = dict(zip((ORIGINAL, CHANGED), places, strict=True))
        self._jobs = jobs
        self._workspace = workspace
        self._plan = plan
        self._anchor = anchor
        self._variants = {each.name: each for each in (*variants, Variant(ORIGINAL, ()))}
        self._at_once = at_once
        self._timeout_s = timeout_s
        self._states = workspace.folder("states")
        self._saved: set[int] = set()
        self._traces: dict[RunRequest, Trace] = {}

    def know(self, variants: Sequence[Variant]) -> None:
        """Record these variants as well when they are asked for."""
        self._variants.update((each.name, each) for each in variants)

    def run(self, requests: Sequence[RunRequest]) -> Sequence[Trace]:
        """The traces of these requests, in their order; each runs once, however often it is asked
        for.

        Raises:
            Failed: a run failed.
            ExperimentError: one ended before the first step to compare.
        """
        new = [request for request in requests if request not in self._traces]
        first = [request for request in new if self._saves(request)]
        rest = [request for request in new if request not in first]
        self._traces.update(zip(first, self._record(first), strict=True))
        self._traces.update(zip(rest, self._record(rest), strict=True))
        return [self._traces[request] for request in requests]

    def _saves(self, request: RunRequest) -> bool:
        """Whether the others take their first weights from this run."""
        first = request.variant == ORIGINAL and request.perturb is None and request.level >= 2
        return first and request.level not in self._saved

    def _is_first(self, request: RunRequest) -> bool:
        return request.perturb is None and not request.level and not request.again

    def _record(self, requests: Sequence[RunRequest]) -> list[Trace]:
        jobs = [self._job(request) for request in requests]
        self._saved.update(request.level for request in requests if self._saves(request))
        payloads = record_all(
            jobs, self._workspace, timeout_s=self._timeout_s, at_once=self._at_once
        )
        failed = [each for each in payloads if isinstance(each, Failed)]
        if failed and self._at_once > 1 and len(jobs) > 1:
            self._at_once = 1
            payloads = self._again_alone(jobs, payloads)
            self.clash = next(map(clash_of, failed))
        traces: list[Trace] = []
        for request, job, found in zip(requests, jobs, payloads, strict=True):
            if isinstance(found, Failed):
                raise found
            if not found.steps:
                raise no_steps_from(self._plan.numeric_first)
            if request.variant in self._places:
                self.records.setdefault(request.variant, found)
            try:
                traces.append(Trace.from_record(found))
            except MalformedError as error:
                raise not_understood(error, job.settings.name) from error
        return traces

    def _again_alone(
        self, jobs: Sequence[Job], payloads: Sequence[Recorded | Failed]
    ) -> list[Recorded | Failed]:
        return [
            record_all([job], self._workspace, timeout_s=self._timeout_s, at_once=1)[0]
            if isinstance(found, Failed)
            else found
            for job, found in zip(jobs, payloads, strict=True)
        ]

    def _job(self, request: RunRequest) -> Job:
        transplants = request.level >= 2
        watched = self._places.get(request.variant, {}) if self._is_first(request) else {}
        return self._jobs.job(
            self._variants[request.variant],
            RECORD,
            anchor=self._anchor,
            steps=self._plan.numeric_steps,
            skip=self._plan.numeric_first,
            places=watched,
            level=request.level,
            perturb=request.perturb,
            state=os.path.join(self._states, str(request.level)) if transplants else None,
            save_state=self._saves(request),
        )


def record(job: Job, workspace: Workspace, *, timeout_s: float) -> Recorded:
    """What the first process that takes steps has written down; `exercised` has the places too that
    ran in a loader's workers.

    Args:
        timeout_s: a run that sends nothing for this many seconds has failed.

    Raises:
        Failed: the script failed, or ended without a record.
    """
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        while True:
            peer, message = run.receive(timeout_s, "take enough steps")
            if message.kind == "record" and peer.rank == 0:
                try:
                    found = message.read(Recorded)
                except MalformedError as error:
                    raise run.malformed(error) from error
                return replace(found, exercised=sorted(noted(run.folder).union(found.exercised)))


def record_all(
    jobs: Sequence[Job], workspace: Workspace, *, timeout_s: float, at_once: int
) -> list[Recorded | Failed]:
    """The records of several jobs in their order, `at_once` of them side by side; a failure takes
    the place of its record."""

    def attempt(job: Job) -> Recorded:
        return record(job, workspace, timeout_s=timeout_s)

    return attempts(attempt, jobs, workspace, at_once=at_once)

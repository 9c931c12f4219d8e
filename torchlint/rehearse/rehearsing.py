"""One rehearsal: a run on a played device, and what it says about the script and about `check`."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import ExperimentError, too_short
from torchlint.experiment.session import OUT_OF_TIME
from torchlint.profile.earlier_profile import OF_WAITS
from torchlint.profile.evidence import REHEARSED, Evidence, Timing, Window
from torchlint.profile.profile_session import ProfileSession
from torchlint.profile.run_findings import Judged, as_static, judge
from torchlint.rehearse.counted import per_step, reads_of
from torchlint.runtime.failures import TIMEOUT, Failed
from torchlint.runtime.probe.played.cards import CARDS
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.jobs import Watcher
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Linted
    from torchlint.finding import Finding
    from torchlint.profile.profile_result import Profile, RunFinding, Static
    from torchlint.runtime.probe.messages import Rehearsed
    from torchlint.runtime.survey_reader import Survey

_STEPS: Final = 10
_BEFORE: Final = 2
"""Steps that are not counted: optimizers make their state in them."""
_FEWEST: Final = 2
"""Counted steps; of what happens in one alone nobody knows whether it happens in each."""
_GIVE_UP_S: Final = 60.0
_REFUSED: Final = "The script failed: The script raised NotPlayedError: "
_UNPLAYED: Final = re.compile(
    r"not compiled with CUDA|not linked with support for cuda|backend is not available"
    r"|arguments from the 'CUDA' backend|No CUDA GPUs are available|NVIDIA driver"
)
"""In errors of torch about a device that is not there: somebody has asked the real one."""
_COMPILED: Final = "torch.compile: what it is given runs as it is written"


def rehearse(request: Request, subject: Linted, watcher: Watcher) -> Profile:
    """Run the program for some steps on the played device of the request.

    Returns:
        a profile without times, whose `rehearsal` says what was counted.
    """
    return _Rehearsing(request, subject, watcher).conduct()


class _Rehearsing(ProfileSession):
    def run(self) -> None:
        steps = self.request.steps or _STEPS
        found = self.subject
        self.subject = replace(found, findings=())  # it sees by itself which lines run
        try:
            look = self._look(
                f"Rehearsing {steps} steps", steps=steps + _BEFORE, give_up_s=_GIVE_UP_S
            )
        except ExperimentError as error:
            raise ExperimentError(_in_words(error.message), error.code) from None
        self.subject = found
        if max((each.steps for each in look.original.rehearsed), default=0) < _FEWEST:
            raise too_short(look.original.steps)
        self._watcher.stage("Checking the files that it loads")
        self.subject = found.with_loaded(look.original.files, self.workspace.deadline)

    def failed(self, failed: Failed) -> tuple[str, int]:
        code = OUT_OF_TIME if failed.status == TIMEOUT else 4
        return f"The script failed: {failed.message}{failed.below}", code

    def late(self) -> None:
        spent = f"The budget of {self.request.budget_s:g} s ended before"
        what = "all was rehearsed" if self.first_look is None else "the loaded files were checked"
        self.fail(f"{spent} {what}; give more with --budget-time.", OUT_OF_TIME)

    def result(self) -> Profile:
        seen, base = self.survey, self.without_findings()
        if seen is None or not seen.rehearsed:
            return base
        played, counted = self.request.played, _busiest(seen)
        assert played is not None
        evidence = _evidence(seen, counted)
        judged = self._judged(evidence)
        rehearsal = per_step(counted, CARDS[played.card], played.devices)
        return replace(
            base,
            step=seen.words,
            findings=tuple(sorted(judged.findings, key=_weight)),
            watched=judged.watched,
            suppressed=judged.suppressed,
            static=tuple(_told(self.subject.findings, judged.findings, seen.rehearsed)),
            rehearsal=rehearsal,
            not_measured=(_COMPILED,) if counted.compiles else (),
        )

    def _judged(self, evidence: Evidence) -> Judged:
        try:
            return judge(evidence, self.subject.findings)
        except ArithmeticError as error:  # numbers that no run counts
            raise ExperimentError(f"What the run sent cannot be read ({error}).", 4) from None


def _busiest(seen: Survey) -> Rehearsed:
    """The rank that asked for most."""
    return max(seen.rehearsed, key=lambda each: each.launches)


def _evidence(seen: Survey, counted: Rehearsed) -> Evidence:
    steps = max(1, counted.steps)
    step_s = max(seen.step_s, 1e-9)
    seconds = steps * step_s
    return Evidence(
        seen,
        Timing(step_s, 0.0, steps, counted.skipped, 0.0, 0.0),  # of the rehearsal, and not told
        {
            "reads": Window(steps, seconds, reads_of(counted)),
            REHEARSED: Window(steps, seconds, counted),
        },
        processors=processors(),
        ranks=seen.processes,
    )


def _weight(finding: RunFinding) -> tuple[float, float, str, int]:
    """Waits before backward first: the queue is empty just then."""
    values = finding.values
    before, kinds = values.get("before_backward", 0.0), values.get("kinds")
    calls = sum(kinds.values()) if isinstance(kinds, dict) else values.get("copies", 0.0)
    return -_number(before), -_number(calls), finding.path, finding.row


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _told(
    findings: tuple[Finding, ...], seen: tuple[RunFinding, ...], ranks: Sequence[Rehearsed]
) -> list[Static]:
    """What the run says to each finding of `check` in a file of which it has run a line, on
    whichever rank."""
    confirmed = {
        (each.code, os.path.realpath(each.path), each.row) for one in seen for each in one.static
    }
    asked = {call.place for each in ranks for call in each.calls if call.place is not None}
    ran: dict[str, set[int]] = defaultdict(set)
    for each in ranks:
        for path, rows in each.ran.items():
            ran[os.path.realpath(path)].update(rows)
    told: dict[tuple[str, str, int, int], Static] = {}
    for finding in findings:
        path = os.path.realpath(finding.path)
        covered = range(finding.start.row, max(finding.start.row, finding.end.row) + 1)
        if path not in ran:
            continue
        if (finding.code, path, finding.start.row) in confirmed:
            status = "confirmed"
        elif ran[path].isdisjoint(covered):
            status = "not in a step"
        elif finding.code in OF_WAITS and not any((path, row) in asked for row in covered):
            status = "contradicted"
        else:
            status = "ran"
        # One file may have been found under two names.
        key = finding.code, path, finding.start.row, finding.start.column
        told[key] = replace(as_static(finding, status), path=os.path.relpath(path))
    return list(told.values())


def _in_words(message: str) -> str:
    """Why the script failed, if that may be the rehearsal's own fault."""
    said, refused, rest = message.partition(_REFUSED)
    if refused:
        return f"{said}{rest[:1].upper()}{rest[1:]}"
    if _UNPLAYED.search(message):
        first, line_end, rest = message.partition("\n")
        first += " What it asks of the GPU there is not played; please report it."
        return f"{first}{line_end}{rest}"
    return message

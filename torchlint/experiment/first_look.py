"""The first look at a program: where its steps end, what it executes, whether it runs at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.side_by_side import attempts
from torchlint.experiment.subject import ORIGINAL, Variant
from torchlint.runtime.failures import ERROR, FINISHED, NO_GPU, TIMEOUT, Failed
from torchlint.runtime.probe.run_settings import SURVEY
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS
from torchlint.runtime.sandbox.side_effects import collect
from torchlint.runtime.survey_reader import Survey, survey
from torchlint.runtime.wanted import ARGUMENTS, wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Subject
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace


_NO_TERMINAL: Final = "Inappropriate ioctl for device"
_DENIED: Final = "ermission denied"


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The surveys of the original and of the changed program.

    `clash` is what one of them failed with next to the other, and not alone; mostly nothing. With
    `own_network` they did not fail side by side, each with a loopback of its own.
    """

    original: Survey
    changed: Survey
    clash: str = ""
    own_network: bool = False

    @property
    def anchor(self) -> Anchor:
        assert self.original.anchor is not None
        return self.original.anchor

    def exercised(self, fix: str, number: int) -> bool | None:
        """Whether a place of a fix ran; None if that could not be seen."""
        return self.ran([f"{fix}:{number}"])

    def ran(self, places: Iterable[str]) -> bool | None:
        """Whether any of these places ran, by id; None if that could not be seen."""
        if not (self.original.exercised | self.changed.exercised).isdisjoint(places):
            return True
        known = self.original.exercise_known and self.changed.exercise_known
        return False if known else None


class Looker:
    """Surveys programs, and says in one sentence what is wrong with them.

    Args:
        more: further fields of the run's settings.
    """

    def __init__(
        self,
        request: Request,
        subject: Subject,
        jobs: Jobs,
        workspace: Workspace,
        **more: object,
    ) -> None:
        self._request = request
        self._subject = subject
        self._jobs = jobs
        self._workspace = workspace
        self._more = more

    def look(self) -> FirstLook:
        """Survey the program as it is, and the changed one, side by side if the memory allows.

        Raises:
            ExperimentError: one of them fails (exit 4 or 5), no steps are seen (6), or they use no
                GPU though one was asked for (2).
        """
        before, after = self._subject.places()
        original_job = self._jobs.job(Variant(ORIGINAL), SURVEY, places=before, **self._more)
        if self._subject.changed is None:
            original = self._try(original_job)
            if isinstance(original, Failed):
                raise self._failed(original, "The script", code=4)
            self._require_steps(original, original)
            return FirstLook(original, original)
        jobs = [original_job, self._jobs.job(self._subject.changed, SURVEY, places=after)]
        beside = self._side_by_side(jobs)
        # Alone they have all of the memory, and every port and lock.
        original = self._try(jobs[0]) if isinstance(beside[0], Failed) else beside[0]
        if isinstance(original, Failed):
            raise self._failed(original, "The original script", code=4)
        changed = self._try(jobs[1]) if isinstance(beside[1], Failed) else beside[1]
        if isinstance(changed, Failed):
            raise self._failed(changed, "The changed script", code=5, more=self._guilty(changed))
        self._require_steps(original, changed)
        clash = next((clash_of(each) for each in beside if isinstance(each, Failed)), "")
        return FirstLook(
            original, changed, clash, bool(clash) and self._only_ports(jobs, original, changed)
        )

    def _side_by_side(self, jobs: Sequence[Job]) -> list[Survey | Failed]:
        return attempts(self._try, jobs, self._workspace, at_once=len(jobs))

    def _only_ports(self, jobs: Sequence[Job], *seen: Survey) -> bool:
        """Whether programs that clash work side by side if each has all ports for itself; not
        tried with one that may need another machine."""
        networks = [each.network for each in seen]
        effects = collect(self._workspace.folders(), jobs[0].settings.project)
        if (
            jobs[0].settings.sandbox != OVERLAYFS
            or not any(each.listens for each in networks)
            or any(each.reaches_out for each in networks)
            or any(each.kind == "connect" for each in effects)
        ):
            return False
        apart = [replace(job, own_network=True) for job in jobs]
        return not any(isinstance(each, Failed) for each in self._side_by_side(apart))

    def _try(self, job: Job) -> Survey | Failed:
        try:
            return survey(job, self._workspace, timeout_s=self._request.timeout_s)
        except Failed as failed:
            return failed

    def _guilty(self, failed: Failed) -> str:
        """Which fixes make the script fail by themselves."""
        parts = self._subject.parts()
        if len(parts) < 2:
            return ""
        guilty = [
            words
            for words, alone in parts.items()
            if isinstance(self._try(self._jobs.job(alone, SURVEY)), Failed)
        ]
        if not guilty:
            return " No fix alone makes it fail; they do so together."
        names = ", ".join(guilty)
        return f" This fix does it: {names}; leave it out with --ignore."

    def _failed(self, failed: Failed, who: str, *, code: int, more: str = "") -> ExperimentError:
        if failed.status == NO_GPU:
            return ExperimentError(
                "This machine has no GPU that torch can use; leave out --device cuda, or run this "
                "where one is."
            )
        if failed.kind == "EOFError" and self._request.stdin is None:
            more += " It runs without a standard input; give it one with `< FILE`."
        elif _NO_TERMINAL in failed.message or _NO_TERMINAL in failed.tail:
            more += " It runs without a terminal."
        elif _DENIED in failed.message + failed.tail and not fence.why_not():
            kept = ", caches and the project" if self._jobs.sandbox == OVERLAYFS else " and caches"
            more += (
                f" While torchlint runs it, only Python itself can write outside of $TMPDIR{kept}; "
                "let what fails write there."
            )
        else:
            arguments, ranks = (
                bool(self._subject.program.argv),
                self._request.nproc * self._request.nodes,
            )
            asked = wanted(failed, arguments=arguments, ranks=ranks)
            more += f" {asked}" if asked else ""
        code = {TIMEOUT: 7, FINISHED: 6}.get(failed.status, code)
        what = "hung, or is slow to start" if failed.status == TIMEOUT else "failed"
        return ExperimentError(f"{who} {what}: {failed.message}{more}{failed.below}", code=code)

    def _require_steps(self, original: Survey, changed: Survey) -> None:
        if original.anchor is None:
            seen = ", ".join(f"{count} {kind}" for kind, count in _seen(original)) or "nothing"
            ended = original.finished and not self._subject.program.argv
            raise ExperimentError(
                "No training or inference steps were seen (no optimizer, backward, forward or "
                f"DataLoader; seen: {seen}); check that the script, with these arguments, trains."
                f"{f' {ARGUMENTS}' if ended else ''}",
                code=6,
            )
        if self._request.device == "cuda" and original.device != "cuda":
            raise ExperimentError(
                "The script computes on the CPU, though there is a GPU; give it the arguments that "
                "train there, or leave out --device cuda."
            )
        if changed.anchor != original.anchor:
            raise ExperimentError(
                f"The changed script takes other steps ({changed.words or 'not at all'}) than the "
                f"original ({original.words}), so their steps cannot be compared.",
                code=5,
            )


def clash_of(failed: Failed) -> str:
    """What a run says that fails next to another one and not alone; empty if that is the memory,
    which is looked at separately."""
    if failed.oom:
        return ""
    # A rank's error is at the end of the traceback of the script that started it.
    lines = failed.tail.strip().splitlines()
    return lines[-1].strip() if lines and failed.status == ERROR else failed.message


def _seen(seen: Survey) -> list[tuple[str, int]]:
    counts = (
        (kind, sum(count) if isinstance(count, tuple) else count)
        for kind, count in seen.counts.items()
    )
    return [(kind, count) for kind, count in counts if count]

"""One experiment from its first look to its result, and the ways in which it can end early."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import psutil

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.first_look import Looker
from torchlint.experiment.jobs import Jobs, gathered, sandbox_for
from torchlint.experiment.plan import room_for_runs
from torchlint.runtime.failures import Failed, OutOfTime
from torchlint.runtime.workspace import Workspace
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.jobs import Watcher
    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Subject
    from torchlint.runtime.nodes.nodes import Nodes
    from torchlint.runtime.survey_reader import Survey

BY_CTRL_C: Final = 130
"""The exit code of an experiment that the user has stopped."""
OUT_OF_TIME: Final = 7
_SLOWER: Final = 3
"""Times as long as the first look a run may take to start and to warm up, next to others."""
STOPPED: Final = "Stopped; this is what was known until then."

_S = TypeVar("_S", bound="Subject")
_R = TypeVar("_R", bound=Any)
"""A frozen dataclass with a field `seconds`."""


class Session(ABC, Generic[_S, _R]):
    """Runs a program as its client's `run` says, and ends with what is known.

    What a program does raises nothing: `code` and `summary` say it. If the user stops the
    experiment, or its time budget ends, `result` has what is known until then; no process and no
    file is left.

    Attributes:
        subject: the program; changes when a run shows more files of it.
        jobs: makes jobs of the subject.
        first_look: the last one that there was.
        nodes: the machines that runs are spread over; None: this one alone.
        code: the exit code.
        summary: why it ended early; empty if it did not.
        stopped: the exit code if the user has stopped it.
        doing: what a run was still doing when the time budget ended; empty if that is not known.
    """

    def __init__(self, request: Request, subject: _S, watcher: Watcher) -> None:
        self.request = request
        self.subject = subject
        self.nodes: Nodes | None = None
        self.first_look: FirstLook | None = None
        self.code, self.summary = 0, ""
        self.stopped: int | None = None
        self.doing = ""
        self._watcher = watcher

    def conduct(self) -> _R:
        """Run it to its end, whichever that is."""
        with Workspace(self.request.folder, self.request.deadline) as workspace, ExitStack() as own:
            self.workspace = workspace
            self.sandbox = sandbox_for(self.request, workspace)
            self.jobs = self.jobs_for(self.subject)
            try:
                self.nodes = gathered(self.request, workspace, own, self._watcher)
                self.run()
            except ExperimentError as error:
                self.fail(error.message, error.code)
            except Failed as failed:
                self.fail(*self.failed(failed))
            except OutOfTime as late:
                self.doing = str(late)
                self.late()
            except KeyboardInterrupt:
                self.stopped = BY_CTRL_C
            except SystemExit as ended:  # SIGTERM or SIGHUP
                self.stopped = ended.code if isinstance(ended.code, int) else BY_CTRL_C
            result = self.result()
        return replace(result, seconds=round(time.monotonic() - self.request.begun, 1))

    @abstractmethod
    def run(self) -> None:
        """All that the experiment does."""

    @abstractmethod
    def failed(self, failed: Failed) -> tuple[str, int]:
        """A sentence and the exit code for a run that failed after the first look."""

    @abstractmethod
    def late(self) -> None:
        """The time budget is over."""

    @abstractmethod
    def result(self) -> _R:
        """What is known."""

    def fail(self, message: str, code: int) -> None:
        """End early: what is known stays."""
        self.summary, self.code = message, code

    def look(self) -> FirstLook:
        """A first look at the program, and another one if it loads files in which there is more to
        see: their lines were not watched.

        Raises:
            ExperimentError: the program fails, or takes no steps.
        """
        look = self._look("Looking at the program")
        subject = self.subject.with_loaded(look.original.files, self.workspace.deadline)
        is_same, self.subject = subject == self.subject, subject
        if is_same:
            return look
        return self._look(f"Looking at it again, with {subject.more_words}")

    def _look(self, stage: str, **more: object) -> FirstLook:
        self.jobs = self.jobs_for(self.subject)
        self._watcher.stage(stage)
        looker = Looker(self.request, self.subject, self.jobs, self.workspace, **more)
        self.first_look = looker.look()
        return self.first_look

    def jobs_for(self, subject: Subject, *, own_network: bool = False) -> Jobs:
        """What makes the jobs of a subject here."""
        return Jobs(
            self.request,
            subject,
            self.workspace,
            self.sandbox,
            own_network=own_network,
            nodes=self.nodes,
        )

    def room(self, seen: Survey) -> int:
        """How many runs the memory holds side by side."""
        free_mb = psutil.virtual_memory().available / 2**20
        return room_for_runs(seen, free_mb, self.request.nodes)

    def side_by_side(self) -> int:
        """How many runs have processors of their own: threads of two runs that share processors
        wait for one another, which takes several times as long."""
        threads = self.jobs.threads or processors()
        return max(1, processors() // (threads * self.request.nproc))

    def patience_s(self, seconds: float) -> float:
        """How long a run may be silent that should take so many seconds."""
        seen = self.first_look.original if self.first_look else None
        started_s = seen.start_s + sum(seen.times) if seen else 0.0
        return max(self.request.timeout_s, 20 * seconds, _SLOWER * started_s)

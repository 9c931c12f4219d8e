"""An experiment whose result is a profile, with times or, after a rehearsal, with counts."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from torchlint.experiment.machine import environment
from torchlint.experiment.session import STOPPED, Session
from torchlint.experiment.subject import Linted
from torchlint.profile.profile_result import Profile

if TYPE_CHECKING:
    from torchlint.runtime.survey_reader import Survey


class ProfileSession(Session[Linted, Profile]):
    """What is known of a program however it was run."""

    @property
    def survey(self) -> Survey | None:
        """The first look at the program, if there was one."""
        return self.first_look.original if self.first_look else None

    def without_findings(self) -> Profile:
        """How it ended, where, and what it left behind."""
        from torchlint.runtime.sandbox.side_effects import collect

        return Profile(
            argv=self.request.program.words,
            exit=self.code if self.stopped is None else self.stopped,
            summary=self.summary if self.stopped is None else STOPPED,
            seconds=0.0,
            command="profile" if self.request.played is None else "rehearse",
            date=date.today().isoformat(),
            environment=environment(self.jobs, self.survey),
            side_effects=collect(self.workspace.folders(), self.request.program.root),
        )

"""What a profile is doing, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.experiment.figures import duration, milliseconds
from torchlint.report.measured.progress_line import ProgressLine
from torchlint.report.profile import profile_words as words
from torchlint.report.terminal.safe_text import plural

if TYPE_CHECKING:
    from torchlint.profile.planned_runs import ProfilePlan
    from torchlint.profile.profile_result import RunFinding


class ProfileProgress(ProgressLine):
    """The line, with the plan of a profile."""

    def planned(self, plan: ProfilePlan, step_s: float, timing_s: float) -> None:
        """Which runs there will be, before the first of them.

        Args:
            plan: of the runs after the timing.
            step_s: seconds of a step, as the first look saw it.
            timing_s: seconds that the timing takes.
        """
        about = "; ".join(each.about for each in plan.diagnostics)
        self.say(f"A step takes about {milliseconds(1e3 * step_s)}.")
        if not plan.diagnostics:
            self.say(f"Plan: time the step, about {duration(timing_s)}, then try the values")
            return
        most = "at most " if any(each.most is not None for each in plan.diagnostics) else ""
        runs = plural(len(plan.diagnostics), "run")
        self.say(
            f"Plan: time the step, then {runs} of {most}{plan.steps} steps ({about}), about "
            f"{duration(timing_s + plan.seconds)} in all"
        )

    def limited(self, limit: str) -> None:
        """What a step waits for, as far as is known."""
        self.say(f"limit: {limit}")

    def found(self, finding: RunFinding) -> None:
        """A finding, before all runs have ended."""
        where = f"{words.place(finding)}: " if finding.path else ""
        costs = words.ceiling(finding)
        said = f"{finding.fact}; {costs}" if costs else finding.fact
        self.say(f"{where}{finding.code} {finding.name}: {said}")

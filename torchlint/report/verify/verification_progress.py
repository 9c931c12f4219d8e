"""What a verification is doing, on standard error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchlint.experiment.figures import duration, milliseconds
from torchlint.report.measured.progress_line import ProgressLine
from torchlint.report.terminal.safe_text import plural
from torchlint.report.verify.verification_words import plan as plan_words
from torchlint.verify.time_budget import room_words

if TYPE_CHECKING:
    from torchlint.verify.result import Numerics
    from torchlint.verify.time_budget import Layout


class VerificationProgress(ProgressLine):
    """The line, with the plan of a verification and how its numbers compare."""

    def plan(self, layout: Layout, step_s: float) -> None:
        """What will be measured, before it is, and roughly how long that takes.

        Args:
            layout: what fits into the budget.
            step_s: seconds of a step of the original.
        """
        needed = layout.needed
        self.expected_s = needed.looks[0] * needed.round
        self.say(f"A step takes {milliseconds(1e3 * step_s)}.")
        self.say(f"Plan: {', '.join(plan_words(layout.plan))}")
        first = f"about {duration(needed.first_verdict)} to the first verdict"
        self.say(f"{len(layout.variants)} programs, {first}, {self._at_most(layout)}")
        for sentence in room_words(layout):
            self.say(sentence)

    def _at_most(self, layout: Layout) -> str:
        """Until the last look, or the end of the budget where that comes first."""
        budget_s, needed_s = layout.plan.budget_s, layout.needed.at_most
        left_s = math.inf if budget_s is None else budget_s - self.spent_s
        if layout.needed.first_verdict > left_s:
            return f"and {duration(max(1.0, left_s))} are left of the budget"
        ends = "" if needed_s <= left_s else ", when the budget ends"
        return f"at most about {duration(min(needed_s, left_s))}{ends}"

    def numbers(self, who: str, found: Numerics) -> None:
        """How the numbers of a program compare, as soon as it is known."""
        over = f" over {plural(found.steps, 'step')}" if found.agreement.is_good else ""
        why = f": {found.why}" if found.why else ""
        self.say(f"Numbers, {who}: {found.agreement.value}{over}{why}")

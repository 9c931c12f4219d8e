"""What a verification is doing, on standard error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchlint.experiment.figures import before_and_after, duration, milliseconds, times
from torchlint.experiment.subject import CHANGED
from torchlint.report.measured.progress_line import ProgressLine
from torchlint.report.terminal.safe_text import plural
from torchlint.report.verify.verification_words import plan as plan_words
from torchlint.verify.time_budget import room_words

if TYPE_CHECKING:
    from torchlint.experiment.intervals import Estimate
    from torchlint.verify.result import Comparison, Numerics
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
        first = f"about {duration(needed.total)} to the first verdict"
        if needed.first_verdict > needed.total:
            first += f", {duration(needed.first_verdict)} to those on each fix"
            if needed.first_verdict > self._left_s(layout):
                first += " (the budget is probably too short for these)"
        self.say(f"{len(layout.variants)} programs, {first}, {self._at_most(layout)}")
        self.room(layout)

    def room(self, layout: Layout) -> None:
        """What does not fit into the budget."""
        for sentence in room_words(layout):
            self.say(sentence)

    def _at_most(self, layout: Layout) -> str:
        """Until the last look, or the end of the budget where that comes first."""
        left_s, needed_s = self._left_s(layout), layout.needed.at_most
        if layout.needed.total > left_s:
            return f"and {duration(max(1.0, left_s))} are left of the budget"
        ends = "" if needed_s <= left_s else ", when the budget ends"
        return f"at most about {duration(min(needed_s, left_s))}{ends}"

    def _left_s(self, layout: Layout) -> float:
        """Seconds of the budget."""
        budget_s = layout.plan.budget_s
        return math.inf if budget_s is None else budget_s - self.spent_s

    def so_far(self, found: Comparison) -> None:
        """What the pairs say before they are judged."""
        if found.estimate is not None:
            pairs, ratio = plural(found.estimate.pairs, "pair"), times(found.estimate)
            self.say(f"So far, {pairs}: {ratio.partition(' ')[0]}, {_step(found.estimate)}")

    def judged(self, who: str, found: Comparison) -> None:
        """A verdict, as soon as there is one; numbers have theirs."""
        if found.estimate is None:
            return
        name = "Changed program" if who == CHANGED else who.replace(":", " in ", 1)
        why = f" ({found.why})" if found.why else ""
        figures = f"{times(found.estimate)}, {_step(found.estimate)}"
        self.say(f"{name}: {found.verdict.value} {figures}{why}")

    def numbers(self, who: str, found: Numerics) -> None:
        """How the numbers of a program compare, as soon as it is known."""
        over = f" over {plural(found.steps, 'step')}" if found.agreement.is_good else ""
        why = f": {found.why}" if found.why else ""
        self.say(f"Numbers, {who}: {found.agreement.value}{over}{why}")


def _step(found: Estimate) -> str:
    return f"{before_and_after(found.ms)} a step"

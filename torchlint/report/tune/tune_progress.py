"""What a search is doing, on standard error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchlint.experiment.figures import before_and_after, times
from torchlint.report.measured.progress_line import ProgressLine
from torchlint.tune.fate import Fate

if TYPE_CHECKING:
    from torchlint.tune.fate import TriedCandidate
    from torchlint.verify.result import Comparison


class TuneProgress(ProgressLine):
    """The line, with what has become of each candidate."""

    def tried(self, found: TriedCandidate) -> None:
        """What became of a candidate, as soon as it is known."""
        gain = "" if found.alone is None else f" \N{MULTIPLICATION SIGN}{_times(found.alone)}"
        why = f": {found.why}" if found.why else ""
        outcome = "helps" if found.outcome is Fate.KEPT else found.outcome.value
        self.say(f"{found.id}: {outcome}{gain}{why}")

    def so_far(self, found: Comparison) -> None:
        """What the pairs say about all that is kept."""
        if found.estimate is not None:
            self.say(f"Together: {times(found.estimate)}, {before_and_after(found.estimate.ms)}")


def _times(log: float) -> str:
    return f"{math.exp(log):.2f}"

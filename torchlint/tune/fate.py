"""What became of what was tried."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Fate(str, Enum):
    """What became of a candidate."""

    KEPT = "kept"
    UNSETTLED = "looked faster, and the search ended before that was settled"
    NO_GAIN = "no gain"
    SLOWER = "slower"
    REPLACED = "another value is better"
    REDUNDANT = "adds nothing to the others"
    NUMBERS = "numbers differ"
    MEMORY = "needs too much memory"
    FAILED = "failed"
    YOURS = "your choice, since it changes what is learned"
    UNFIT = "does not go with the others"
    FIRST_WAY = "the first way of the same does not help"
    NOT_LIMITING = "the step does not wait for that"
    NOT_RUN = "its lines did not run"
    NO_TIME = "no time left"

    @property
    def was_tried(self) -> bool:
        return self not in (Fate.FIRST_WAY, Fate.NOT_LIMITING, Fate.NOT_RUN, Fate.NO_TIME)


@dataclass(slots=True)
class TriedCandidate:
    """What is known of a candidate.

    `alone` is the logarithm of how many times faster it made the program that was the best at that
    time, `adds` the same for what it adds to all others that are kept; `ceiling` how much faster
    the step could have been at most, and `step_s` what it took then.
    """

    id: str
    outcome: Fate
    why: str = ""
    alone: float | None = None
    adds: float | None = None
    ceiling: float = 1.0
    step_s: float = 0.0

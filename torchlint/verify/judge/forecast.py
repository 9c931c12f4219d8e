"""How many more pairs of processes a verdict would need."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.intervals import half_width

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.experiment.intervals import Sample

MOST_PAIRS: Final = 200
"""Nobody follows a plan of more."""
_LIKELY: Final = 2 / 3


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of a change, and what would settle it.

    Args:
        sample: the log ratios measured so far.
        floor: what a claim of a difference has to clear, as a log. What is more than `margin` in
            it is the machine's noise, which more pairs narrow as well.
        margin: what "no difference" has to fit into, as a log.
        alpha: level of the two-sided interval that settles it.
    """

    sample: Sample
    floor: float
    margin: float
    alpha: float

    def chance(self, size: int, *, all_new: bool) -> float:
        """How probably a look at `size` pairs settles it.

        Takes into account that the true ratio is known only from the pairs measured so far: to take
        the measured ratio for the true one would promise too much.

        Args:
            size: pairs at that look.
            all_new: all of them are new, rather than the measured ones and some more.
        """
        sample = self.sample
        if sample.size < 2:
            return 0.0
        share = sample.size / size
        spread = math.sqrt(1 + share if all_new else 1 - share)
        coming = replace(sample, sd=sample.sd * spread)
        half = half_width(sample.sd, size, self.alpha)
        claim = self._floor_at(size) + half
        settled = coming.p_below(claim) + coming.p_above(-claim)
        room = self.margin - half
        if room > 0:
            settled += coming.p_above(room) - coming.p_above(-room)
        return settled

    def _floor_at(self, size: int) -> float:
        if self.floor <= self.margin:
            return self.margin
        narrower = half_width(1.0, size, 0.05) / half_width(1.0, self.sample.size, 0.05)
        return max(self.margin, self.floor * narrower)


def pairs_needed(outlook: Outlook) -> int | None:
    """The pairs with which a new measurement settles it in two of three cases.

    None: more than `MOST_PAIRS`, or too little is known to say.
    """
    sizes = range(outlook.sample.size + 1, MOST_PAIRS + 1)
    return _first(sizes, lambda size: outlook.chance(size, all_new=True) >= _LIKELY)


def pairs_for_margin(sample: Sample, margin: float) -> int | None:
    """The pairs with which the 95 % interval reaches no further than `margin` (a log) from its
    middle; None if those are more than `MOST_PAIRS`."""
    sizes = range(2, MOST_PAIRS + 1)
    return _first(sizes, lambda size: half_width(sample.sd, size, 0.05) <= margin)


def _first(sizes: range, enough: Callable[[int], bool]) -> int | None:
    """The first size that is enough, given that all after it are."""
    found = bisect_left(sizes, True, key=enough)
    return sizes[found] if found < len(sizes) else None

"""Whether a changed program draws its first weights from the same distribution as the original.

When random numbers are realigned every run starts from the weights of the original, and a change of
how weights are made would go unseen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.verify.numbers.traces import Own

_SIGMAS: Final = 12.0
"""Of thousands of tensors that are drawn again, sparse ones too, none is so far off by chance."""
_FEWEST: Final = 32
"""Fewer numbers say too little about where they were drawn from."""
_ALIKE: Final = 1e-6


def other_weights(reference: Mapping[str, Own], other: Mapping[str, Own]) -> str:
    """Which parameter another program makes differently, in words; empty if none.

    Args:
        reference: size, mean and root mean square of the original's parameters, by name.
        other: of the other program's.
    """
    for name, mine in reference.items():
        theirs = other.get(name, mine)
        if not _could_be_drawn_alike(mine, theirs):
            return (
                f"{name} does not begin like the original's: its values have a mean of"
                f" {theirs[1]:.3g} and a root mean square of {theirs[2]:.3g},"
                f" there {mine[1]:.3g} and {mine[2]:.3g}"
            )
    return ""


def _could_be_drawn_alike(mine: Own, theirs: Own) -> bool:
    size, mean, rms = mine
    other_size, other_mean, other_rms = theirs
    if size != other_size or (mean, rms) == (other_mean, other_rms):
        return True
    if not all(map(math.isfinite, (mean, rms, other_mean, other_rms))):
        return math.isfinite(rms) == math.isfinite(other_rms)
    spread, other_spread = _spread(mean, rms), _spread(other_mean, other_rms)
    if min(spread, other_spread) <= _ALIKE * max(rms, other_rms):
        # One of them is a constant.
        near = _ALIKE * max(rms, other_rms)
        return abs(mean - other_mean) <= near and abs(spread - other_spread) <= near
    if size < _FEWEST:
        return True
    error = _SIGMAS / math.sqrt(size)
    shifted = abs(mean - other_mean) > error * math.hypot(spread, other_spread)
    # The tails of the usual distributions are no heavier than the normal one's.
    scaled = abs(math.log(spread / other_spread)) > error
    return not shifted and not scaled


def _spread(mean: float, rms: float) -> float:
    return math.sqrt(max(0.0, rms * rms - mean * mean))

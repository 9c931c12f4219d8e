"""Whether the GPU's clock was the same for both sides of a comparison, and from block to block."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Final

from torchlint.verify.result import Clocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.rotation import Block

    Pairs = Sequence[tuple[Sequence[Block], Sequence[Block]]]

MOST_SPREAD: Final = 0.05
"""From block to block, as a share of the median."""
MOST_APART: Final = 0.01
"""Between the two sides, as a share."""
_ODD: Final = 0.05
"""Share of the blocks at either end that may have any clock: medians tolerate them."""
_NO_GPU: Final = "no GPU is used"
_NO_NVML: Final = (
    "torch cannot read the GPU's clock; it asks NVML through the package nvidia-ml-py, and a "
    "driver may refuse it"
)


def clocks(pairs: Pairs) -> Clocks:
    """The clock of the GPU in the blocks of both sides.

    Args:
        pairs: the blocks of two programs, pair by pair.
    """
    sides = [[block for pair in pairs for block in pair[side]] for side in (0, 1)]
    blocks = [*sides[0], *sides[1]]
    if not any(block.gpu is not None for block in blocks):
        return Clocks(why=_NO_GPU)
    rates = [[block.clock_mhz for block in side if block.clock_mhz] for side in sides]
    if sum(map(len, rates)) < len(blocks):
        return Clocks(why=_NO_NVML)
    ordered = sorted([*rates[0], *rates[1]])
    odd = int(_ODD * len(ordered))
    low, high = ordered[odd], ordered[-1 - odd]
    return Clocks(
        mhz=(low, high),
        spread=(high - low) / median(ordered),
        apart=fmean(rates[1]) / fmean(rates[0]) - 1,
    )


def why_unfit(found: Clocks) -> str:
    """Why the clock leaves no verdict on identical programs; empty if it does not stand in the
    way."""
    if found.mhz is None or found.spread is None:
        return ""
    if found.spread > MOST_SPREAD:
        low, high = found.mhz
        return (
            f"the GPU's clock went from {low:.0f} to {high:.0f} MHz, which is {found.spread:.0%}; "
            "heat, its power limit or other work does that"
        )
    return why_apart(found)


def why_apart(found: Clocks) -> str:
    """Why the clock explains a part of the ratio of two programs; empty if it does not."""
    if found.apart is None or abs(found.apart) <= MOST_APART:
        return ""
    word = "lower" if found.apart < 0 else "higher"
    return (
        f"the GPU's clock was {abs(found.apart):.1%} {word} for the second program, so the ratio "
        "is partly that of the clocks"
    )

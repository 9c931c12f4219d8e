"""What a step takes at least on a card, by what was counted: three lower bounds, and no time.

Arithmetic divided by the card's peak, bytes by its bandwidth, and operations times the 5
microseconds that a fast host takes to order one from Python, which is an assumption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.runtime.probe.played.cards import Card

LAUNCH_S: Final = 5e-6
ARITHMETIC, MEMORY, LAUNCHES = "arithmetic", "memory", "launches"


def bounds(
    card: Card, flops: Mapping[str, float], traffic: float, launches: float
) -> dict[str, float]:
    """Seconds of a step, by what would limit it.

    Args:
        flops: operations by type; one that the card does not list runs as float32.
        traffic: bytes that all operations read and write.
        launches: operations.
    """
    slowest = card.flops["float32"]
    return {
        ARITHMETIC: sum(count / card.flops.get(kind, slowest) for kind, count in flops.items()),
        MEMORY: traffic / card.bandwidth,
        LAUNCHES: launches * LAUNCH_S,
    }

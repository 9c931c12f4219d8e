"""What each module costs in `forward`, for the table of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One module.

    Args:
        name: within its root: `encoder.blocks.3`.
        kind: name of its class.
        share: of the forward time, without the modules inside it.
        calls: in a step.
        parameters: own ones.
        shape: of its last output, as `16, 64, 112, 112`; empty if unknown.
        flops: of its products in a step, forward and backward, without the modules inside it; None
            if they were not counted.
        path: of the user's line that called it first, as it is shown; empty if there is none.
    """

    name: str
    kind: str
    share: float
    calls: float
    parameters: int
    shape: str
    flops: float | None = None
    path: str = ""
    row: int = 0

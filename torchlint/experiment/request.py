"""What the user asked to be verified."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.runtime.nodes.nodes import Spread
    from torchlint.runtime.probe.run_settings import PlayedDevice
    from torchlint.runtime.program import Program


@dataclass(frozen=True, slots=True)
class Design:
    """What is decided before measuring.

    Args:
        looks: pairs of processes at each look, growing. Two are the fewest that can be judged.
        alpha: probability that an interval misses the truth at any of the looks.
        margin: a ratio within 1 ± this is as good as 1.

    Raises:
        ValueError: a value that no measurement can follow.
    """

    looks: tuple[int, ...] = (4, 8, 16)
    alpha: float = 0.05
    margin: float = 0.02

    def __post_init__(self) -> None:
        if not self.looks or self.looks[0] < 1 or sorted(set(self.looks)) != list(self.looks):
            raise ValueError(f"looks must grow from 1 or more, not {self.looks}")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be between 0 and 1, not {self.alpha}")
        if not 0 < self.margin < 1:
            raise ValueError(f"margin must be between 0 and 1, not {self.margin}")

    @property
    def look_alpha(self) -> float:
        """What one look may spend of alpha: an equal share (Bonferroni)."""
        return self.alpha / len(self.looks)


@dataclass(frozen=True, slots=True)
class Request:
    """How to verify.

    Args:
        per_fix: measure each fix alone and after the others, not only all of them.
        steps: measured steps of each process; None chooses.
        warmup: steps before the first measured one; None chooses.
        budget_s: everything is done after this many seconds.
        begun: since when they count, by `time.monotonic`: since the command began, which has
            read the project by now.
        numbers_steps: steps whose numbers are compared; None chooses.
        numbers_from: the first of them, counted from 0.
        tolerance: how far the mean loss may move where numbers differ on purpose, as a share;
            None: what differs was not meant to.
        threads: torch's threads in each process; None chooses, unless `keep_env`.
        device: `auto`, `cpu` or `cuda`.
        nproc: processes of each run on each machine, started by torchrun if more than one.
        spread: how runs are spread over several machines; None: this one has them all.
        seed: seeds the runs and the order in which they take turns.
        keep_env: leave the allocator's settings and the threads as they are.
        stdin: what each run reads from its standard input; None: it has none.
        timeout_s: a run that sends nothing for this long has failed.
        must_count: what a step does is counted even where the time runs short, or nothing is
            changed.
        played: the GPU that the runs find; None: the machine's own, if it has one.
    """

    program: Program
    per_fix: bool = True
    steps: int | None = None
    warmup: int | None = None
    budget_s: float | None = None
    begun: float = field(default_factory=time.monotonic)
    numbers_steps: int | None = None
    numbers_from: int = 0
    tolerance: float | None = None
    threads: int | None = None
    device: str = "auto"
    nproc: int = 1
    spread: Spread | None = None
    seed: int = 0
    keep_env: bool = False
    stdin: bytes | None = None
    timeout_s: float = 120.0
    design: Design = field(default_factory=Design)
    played: PlayedDevice | None = None
    must_count: bool = False

    @property
    def deadline(self) -> float | None:
        """When the budget ends, by `time.monotonic`; None without one."""
        return None if self.budget_s is None else self.begun + self.budget_s

    @property
    def nodes(self) -> int:
        """Machines that a run is spread over."""
        return 1 if self.spread is None else self.spread.nodes

    @property
    def folder(self) -> str | None:
        """Where the runs' folders are; None: among temporary files."""
        return None if self.spread is None else self.spread.shared

"""All that the runs of a profile have shown."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from torchlint.runtime.probe.instrument_messages import INSTRUMENTS
from torchlint.runtime.probe.messages import Rehearsed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.runtime.survey_reader import Survey


REHEARSED: Final = "rehearsed"
"""Stands for an instrument: what the counted steps of a rehearsal asked of the played device."""
_NAMES: Final = {seen: name for name, seen in INSTRUMENTS.items()} | {Rehearsed: REHEARSED}
CUT: Final = 0.03
"""Of a step: what costs less is not worth a line."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a step takes, with the step meter alone.

    Args:
        step_s: seconds of a step.
        noise: half of the width of its interval, as a share of it.
        steps: measured.
        warmup: steps before them.
        cpu_s: processor seconds of the stepping process, per step.
        host_s: seconds that the host needs for a step, which on a GPU it only queues.
        ranks: seconds of a step of each rank, from 0 on; empty if there is one.
        growth_s: how many seconds a step took longer than the one before, of the process in which
            that is least; None if there are too few blocks.
    """

    step_s: float
    noise: float
    steps: int
    warmup: int
    cpu_s: float
    host_s: float
    ranks: tuple[float, ...] = ()
    growth_s: float | None = None


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Window(Generic[_T]):
    """What one instrument saw in some steps of one run, on one rank.

    Args:
        steps: in the window.
        seconds: they took together, with all instruments of the run.
        seen: what the instrument returned.
        others: the windows of the other ranks that sent one, if this rank's took longest.
        rank: its number.
        node: name of its machine, if there are several.
        held_s: seconds of them for which the thread that trains had no processor; None where the
            system does not say.
    """

    steps: int
    seconds: float
    seen: _T
    others: tuple[Window[_T], ...] = ()
    rank: int = 0
    node: str = ""
    held_s: float | None = None

    @property
    def ranks(self) -> tuple[Window[_T], ...]:
        """Those of all ranks, by their numbers."""
        return tuple(sorted((self, *self.others), key=lambda each: each.rank))

    def slowest(self, key: Callable[[Window[_T]], float]) -> Window[_T]:
        """That of the rank on which this is most; of the lowest such rank."""
        return max(self.ranks, key=key)

    @property
    def who(self) -> str:
        """`rank 3`, `rank 3 on node2`."""
        return f"rank {self.rank} on {self.node}" if self.node else f"rank {self.rank}"

    @property
    def step_s(self) -> float:
        """Seconds of a step of this run."""
        return self.seconds / self.steps


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a program.

    Args:
        survey: its first steps.
        timing: the undisturbed run.
        windows: by name of the instrument, of the rank that took longest; one that failed is
            missing.
        saved: by name of the instrument that changes what a step does, the share of a step that
            this saves at most, timed alternately with the program as it is.
        processors: that this process may use; of several machines, those of the one that has
            the fewest.
        ranks: processes that take steps.
        nodes: machines that they share.
        tried: names of the runs that there were, even of those that showed nothing.
        certain: names in `saved` whose rounds all but rule out that they save nothing.
    """

    survey: Survey
    timing: Timing
    windows: Mapping[str, Window[Any]] = field(default_factory=dict)
    saved: Mapping[str, float] = field(default_factory=dict)
    processors: int = 1
    ranks: int = 1
    nodes: int = 1
    tried: frozenset[str] = frozenset()
    certain: frozenset[str] = frozenset()

    @property
    def on_gpu(self) -> bool:
        return self.survey.device == "cuda"

    @property
    def rehearsed(self) -> bool:
        """Whether the GPU was played: what is counted is true of one, and nothing was timed."""
        return bool(self.survey.rehearsed)

    def window(self, seen: type[_T]) -> Window[_T]:
        """That of the instrument which returns such a message.

        Raises:
            KeyError: it is missing.
        """
        return self.windows[_NAMES[seen]]

    def window_or_none(self, seen: type[_T]) -> Window[_T] | None:
        """The same, if there is one."""
        return self.windows.get(_NAMES[seen])

    def looked_share(self, part: str) -> float:
        """What a part, as `backward`, was of a step of the first look, which nothing has slowed."""
        seen = self.survey
        step_s = statistics.median(seen.times) if seen.times else seen.step_s
        return seen.lanes.medians(max(0, seen.warm - 1)).get(part, 0.0) / step_s

    def at_most(self, seconds: float, window: Window[Any]) -> float:
        """The share of a step that some seconds of a window are, at most.

        Instruments make all else slower, too, so that a share of their window is often too small.
        Where it is worth a line it is compared with the undisturbed step as well, and the larger
        one counts; a machine that was busy in the window alone makes no finding of it, and no
        more than a step.
        """
        share = seconds / window.seconds
        undisturbed = seconds / window.steps / self.timing.step_s
        return max(share, undisturbed) if share >= CUT and undisturbed < 1 else share

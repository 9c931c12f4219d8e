"""The result of a search: plain frozen data that the reports read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from torchlint.tune.fate import Fate
from torchlint.verify.result import Verdict

if TYPE_CHECKING:
    from torchlint.experiment.machine import Environment
    from torchlint.runtime.sandbox.side_effects import SideEffect
    from torchlint.verify.result import Comparison, Noise

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class TriedChange:
    """What became of one candidate.

    `alone` is how many times faster it made the program that was the best when it was tried, and
    `adds` how many times faster it makes the program together with all others that are kept: both
    from two pairs, without an interval. `ceiling` is how many times faster the step could have been
    without all that the candidate can speed up, None if nobody knows.
    """

    id: str
    name: str
    message: str
    path: str
    row: int
    outcome: Fate
    why: str = ""
    alone: float | None = None
    adds: float | None = None
    ceiling: float | None = None
    may_change: str = ""
    numbers: str = ""
    diff: str = ""


@dataclass(frozen=True, slots=True)
class TuneResult:
    """What was found.

    Args:
        argv: the program, as it was given.
        step: what ends a step, in words.
        total: the original against the program with all that is kept; None: nothing is.
        noise: the original against itself, in the same minutes.
        changes: what became of each candidate, those that are kept first, by their worth.
        parts: seconds of a step by what they go into, of the original and of the faster program.
        memory_mb: the most that both took.
        first_s: seconds until the first step of both has ended, with the start.
        diff: the change, as `git apply` takes it.
        exit: the exit code.
        summary: one sentence about how it ended.
        given: the options on the command line that decide what is searched.
        how: the options with which `verify` measures a patch as the search did.
        written: files that `--patch` and `--apply` have written.
        patch: that of `--patch`; empty if it was not written.
    """

    argv: tuple[str, ...]
    environment: Environment
    step: str
    total: Comparison | None
    noise: Noise | None
    changes: tuple[TriedChange, ...]
    exit: int
    parts: tuple[dict[str, float], dict[str, float]] = ({}, {})
    memory_mb: tuple[float, float] | None = None
    first_s: tuple[float, float] | None = None
    diff: str = ""
    summary: str = ""
    notes: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    """What `check` finds in files that the script loads, and has no fix for."""
    side_effects: tuple[SideEffect, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    budget_s: float | None = None
    given: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    patch: str = ""

    @property
    def kept(self) -> tuple[TriedChange, ...]:
        return tuple(each for each in self.changes if each.outcome is Fate.KEPT)

    @property
    def is_faster(self) -> bool:
        """Whether the program with what is kept is faster for certain."""
        return self.total is not None and self.total.verdict is Verdict.CONFIRMED

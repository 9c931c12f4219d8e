"""What the search asks of whoever runs programs for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program that was run for some steps.

    Args:
        failed: why it fails; empty if it does not.
        unfit: it could not even be made.
        late: it fails only because it would take longer than there is time.
        parts: seconds of a step by what they went into.
        memory_mb: what it took at most.
        first_s: seconds of its first step, which compiles.
    """

    failed: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    memory_mb: float = 0.0
    first_s: float = 0.0
    unfit: bool = False
    late: bool = False


class NoTimeError(Exception):
    """What was asked for does not fit into the time that is left.

    Args:
        seconds: that it would take; 0: not known.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Lab(Protocol):
    """Runs programs."""

    @property
    def left(self) -> float:
        """The share of the time for the search that is left."""

    def attempt(self, programs: Sequence[tuple[str, ...]]) -> Sequence[Attempt | None]:
        """What comes of each program; None for one that there was no time for.

        Raises:
            NoTimeError: there was none for any of them; as all of these.
        """

    def measure(
        self, base: tuple[str, ...], others: Sequence[tuple[str, ...]]
    ) -> Sequence[Sequence[float] | None]:
        """For each other program, pair by pair, the logarithm of how many times faster it is than
        the base; empty for one that failed, None for one that there was no time for."""

    def wrong_numbers(self, programs: Sequence[tuple[str, ...]]) -> Sequence[str | None]:
        """What is wrong with the numbers of each program; empty for those that are right, None for
        those that there was no time for."""

    def unfit(self, program: tuple[str, ...]) -> str:
        """Why a program cannot be made; empty if it can."""

    def affordable(
        self, programs: Sequence[tuple[str, ...]], waiting: Sequence[tuple[str, ...]]
    ) -> int:
        """How many of these programs, the first and at least one, can be attempted and measured in
        the time that is left, if the numbers of those that wait, and of one more, are compared."""

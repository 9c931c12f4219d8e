"""Whether a changed program still computes the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.experiment.subject import ORIGINAL
from torchlint.verify.numbers.envelope import Envelope, repeats_but_for_rounding
from torchlint.verify.numbers.first_weights import other_weights
from torchlint.verify.numbers.outcome import describe, nothing_seen, repetition, wavers_alike
from torchlint.verify.numbers.traces import Trace, same_bits, shape_differs
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from torchlint.verify.numbers.envelope import Stray

ALLOWANCE: Final = 8.0
"""Times the envelope that a change may stray in every run and still count as rounding.

Measured on a CPU with 28 right pairs of programs (other kernels, layouts, optimizers, sums; two to
four seeds each, 56 in all) and 19 wrong ones (38 in all): the right ones strayed by 6.5 at most, of
the wrong ones all but momentum in bfloat16 by 10 at least. Judged by one run, three of the right
ones would have strayed by hundreds and more.
"""
DRAWS: Final = 3
RANDOM: Final = "random numbers"
"""A rule whose declaration has these words may change which numbers are drawn."""
SEEDED, REALIGNED = 0, 3


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run that is asked for.

    Args:
        variant: its name.
        level: how far random numbers are realigned (`runtime.probe.numbers.realign`). From 2 on
            all runs start from the weights of the original at the same level.
        perturb: change the first weights by one unit in the last place, signs drawn from this.
        again: tells runs apart that are otherwise the same.
    """

    variant: str
    level: int
    perturb: int | None = None
    again: int = 0


Runs = Callable[[Sequence[RunRequest]], Sequence[Trace]]
"""Runs programs, side by side if it likes, and returns their traces in the same order."""


def compare(run: Runs, variants: Mapping[str, str | None]) -> Iterator[tuple[str, Numerics]]:
    """How the numbers of each variant compare with the original's, as soon as it is known.

    First, under the original's own name: whether it repeats its numbers.

    Args:
        run: executes what is asked for.
        variants: names → what the rules behind them declare that they may change, or nothing.
    """
    names = [name for name in variants if name != ORIGINAL]
    asked = [
        RunRequest(ORIGINAL, SEEDED),
        RunRequest(ORIGINAL, SEEDED, again=1),
        *(RunRequest(name, SEEDED) for name in names),
    ]
    reference, again, *others = run(asked)
    seeded = dict(zip(names, others, strict=True))
    repeats = same_bits(reference, again)
    yield ORIGINAL, repetition(reference, again, same=repeats)
    left: dict[str, str] = {}
    for name, trace in seeded.items():
        if not reference.quantities:
            yield name, nothing_seen(reference)
        elif repeats and same_bits(reference, trace):
            yield name, describe(Agreement.BITWISE, reference, trace, level=SEEDED)
        else:
            left[name] = variants[name] or ""
    if left:
        realigned = _Realigned(run, list(left), repeats=repeats)
        realigned.look_again_at_strays()
        for name, declared in left.items():
            plain = (reference, seeded[name]) if repeats else None
            yield name, realigned.judge(name, declared, plain)


class _Realigned:
    """Compares variants whose numbers differ when random numbers are only seeded.

    Args:
        run: as above.
        names: of the variants.
        repeats: the original computes the same numbers every time.
    """

    def __init__(self, run: Runs, names: Sequence[str], *, repeats: bool) -> None:
        shaken = [RunRequest(ORIGINAL, REALIGNED, perturb=draw) for draw in range(1, DRAWS + 1)]
        plain = [RunRequest(name, REALIGNED) for name in names]
        once_more = [] if repeats else [RunRequest(ORIGINAL, REALIGNED, again=1)]
        first = RunRequest(ORIGINAL, REALIGNED)
        asked = [first, *shaken, *plain, *once_more]
        traces = dict(zip(asked, run(asked), strict=True))
        draws = [traces[request] for request in (*shaken, *once_more)]
        self._run = run
        self._reference = traces[first]
        again = self._reference if repeats else traces[once_more[0]]
        self._repeats = same_bits(self._reference, again)
        self._is_steady = repeats_but_for_rounding(self._reference, again)
        self._envelope = Envelope(self._reference, draws)
        self._runs = {request.variant: [traces[request]] for request in plain}

    def look_again_at_strays(self) -> None:
        """Run what strays a few times more, shaken like the original.

        Somewhere in a run a number that is next to zero may fall to its other side, and one unit
        of a ReLU less is many times what rounding makes. It falls in one run in ten or in a
        hundred, at some step. A change that matters is seen in every run, at the same step.
        """
        strays = [name for name in self._runs if self._has_to_be_confirmed(name)]
        asked = [
            RunRequest(name, REALIGNED, perturb=draw)
            for name in strays
            for draw in range(1, DRAWS + 1)
        ]
        if asked:
            for request, trace in zip(asked, self._run(asked), strict=True):
                self._runs[request.variant].append(trace)

    def judge(self, name: str, declared: str, plain: tuple[Trace, Trace] | None) -> Numerics:
        """The verdict on one variant.

        Args:
            name: of the variant.
            declared: what it may change.
            plain: the original and the variant with random numbers only seeded, if the original
                repeats itself then.
        """
        other = self._runs[name][0]
        broken = self._differs_beyond_numbers(other)
        if broken:
            return self._describe(Agreement.DIFFERS, other, broken)
        if self._repeats and same_bits(self._reference, other):
            return self._describe(Agreement.BITWISE, other, "after realigning random numbers")
        stray = self._envelope.stray(self._runs[name])
        if stray.ratio > ALLOWANCE:
            if declared and self._is_of_a_kind(other, declared):
                return self._describe(Agreement.DECLARED, other, declared, stray)
            where = f"most of all in {stray.quantity} at step {stray.step}"
            return self._describe(Agreement.DIFFERS, other, where, stray)
        unknown = self._why_unknown()
        if unknown:
            return self._describe(Agreement.UNKNOWN, other, unknown, stray)
        if plain is not None and not shape_differs(*plain):
            seeded = self._envelope.stray([plain[1]], plain[0])
            if seeded.ratio <= ALLOWANCE:
                return describe(
                    Agreement.ROUNDING, *plain, level=SEEDED, stray=seeded, envelope=self._envelope
                )
        why = "after realigning random numbers"
        return self._describe(Agreement.ROUNDING, other, why, stray)

    def _has_to_be_confirmed(self, name: str) -> bool:
        (other,) = self._runs[name]
        if self._differs_beyond_numbers(other) or same_bits(self._reference, other):
            return False
        return self._envelope.stray([other]).ratio > ALLOWANCE

    def _differs_beyond_numbers(self, other: Trace) -> str:
        return shape_differs(self._reference, other) or other_weights(
            self._reference.own, other.own
        )

    def _why_unknown(self) -> str:
        if not self._is_steady:
            return "two runs of the original are as far apart"
        if self._envelope.judged <= self._reference.first:
            when = (
                f"the loss of step {self._reference.first}"
                if self._reference.first
                else "the first loss"
            )
            return f"one unit in the last place of the first weights changes {when} as much"
        return ""

    def _is_of_a_kind(self, other: Trace, declared: str) -> bool:
        """Whether the difference can be what was declared.

        Other random numbers move a loss by no more than another batch does. Any other change of
        ours takes effect after the first loss.
        """
        pairs = list(zip(self._reference.losses, other.losses, strict=True))
        if not all(wavers_alike(mine, theirs, ALLOWANCE) for mine, theirs in pairs):
            return False
        if RANDOM in declared:
            return True
        return self._envelope.first_stray(other).ratio <= ALLOWANCE

    def _describe(
        self, agreement: Agreement, other: Trace, why: str, stray: Stray | None = None
    ) -> Numerics:
        return describe(
            agreement,
            self._reference,
            other,
            level=REALIGNED,
            why=why,
            stray=stray,
            envelope=self._envelope,
        )

"""Rounds of process pairs, look after look, until everything is settled or the plan ends."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.first_look import clash_of
from torchlint.experiment.plan import shorter
from torchlint.experiment.rotation import Round, rotate
from torchlint.experiment.steadiness import drifting, warming_up
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.runtime.failures import FINISHED, Failed, OutOfTime
from torchlint.runtime.probe.run_settings import MEASURE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torchlint.experiment.jobs import Jobs
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.rotation import Block
    from torchlint.experiment.subject import Variant
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.workspace import Workspace

    Blocks = tuple[Block, ...]
    Pairs = list[tuple[Blocks, Blocks]]

_MOST_EXTENSIONS: Final = 3
"""Of the warm-up, each to twice of what it was."""


@dataclass(frozen=True, slots=True)
class BlockStrip:
    """Seconds per step of each block of one pair, by variant; data for a chart."""

    pair: int
    seconds: dict[str, tuple[float, ...]]


def mean_of(one: Blocks, other: Blocks) -> Blocks:
    """Two runs of one program, block by block, as one of their mean speed.

    What a process has of its own, such as where its memory is, then counts half: the spread between
    pairs is by a seventh smaller than with one of the runs.
    """
    return tuple(_mean(*pair) for pair in zip(one, other, strict=True))


def _mean(one: Block, other: Block) -> Block:
    """The geometric mean, as ratios are what is compared. The peak of memory is that of one, since
    a peak of two runs would not compare with that of one."""
    if one.gpu is None or other.gpu is None:
        gpu = None
    else:
        gpu = _middle(one.gpu / one.steps, other.gpu / other.steps) * one.steps
    rates = one.clock_mhz, other.clock_mhz
    return replace(
        one,
        clock_mhz=None if None in rates else fmean(each or 0.0 for each in rates),
        wall=_middle(one.wall / one.steps, other.wall / other.steps) * one.steps,
        cpu=_middle(one.cpu / one.steps, other.cpu / other.steps) * one.steps,
        gpu=gpu,
    )


def _middle(one: float, other: float) -> float:
    return math.sqrt(one * other)


class Rounds:
    """Measures rounds: in each, every variant runs once in a new process, taking turns with the
    others of its rotation.

    Args:
        anchor: what ends a step.
        rotations: names of the variants that run side by side.
        ranks: processes of each run that take steps.
        serial_warmup: warm up one after the other, as GPUs choose kernels by timing them.
        one_at_a_time: the memory does not hold the runs of a rotation side by side, or they clash.
        clash: what a run failed with next to another one, and not alone.
        extends_warmup: warm up longer if the first round shows that it was too short.
        timeout_s: a process that sends nothing for this long has failed.
    """

    def __init__(
        self,
        jobs: Jobs,
        workspace: Workspace,
        plan: DeclaredPlan,
        variants: Sequence[Variant],
        *,
        anchor: Anchor,
        rotations: Sequence[tuple[str, ...]],
        ranks: int,
        serial_warmup: bool,
        one_at_a_time: bool,
        extends_warmup: bool,
        timeout_s: float,
        clash: str = "",
    ) -> None:
        self.plan = plan
        self.one_at_a_time = one_at_a_time or bool(clash)
        self.clash = clash
        self.finished = False
        self._jobs = jobs
        self._workspace = workspace
        self._variants = {variant.name: variant for variant in variants}
        self._anchor = anchor
        self._rotations = rotations
        self._ranks = ranks
        self._serial_warmup = serial_warmup
        self._extensions = _MOST_EXTENSIONS if extends_warmup else 0
        self._timeout_s = timeout_s
        self._measured: list[list[Mapping[str, Blocks]]] = []
        self._pace_s = 0.0
        self._random = random.Random(plan.seed)  # noqa: S311 - an order, not a secret

    def run_apart(self, clash: str) -> None:
        """From now on one after the other: a run failed with this next to another one."""
        self.one_at_a_time, self.clash = True, clash

    def measure(
        self,
        undecided: Callable[[], bool],
        *,
        deadline: float | None,
        progress: Callable[[int, int], None],
        goes_on: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Measure until nothing is undecided at a look, or all looks are done.

        Up to the first look, the changed program comes first, in rounds with the original alone.

        Args:
            undecided: asked after each look.
            deadline: of `time.monotonic`; no round begins that would probably end after it.
            progress: called with the rounds done and those of the coming look.
            goes_on: asked once the changed program has all rounds of the first look: whether the
                other variants are measured.

        Returns:
            whether the deadline ended it.

        Raises:
            Failed: a run failed.
            ExperimentError: the script takes too few steps to measure one.
        """
        whole, *others = _whole_first(self._rotations)
        for look in self.plan.looks:
            late = False
            if self._measured:
                late = self._reach(look, self._rotations, deadline, progress)
            else:
                late = self._reach(look, (whole,), deadline, progress)
                if not late and not goes_on():
                    self._rotations, others = (whole,), []
                if not late and others:
                    late = self._reach(look, others, deadline, progress, beside=True)
            if late or not undecided():
                return late
        return False

    def seconds_of(self, programs: int) -> float:
        """What a round of so many programs takes, by the slowest one so far."""
        return self._pace_s * programs

    def _reach(
        self,
        look: int,
        rotations: Sequence[tuple[str, ...]],
        deadline: float | None,
        progress: Callable[[int, int], None],
        *,
        beside: bool = False,
    ) -> bool:
        """Measure these rotations until there are as many rounds as at the look.

        Args:
            beside: the rounds have other rotations already, to which these are added.

        Returns:
            whether the deadline ended it.
        """
        programs = sum(map(len, rotations))
        pair = 0 if beside else len(self._measured)
        while pair < look:
            begun = time.monotonic()
            if deadline is not None and begun + self.seconds_of(programs) > deadline:
                return True
            progress(pair, look)
            try:
                measured = self._round(rotations)
            except OutOfTime:
                return True
            self._pace_s = max(self._pace_s, (time.monotonic() - begun) / programs)
            if not all(_runs(measured)):
                self._shorten()
                continue
            if beside:
                self._measured[pair] += measured
            elif not self._measured and self._warms_up_longer(measured):
                continue
            else:
                self._measured.append(measured)
            pair += 1
        progress(look, look)
        return False

    def unsteady(self) -> tuple[int, int]:
        """How many runs had not warmed up when they were measured, and how many there were."""
        runs = [blocks for measured in self._measured for blocks in _runs(measured)]
        return sum(_compiles(blocks) or drifting(_seconds(blocks)) for blocks in runs), len(runs)

    def throttled(self) -> tuple[int, int]:
        """In how many blocks the GPU's clock was held back, and how many there were."""
        blocks = [each for measured in self._measured for run in _runs(measured) for each in run]
        return sum(block.throttled is True for block in blocks), len(blocks)

    def pairs(self, before: str, after: str) -> Pairs:
        """The blocks of two variants that took turns, pair by pair; those of the original are the
        means of both of its runs, where both took turns with the other variant."""
        measured_pairs: Pairs = []
        for groups in self._measured:
            for blocks in groups:
                if before in blocks and after in blocks:
                    first = blocks[before]
                    if before == ORIGINAL and after != AGAIN and AGAIN in blocks:
                        first = mean_of(first, blocks[AGAIN])
                    measured_pairs.append((first, blocks[after]))
                    break
        return measured_pairs

    def strips(self) -> tuple[BlockStrip, ...]:
        """Seconds per step of the original, itself again and the changed program."""
        names = (ORIGINAL, AGAIN, CHANGED)
        return tuple(
            BlockStrip(
                pair,
                {name: tuple(b.seconds for b in groups[0][name]) for name in names},
            )
            for pair, groups in enumerate(self._measured)
        )

    def _warms_up_longer(self, measured: list[Mapping[str, Blocks]]) -> bool:
        """Whether to do this first round again. Only the pace within each process decides, never
        how the variants compare; and only runs that become faster, since what becomes slower
        does not warm up."""
        runs = _runs(measured)
        cold = sum(_compiles(blocks) or warming_up(_seconds(blocks)) for blocks in runs)
        if self.finished or not self._extensions or 2 * cold <= len(runs):
            return False
        self._extensions -= 1
        self.plan = replace(self.plan, warmup=max(1, 2 * self.plan.warmup))
        return True

    def _shorten(self) -> None:
        """Warm up and measure half as long: the script ended before its first block did.

        Raises:
            ExperimentError: a block has no more than one step.
        """
        if self.plan.steps == 1:
            raise ExperimentError(
                "The script ended before a step could be measured; let it train longer.", code=6
            )
        self.plan = shorter(self.plan)

    def _round(self, rotations: Sequence[tuple[str, ...]]) -> list[Mapping[str, Blocks]]:
        blocks: list[Mapping[str, Blocks]] = []
        for names in rotations:
            seed = self._random.randrange(2**32)
            try:
                blocks.append(self._together(names, seed))
            except Failed as failed:
                if self.one_at_a_time or failed.status == FINISHED:
                    raise
                # They do not fit into the memory together, or wait for one port or lock; or one
                # of them fails alone as well.
                blocks.append(self._apart(names, seed))
                self.run_apart(clash_of(failed))
        return blocks

    def _together(self, names: Sequence[str], seed: int) -> Mapping[str, Blocks]:
        return (self._apart if self.one_at_a_time else self._rotate)(names, seed)

    def _apart(self, names: Sequence[str], seed: int) -> Mapping[str, Blocks]:
        order = list(names)
        random.Random(seed).shuffle(order)  # noqa: S311
        blocks: dict[str, Blocks] = {}
        for name in order:
            blocks.update(self._rotate((name,), seed))
        least = min(len(each) for each in blocks.values())
        return {name: each[:least] for name, each in blocks.items()}

    def _rotate(self, names: Sequence[str], seed: int) -> Mapping[str, Blocks]:
        plan = self.plan
        done: Round = rotate(
            {
                name: self._jobs.job(self._variants[name], MEASURE, anchor=self._anchor)
                for name in names
            },
            self._workspace,
            warmup=plan.warmup,
            settle=plan.settle,
            steps=plan.steps,
            blocks=plan.blocks,
            seed=seed,
            timeout_s=self._timeout_s,
            serial_warmup=self._serial_warmup,
            ranks=self._ranks,
        )
        self.finished |= done.finished
        return done.blocks


def _whole_first(rotations: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same, with the whole change in a rotation of its own at the start."""
    whole = (ORIGINAL, AGAIN, CHANGED)
    (first, *more), *others = rotations
    if len(rotations) > 1 or len(more) < len(whole):
        return list(rotations)
    rest = tuple(name for name in (first, *more) if name not in whole)
    return [whole, (ORIGINAL, CHANGED, *rest), *others]


def _runs(measured: Iterable[Mapping[str, Blocks]]) -> list[Blocks]:
    return [blocks for group in measured for blocks in group.values()]


def _seconds(blocks: Blocks) -> list[float]:
    return [block.seconds for block in blocks]


def _compiles(blocks: Blocks) -> bool:
    return any(block.compiled for block in blocks)

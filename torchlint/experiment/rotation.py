"""Measures several variants of a program alternately; all but one of them are stopped."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime.decoding import MalformedError, Message
from torchlint.runtime.failures import FINISHED, TIMEOUT, Failed
from torchlint.runtime.probe.messages import Timed
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torchlint.runtime.channel import Peer
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

_GRACE_S: Final = 10.0
"""From the end of one training process to that of the script that started it."""
_LOOK_S: Final = 2.0
"""How soon a run is seen to wait for another one, which is stopped."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some steps, measured together.

    Seconds are those of the whole block: `wall`, `cpu` of the process that took the steps, `gpu`
    between two events of its stream. `memory_mb` is the peak so far; `throttled` says whether the
    GPU's clock was held back, None if that is not known; `compiled` that `torch.compile` was at
    work in between; `altered` that instruments changed what a step does. `ranks` has the seconds
    per step of each rank, if this block is that of the slowest of several; `clock_mhz` is the GPU's
    at its end, None if that is not known.
    """

    steps: int
    wall: float
    cpu: float
    gpu: float | None
    memory_mb: float
    throttled: bool | None
    compiled: bool = False
    altered: bool = False
    ranks: tuple[tuple[int, float], ...] = ()
    clock_mhz: float | None = None

    @property
    def seconds(self) -> float:
        """Per step: on the GPU if there is one."""
        return (self.wall if self.gpu is None else self.gpu) / self.steps


@dataclass(frozen=True, slots=True)
class Round:
    """Blocks by variant, as many of each, in the order in which they were measured.

    `finished`: a script ended before all blocks were measured.
    """

    blocks: dict[str, tuple[Block, ...]]
    finished: bool


def rotate(
    jobs: Mapping[str, Job],
    workspace: Workspace,
    *,
    warmup: int,
    settle: int,
    steps: int,
    blocks: int,
    seed: int,
    timeout_s: float,
    serial_warmup: bool = False,
    ranks: int | None = None,
) -> Round:
    """Start all jobs side by side and let them take turns, in an order drawn again for every round.

    Args:
        jobs: by name of the variant.
        workspace: where they live.
        warmup: steps of each before the first round.
        settle: steps at the start of a turn that do not count: caches and queues fill again.
        steps: measured steps of a turn.
        blocks: rounds of turns.
        seed: draws the order.
        timeout_s: a run that sends nothing for this many seconds has failed.
        serial_warmup: from the start to the end of the warm-up, run one after the other: what
            chooses kernels by timing them has to be alone.
        ranks: processes of each run that take steps, as the survey counted them; None: as many
            as are started.

    Raises:
        Failed: one of the runs failed, or ended before its first step.
    """
    order = random.Random(seed)  # noqa: S311 - an order, not a secret
    with ExitStack() as stack:
        runners = {
            name: _Runner(stack.enter_context(Run(job, workspace)), ranks, timeout_s)
            for name, job in jobs.items()
        }
        for runner in runners.values():
            runner.beside = [each.run for each in runners.values() if each is not runner]
            runner.run.greet(timeout_s)
        try:
            if serial_warmup:
                for name in _drawn(order, runners):
                    _begin([runners[name]], warmup)
            else:
                _begin([runners[name] for name in _drawn(order, runners)], warmup)
            for _ in range(blocks):
                for name in _drawn(order, runners):
                    runners[name].measure(settle, steps)
        except Failed as failed:
            if failed.status != FINISHED or not all(each.stepped for each in runners.values()):
                raise
    return _cut(runners, blocks)


def _drawn(order: random.Random, names: Iterable[str]) -> list[str]:
    drawn = list(names)
    order.shuffle(drawn)
    return drawn


def _cut(runners: Mapping[str, _Runner], blocks: int) -> Round:
    """A round that not every variant has ended is left out."""
    least = min((len(runner.blocks) for runner in runners.values()), default=0)
    measured = {name: tuple(runner.blocks[:least]) for name, runner in runners.items()}
    return Round(measured, finished=least < blocks)


def _begin(runners: list[_Runner], warmup: int) -> None:
    """Bring runs to their first step side by side, then warm them up one after the other."""
    for runner in runners:
        runner.run.start()
    for runner in runners:
        runner.reach_first_step()
    for runner in runners:
        runner.turn(warmup, 0)


class _Runner:
    """One run in the rotation; stopped whenever none of its methods is being called."""

    def __init__(self, run: Run, ranks: int | None, timeout_s: float) -> None:
        self.run = run
        self.beside: list[Run] = []
        self.blocks: list[Block] = []
        self._ranks = run.launcher.processes if ranks is None else ranks
        self._timeout_s = timeout_s
        self._steppers: list[Peer] = []

    @property
    def stepped(self) -> bool:
        """Whether it has reached its first step."""
        return bool(self._steppers)

    def reach_first_step(self) -> None:
        """Wait until every process that takes steps has taken one."""
        while len(self._steppers) < self._ranks:
            peer, message = self._next("reach its first step")
            if message.kind == "ready":
                self._steppers.append(peer)
        self.run.freeze()

    def measure(self, settle: int, steps: int) -> None:
        """Measure a block."""
        self.blocks.append(_slowest(self.turn(settle, steps)))

    def turn(self, settle: int, steps: int) -> dict[Peer, Block]:
        """Let it take some steps; the blocks of all its processes."""
        self.run.thaw()
        for peer in self._steppers:
            self.run.send(peer, "turn", settle=settle, steps=steps)
        measured: dict[Peer, Block] = {}
        while len(measured) < len(self._steppers):
            peer, message = self._next("end its turn")
            if message.kind == "ready":  # a process that takes its first step only now
                self._steppers.append(peer)
                self.run.send(peer, "turn", settle=settle, steps=steps)
            elif message.kind == "block":
                measured[peer] = self._block(message, least=min(steps, 1))
        self.run.freeze()
        return measured

    def _block(self, message: Message, *, least: int) -> Block:
        try:
            block = Block(**asdict(message.read(Timed)))
            if block.steps < least or (least and block.seconds <= 0):
                raise MalformedError(f"a block of {block.steps} steps in {block.wall} s")
        except MalformedError as error:
            raise self.run.malformed(error) from error
        return block

    def _next(self, doing: str) -> tuple[Peer, Message]:
        """The next message that matters. Once a process that takes steps is gone, only the end
        of the script is worth a short wait."""
        leaving = any(peer.gone or peer.ended for peer in self._steppers)
        left = _GRACE_S if leaving else self._timeout_s
        while left > 0:
            found = self.run.poll(min(left, _LOOK_S))
            if found is not None:
                return found
            if self.run.waits_for(self.beside):
                words = "It waits for a lock that another run holds."
                raise Failed(TIMEOUT, words, name=self.run.name)
            left -= 0.0 if self.run.compiling else _LOOK_S
        if leaving:
            raise Failed(FINISHED, "A training process ended.", name=self.run.name)
        raise self.run.timed_out(self._timeout_s, doing)


def _slowest(measured: Mapping[Peer, Block]) -> Block:
    """What a step costs all the processes together: they wait for one another."""
    blocks = list(measured.values())
    by_rank = sorted((peer.rank, block.seconds) for peer, block in measured.items())
    flags = [block.throttled for block in blocks if block.throttled is not None]
    return replace(
        max(blocks, key=lambda block: block.seconds),
        memory_mb=max(block.memory_mb for block in blocks),
        throttled=any(flags) if flags else None,
        compiled=any(block.compiled for block in blocks),
        ranks=tuple(by_rank) if len(by_rank) > 1 else (),
    )

"""Surveys a program: where its steps end, how long they take, what it executes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Final

from torchlint.runtime.failures import FINISHED, Failed
from torchlint.runtime.messages import MalformedError, Message
from torchlint.runtime.probe.settings import Anchor
from torchlint.runtime.probe.steps.executed_lines import NOTES
from torchlint.runtime.processes.network import Network
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from torchlint.runtime.channel import Peer
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

_GRACE_S: Final = 5.0
"""From the first process that has seen enough to the last."""
_LANES: Final = ("data", "forward", "backward", "optimizer", "other")
_TRAINING: Final = ("optimizer", "backward")
_KINDS: Final = (*_TRAINING, "forward", "loader", None)
"""Of anchors, from the best boundary of a step to none."""

_NO_NETWORK: Final = Network()

Counts = Mapping[str, int | tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where the time of a step goes in seconds, step by step."""

    data: tuple[float, ...] = ()
    forward: tuple[float, ...] = ()
    backward: tuple[float, ...] = ()
    optimizer: tuple[float, ...] = ()
    other: tuple[float, ...] = ()

    def medians(self, start: int = 0) -> dict[str, float]:
        """Seconds of a step by what they went into; of the steps from `start` on, if there are
        any."""
        return {
            name: median(times[start:] or times) for name, times in asdict(self).items() if times
        }


@dataclass(frozen=True, slots=True)
class Survey:
    """What a program does, seen from its first process that takes steps.

    Args:
        anchor: what ends a step; None: no step was seen.
        words: the same for people: `AdamW.step (optimizer 1 of 2)`.
        steps: steps seen, by the process that saw the fewest.
        step_s: seconds of a steady step, of the slowest process.
        times: seconds of each step.
        warm: steps until nothing new was compiled and no new shape came.
        finished: the script ended before as many steps as wanted.
        counts: how often each kind of event was seen; for optimizers, one by one.
        lanes: seconds of each step by what they went into.
        exercised: ids of the places that ran, in any process.
        exercise_known: a place that is not among them did not run.
        served: real paths of the sources that were served, to any process.
        files: real paths of the Python files of the project that any process had loaded.
        compiled: `torch.compile` compiled something.
        memory_mb: the highest peak of any process in main memory.
        device: `cpu` or `cuda`.
        gpu_name: of the GPU, if there is one.
        gpu_mb: the most that torch has reserved on the GPU in any process; None without one.
        gpu_free_mb: the least that a process could reserve there; None without one.
        processes: how many take steps.
        start_s: seconds from the start of the processes to the first step.
        network: what its processes had to do with it at the end.
        ahead: batches that a loader's workers prepare while the script stands still.
    """

    anchor: Anchor | None
    words: str
    steps: int
    step_s: float
    times: tuple[float, ...]
    warm: int
    finished: bool
    counts: Counts
    lanes: Lanes
    exercised: frozenset[str]
    exercise_known: bool
    served: tuple[str, ...]
    compiled: bool
    memory_mb: float
    device: str
    gpu_name: str | None
    gpu_mb: float | None
    gpu_free_mb: float | None
    processes: int
    start_s: float
    network: Network = _NO_NETWORK
    ahead: int = 0
    files: tuple[str, ...] = ()


def survey(job: Job, workspace: Workspace, *, timeout_s: float) -> Survey:
    """Run the job until each of its processes has seen enough steps.

    A script that ends before is no failure if it took a step: the survey says `finished`.

    Args:
        timeout_s: a run that sends nothing for this many seconds has failed.

    Raises:
        Failed: the script failed, or ended without anything that could be a step.
    """
    begun = time.monotonic()
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        heard: dict[Peer, Message] = {}
        spent: list[float] = []
        try:
            try:
                _listen(run, heard, lambda: spent.append(time.monotonic() - begun), timeout_s)
            except Failed as failed:
                if failed.status != FINISHED or not heard:
                    raise
            return replace(_merged(heard, run.folder, spent[0]), network=run.network())
        except MalformedError as error:
            raise run.malformed(error) from error


def _listen(
    run: Run, heard: dict[Peer, Message], first: Callable[[], None], timeout_s: float
) -> None:
    """Collect a survey of every process, until all that can be expected are there.

    Args:
        first: called when the first is there.
    """
    deadline: float | None = None
    while True:
        wait_s = timeout_s if deadline is None else deadline - time.monotonic()
        found = run.poll(max(0.0, wait_s))
        if found is None and deadline is not None:
            return  # the others do not step
        if found is None:
            raise run.timed_out(timeout_s, "take enough steps")
        peer, message = found
        if message.type == "survey":
            if not heard:
                first()
            heard[peer] = message
            if _is_enough(run, heard):
                return
            if deadline is None:
                deadline = time.monotonic() + _GRACE_S


def _is_enough(run: Run, heard: Mapping[Peer, Message]) -> bool:
    """Whether there is nothing left to wait for. A script that leaves the training to its children
    sends no survey itself; one that has ended still has to say how."""
    if any(message.flag("finished") for message in heard.values()):
        return False
    trained = [peer for peer, said in heard.items() if not peer.main and _kind(said) in _TRAINING]
    if trained:
        # Without a process group their number is unknown; they all report at about this time.
        return max(peer.world for peer in trained) == len(trained) > 1
    return all(peer in heard or peer.gone for peer in run.peers)


def _merged(heard: Mapping[Peer, Message], folder: str, spent_s: float) -> Survey:
    """One survey of those processes whose steps end in the same way: a process that only runs
    the model, beside one that trains it, is no rank.

    Args:
        spent_s: seconds from the start to the first of these messages.
    """
    best = min(map(_kind, heard.values()), key=_KINDS.index)
    ranks = sorted((peer for peer in heard if _kind(heard[peer]) == best), key=lambda p: p.rank)
    every, stepping = list(heard.values()), [heard[peer] for peer in ranks]
    first, lanes, anchor = stepping[0], stepping[0].part("lanes"), stepping[0].part("anchor")
    return Survey(
        anchor=Anchor(anchor.text("kind"), anchor.integer("index", 0)) if anchor else None,
        words=first.text("words", ""),
        steps=min(each.integer("steps") for each in stepping),
        step_s=max(each.number("step_s") for each in stepping),
        times=first.numbers("times"),
        warm=max(each.integer("warm", 0) for each in stepping),
        finished=any(each.flag("finished") for each in stepping),
        counts=_counts(first.part("counts")),
        lanes=Lanes(*(lanes.numbers(name) for name in _LANES)) if lanes else Lanes(),
        exercised=noted(folder).union(*(each.texts("exercised") for each in every)),
        exercise_known=all(each.flag("exercise_known") for each in every),
        served=_joined(every, "served"),
        files=_joined(every, "files"),
        compiled=any(each.flag("compiled") for each in every),
        memory_mb=max(each.number("memory_mb") for each in stepping),
        device=first.text("device"),
        gpu_name=first.text_or_none("gpu_name"),
        gpu_mb=max(_known(stepping, "gpu_mb"), default=None),
        gpu_free_mb=min(_known(stepping, "gpu_free_mb"), default=None),
        processes=len(stepping) if anchor else 1,
        ahead=max(each.integer("ahead", 0) for each in stepping),
        start_s=max(0.0, spent_s - sum(first.numbers("times"))),
    )


def _joined(messages: Sequence[Message], key: str) -> tuple[str, ...]:
    return tuple(sorted({text for message in messages for text in message.texts(key)}))


def _known(messages: Sequence[Message], key: str) -> list[float]:
    found = [message.number_or_none(key) for message in messages]
    return [each for each in found if each is not None]


def _kind(message: Message) -> str | None:
    """Of the event that ends its steps."""
    anchor = message.part("anchor")
    kind = anchor.text("kind") if anchor else None
    if kind not in _KINDS:
        raise MalformedError(f"an anchor {kind}")
    return kind


def _counts(counts: Message | None) -> dict[str, int | tuple[int, ...]]:
    return {
        kind: counts.integers(kind) if isinstance(value, list) else counts.integer(kind)
        for kind, value in (counts.values.items() if counts else ())
        if counts is not None
    }


def noted(folder: str) -> frozenset[str]:
    """Ids of the places that the loader's workers saw running; they have no connection.

    Args:
        folder: of the run.
    """
    try:
        with open(os.path.join(folder, NOTES), encoding="utf-8") as stream:
            return frozenset(stream.read().split("\n")) - {""}
    except OSError:
        return frozenset()

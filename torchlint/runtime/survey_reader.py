"""Surveys a program: where its steps end, how long they take, what it executes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.probe.messages import Surveyed
from torchlint.runtime.probe.wrapping.executed_lines import NOTES
from torchlint.runtime.processes.network import Network
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from torchlint.runtime.channel import Peer
    from torchlint.runtime.probe.messages import Lanes, Rehearsed
    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

_TRAINING: Final = ("optimizer", "backward")
_KINDS: Final = (*_TRAINING, "forward", "loader", None)
"""Of anchors, from the best boundary of a step to none."""

_NO_NETWORK: Final = Network()

Counts = Mapping[str, int | tuple[int, ...]]


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
        ahead: batches that a loader's workers prepare while the script is stopped.
        stream_workers: the most workers that read one `IterableDataset`, which has to share its
            samples out among them.
        rehearsed: what each rank asked of a played device, by its number; empty without one.
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
    stream_workers: int = 0
    files: tuple[str, ...] = ()
    rehearsed: tuple[Rehearsed, ...] = ()


def survey(
    job: Job, workspace: Workspace, *, timeout_s: float, compiling_s: float = math.inf
) -> Survey:
    """Run the job until each of its processes has seen enough steps.

    A script that ends before is not a failure if it took a step: the survey says `finished`.

    Args:
        timeout_s: a run that sends nothing for this many seconds has failed, unless it compiles.
        compiling_s: one that compiles, too, has failed after so many seconds.

    Raises:
        Failed: the script failed, or ended without anything that could be a step.
    """
    begun = time.monotonic()
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        heard: dict[Peer, Surveyed] = {}
        spent_s = 0.0
        try:
            doing = "take enough steps"
            for peer, message in run.reports("survey", timeout_s, doing, compiling_s=compiling_s):
                spent_s = spent_s or time.monotonic() - begun
                heard[peer] = message.read(Surveyed)
                if _kind(heard[peer]) not in _KINDS:
                    raise MalformedError(f"an anchor {_kind(heard[peer])}")
                if _is_enough(run, heard):
                    break
            return replace(_merged(heard, run.folder, spent_s), network=run.network())
        except MalformedError as error:
            raise run.malformed(error) from error


def _is_enough(run: Run, heard: Mapping[Peer, Surveyed]) -> bool:
    """Whether there is nothing left to wait for. A script that leaves the training to its children
    sends no survey itself; one that has ended still has to say how."""
    if any(surveyed.finished for surveyed in heard.values()):
        return False
    trained = [peer for peer, said in heard.items() if not peer.main and _kind(said) in _TRAINING]
    if trained:
        # Without a process group their number is unknown; they all report at about this time.
        return max(peer.hello.world for peer in trained) == len(trained) > 1
    return all(peer in heard or peer.gone for peer in run.peers)


def _merged(heard: Mapping[Peer, Surveyed], folder: str, spent_s: float) -> Survey:
    """One survey of those processes whose steps end in the same way: a process that only runs the
    model, next to one that trains it, is not a rank.

    Args:
        spent_s: seconds from the start to the first of these messages.
    """
    best = min(map(_kind, heard.values()), key=_KINDS.index)
    ranks = sorted((peer for peer in heard if _kind(heard[peer]) == best), key=lambda p: p.rank)
    every, stepping = list(heard.values()), [heard[peer] for peer in ranks]
    first = stepping[0]
    return Survey(
        anchor=first.anchor,
        words=first.words,
        steps=min(each.steps for each in stepping),
        step_s=max(each.step_s for each in stepping),
        times=tuple(first.times),
        warm=max(each.warm for each in stepping),
        finished=any(each.finished for each in stepping),
        counts=first.counts,
        lanes=first.lanes,
        exercised=noted(folder).union(*(each.exercised for each in every)),
        exercise_known=all(each.exercise_known for each in every),
        served=tuple(sorted({path for each in every for path in each.served})),
        files=tuple(sorted({path for each in every for path in each.files})),
        compiled=any(each.compiled for each in every),
        memory_mb=max(each.memory_mb for each in stepping),
        device=first.device,
        gpu_name=first.gpu_name,
        gpu_mb=max((each.gpu_mb for each in stepping if each.gpu_mb is not None), default=None),
        gpu_free_mb=min(
            (each.gpu_free_mb for each in stepping if each.gpu_free_mb is not None), default=None
        ),
        processes=len(stepping) if first.anchor else 1,
        ahead=max(each.ahead for each in stepping),
        stream_workers=max(each.stream_workers for each in stepping),
        rehearsed=tuple(each.rehearsed for each in stepping if each.rehearsed is not None),
        start_s=max(0.0, spent_s - sum(first.times)),
    )


def _kind(surveyed: Surveyed) -> str | None:
    """Of the event that ends its steps."""
    return surveyed.anchor.kind if surveyed.anchor else None


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

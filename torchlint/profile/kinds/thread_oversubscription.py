"""Give each worker one thread if there are no processors for more.

## What it does
Reports a `DataLoader` whose workers have pools of threads of their own, as OpenCV and OpenBLAS
start them, if that makes more threads than processors, if they wait for processors, and if the step
waits for them. It also reports a training process that torch lets compute with more threads than it
may use processors, if the thread that trains then waits for one.

## Why it is slow
torch computes with one thread in each worker, but other libraries do not know of that: each starts
as many threads as there are processors, in each worker. They take the processors from each other
and from the training process, and threads that wait for the others of their pool spin meanwhile.

## How it is seen
In the first worker of each loader, Linux tells for how long each thread ran and for how long it
could have run and had no processor. A thread counts if it is at work for a tenth of what the main
thread is; those that Python started do not count. OpenCV and OpenBLAS are asked for the
number of threads that they may use. Where such pools are found, the step is timed with one thread
in each worker, alternating with the program as it is.

## What the ceiling means
What the step waits for its batches, times the part of the workers' time in which they had no
processor, and the time for which the thread that trains had none; or what one thread in each worker
saved in these turns, if that is less. Of torch's own threads, the time for which
the thread that trains had no processor.

## When it is silent
- If all threads together, as far as they could run, are not more than the processors, however busy
  other processes keep them.
- If the step neither waits for batches nor for a processor, or if one thread in each worker makes
  it no shorter. If the machine is too busy to tell, the finding has no ceiling.
- For workers that are not forks of the training process, and on systems other than Linux.
- About workers with one thread each, however many there are (TR102).

## What to do
Call `cv2.setNumThreads(0)` in the `worker_init_fn` of the loader, or at the top of the script; set
`OPENBLAS_NUM_THREADS=1` or `OMP_NUM_THREADS=1` before NumPy is imported. For the training process,
call `torch.set_num_threads` with no more than the processors.

## References
- OpenCV documentation, `cv::setNumThreads`
- PyTorch documentation, `torch.set_num_threads`
- Linux kernel documentation, "Scheduler Statistics"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed
from torchlint.profile.evidence import CUT
from torchlint.profile.kind import FindingKind, Observed
from torchlint.profile.loader_waits import processors_of_a_rank, waited_s, worker_threads
from torchlint.profile.planned_runs import ONE_THREAD
from torchlint.runtime.probe.instrument_messages import InputSeen, LaunchSeen, PausesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import LoaderWaits, WorkerThreads

_MOST_POOLS: Final = 3
_SAVED: Final = "one_thread"
_ACTIONS: Final = {
    "OpenCV": "call `cv2.setNumThreads(0)` in the `worker_init_fn`",
    "OpenBLAS": "set `OPENBLAS_NUM_THREADS=1`",
}

kind = FindingKind(
    code="TR603",
    summary="threads wait for each other's processors",
    instruments=("pauses",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each loader whose workers have such pools, and one for the training process."""
    yield from _workers(evidence)
    yield from _training(evidence)


def has_pools(evidence: Evidence) -> bool:
    """Whether a loader's workers have pools of threads that can be left out, and a step is worth
    timing without them."""
    return any(_named(threads) and share >= CUT for _, threads, share in _oversubscribed(evidence))


def _workers(evidence: Evidence) -> Iterator[Observed]:
    cores = _processors(evidence)
    saved = evidence.saved.get(_SAVED)
    for waits, threads, share in _oversubscribed(evidence):
        named = _named(threads)
        if named and ONE_THREAD.name not in evidence.tried:
            continue
        pools = [f"{name} ({count})" for name, count in named.items()]
        held = threads.held_s / (threads.ran_s + threads.held_s)
        yield Observed(
            waits.made or waits.place,
            f"{threads.workers} workers with {threads.threads} threads each on {_many(cores)}, "
            f"which they wait for in {100 * held:.0f} % of their time"
            + (f"; pools: {listed(pools, _MOST_POOLS)}" if pools else "")
            + ("; what they cost could not be measured" if named and saved is None else ""),
            " and ".join(_ACTIONS[name] for name in named)
            or "call `torch.set_num_threads(1)` in the `worker_init_fn`",
            (None if saved is None else min(share, saved)) if named else share,
            (),
            {
                "workers": threads.workers,
                "threads": threads.threads,
                "processors": cores,
                "held": held,
                "pools": dict(named),
            },
            waits.place,
            certain=True,
        )


def _oversubscribed(
    evidence: Evidence,
) -> Iterator[tuple[LoaderWaits, WorkerThreads, float]]:
    """Loaders that a step waits for and whose workers have too many threads, with what that costs
    at most, as a share of the step."""
    window, seen = evidence.window_or_none(InputSeen), evidence.window_or_none(PausesSeen)
    if window is None or seen is None or "replay" not in evidence.saved:
        return
    window = window.slowest(waited_s)
    watched = next((each for each in seen.ranks if each.rank == window.rank), seen)
    cores, training = _processors(evidence), evidence.timing.cpu_s / evidence.timing.step_s
    by_loader = worker_threads(watched.seen)
    for waits in window.seen.loaders:
        threads = by_loader.get((waits.loader.dataset, waits.loader.workers))
        if threads is None or threads.threads < 2 or threads.held_s <= 0:
            continue
        runnable = threads.workers * (threads.ran_s + threads.held_s) / threads.seconds
        if min(threads.workers * threads.threads, runnable + training) <= cores:
            continue
        held = threads.held_s / (threads.ran_s + threads.held_s)
        # What the workers take from the thread that trains, they take in the whole step.
        lost = held * waits.blocked_s + (window.held_s or 0.0)
        share = min(evidence.saved["replay"], evidence.at_most(lost, window))
        yield waits, threads, share


def _named(threads: WorkerThreads) -> dict[str, int]:
    """The pools of more than one thread."""
    return {name: count for name, count in threads.pools.items() if count > 1 and name in _ACTIONS}


def _training(evidence: Evidence) -> Iterator[Observed]:
    """More threads of torch than processors, and the thread that trains waits for one."""
    window = evidence.window_or_none(LaunchSeen)
    if window is None or window.held_s is None or window.seen.chosen or evidence.on_gpu:
        return
    cores, threads = _processors(evidence), window.seen.threads
    share = evidence.at_most(window.held_s, window)
    if threads <= cores or share < max(CUT, evidence.timing.noise):
        return
    yield Observed(
        None,
        f"torch computes with {threads} threads on {_many(cores)}; the training waits "
        f"{1e3 * window.held_s / window.steps:.3g} ms a step for one",
        f"call `torch.set_num_threads({cores:.0f})`, or set `OMP_NUM_THREADS`",
        share,
        (),
        {"threads": threads, "processors": cores, "held_s": window.held_s},
    )


def _processors(evidence: Evidence) -> float:
    """That a rank has for itself and its workers, by the limit of its control group as well."""
    cores, window = float(processors_of_a_rank(evidence)), evidence.window_or_none(LaunchSeen)
    quota = None if window is None else window.seen.quota
    # If the ranks share the group: else each has all of it.
    return cores if quota is None else max(1.0, min(cores, quota))


def _many(cores: float) -> str:
    return "1 processor" if cores == 1 else f"{cores:g} processors"

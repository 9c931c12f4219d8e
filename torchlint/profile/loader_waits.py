"""How long the ranks wait for their loaders."""

from __future__ import annotations

import os
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.runtime.probe.instrument_messages import InputSeen

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import (
        LoaderWaits,
        PausesSeen,
        WorkerThreads,
    )

_TRUST: Final = 1.1
"""How much more than the wait that was seen may be gained."""
_ALONE_TIMES: Final = 2.0
"""As long as the other ranks waits one that is named."""


def shown(place: tuple[str, int]) -> str:
    """A place as in a message: `data.py:31`."""
    return f"{os.path.basename(place[0])}:{place[1]}"


def processors_of_a_rank(evidence: Evidence) -> int:
    """How many each process that trains has for itself and its workers."""
    return max(1, evidence.processors * evidence.nodes // max(1, evidence.ranks))


def waited_s(window: Window[InputSeen]) -> float:
    """Seconds of a step that one rank waits for batches."""
    return sum(each.blocked_s for each in window.seen.loaders) / window.steps


def free_step_s(window: Window[InputSeen]) -> float:
    """Seconds of a step without what the training thread waits for a processor that others have: a
    wait for batches is counted without it, too."""
    return window.step_s - min(window.held_s or 0.0, window.seconds / 2) / window.steps


def others_wait_s(window: Window[InputSeen]) -> float | None:
    """Seconds of a step that the other ranks wait for batches, if that is clearly less than what
    the one that waits longest does; None if it is not, or there is one rank."""
    slowest = window.slowest(waited_s)
    others = [waited_s(each) for each in window.ranks if each is not slowest]
    middle = statistics.median(others) if others else None
    return None if middle is None or _ALONE_TIMES * middle > waited_s(slowest) else middle


def waited_share(loader: LoaderWaits, evidence: Evidence, window: Window[InputSeen]) -> float:
    """What a step is shorter at most if this loader's batches cost nothing, as a share of it. A
    thread that need not wait is not left without a processor after it, either.

    Args:
        window: of the rank that it was seen on.
    """
    blocked = evidence.at_most(loader.blocked_s + loader.held_s, window)
    return min(evidence.saved["replay"], _TRUST * blocked)


def loading_share(evidence: Evidence) -> float:
    """What a step is shorter at most if all batches cost nothing, as a share of it; 1 if that was
    not measured."""
    window = evidence.window_or_none(InputSeen)
    if window is None or "replay" not in evidence.saved or not window.seen.loaders:
        return 1.0
    slowest = window.slowest(waited_s)
    return sum(waited_share(each, evidence, slowest) for each in slowest.seen.loaders)


def worker_threads(seen: PausesSeen) -> dict[tuple[str, int], WorkerThreads]:
    """What the threads of a first worker did, by the loader's dataset and number of workers. An
    epoch may start new workers: those are taken together."""
    found: dict[tuple[str, int], WorkerThreads] = {}
    for each in sorted(seen.threads, key=lambda each: -each.seconds):
        if each.seconds <= 0:
            continue
        key = each.dataset, each.workers
        before = found.get(key)
        found[key] = (
            each
            if before is None
            else replace(
                before,
                seconds=before.seconds + each.seconds,
                ran_s=before.ran_s + each.ran_s,
                held_s=before.held_s + each.held_s,
            )
        )
    return found

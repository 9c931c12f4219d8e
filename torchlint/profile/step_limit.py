"""What a step waits for."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from torchlint.profile.evidence import CUT
from torchlint.profile.kinds.communication import blocked_by_rank
from torchlint.profile.loader_waits import free_step_s, others_wait_s, waited_s, worker_threads
from torchlint.runtime.probe.instrument_messages import InputSeen, PausesSeen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.survey_reader import Survey

_DATA: Final = "data"
_HOST_IS_THE_LIMIT: Final = 0.9
_INPUT_IS_THE_LIMIT: Final = 0.3
_MESSAGES_ARE_THE_LIMIT: Final = 0.3
_MOSTLY: Final = 0.5
"""Of what one rank waits: as long as another one has to wait for it, or less than which it is held
up by nobody."""
_COMPUTES: Final = 0.5
"""Of a step: a process that has, or could use, a processor for less waits for something else."""
_BUSY_ELSEWHERE: Final = 0.2
"""Of a step: without a processor for less, a process has the machine for itself."""
_ALL_OF_ONE: Final = 0.95
"""Of a step: that keeps a processor busy."""
_FILLED: Final = 0.9
"""Of the processors: that its own threads take."""


def lanes_of(evidence: Evidence) -> dict[str, float]:
    """Shares of a steady step by what the host did, of the first run. If another one watched the
    input, the wait for batches is what that one saw, so that one wait has one share."""
    lanes = _lanes(evidence.survey)
    window = evidence.window_or_none(InputSeen)
    rest = 1.0 - lanes.get(_DATA, 1.0)
    if window is None or len(window.ranks) > 1 or not window.seen.loaders or not rest > 0:
        return lanes
    waits = min(waited_s(window) / free_step_s(window), 1.0)
    return {
        name: waits if name == _DATA else share * (1.0 - waits) / rest
        for name, share in lanes.items()
    }


def first_limit(seen: Survey) -> str:
    """What a step seems to wait for, before it is timed."""
    lanes = _lanes(seen)
    if lanes.get(_DATA, 0.0) >= _INPUT_IS_THE_LIMIT:
        return f"input, by the first look: {_largest(lanes)}"
    who = "the host's part of a step" if seen.device == "cuda" else "a step"
    return f"by the first look, {who} is {_largest(lanes)}"


def _largest(lanes: Mapping[str, float]) -> str:
    parts = sorted(lanes.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in parts[:3] if share >= CUT)


def _lanes(seen: Survey) -> dict[str, float]:
    medians = seen.lanes.medians(max(0, seen.warm - 1))
    whole = sum(medians.values())
    return {name: value / whole for name, value in medians.items()} if whole else {}


def limit_of(evidence: Evidence, lanes: Mapping[str, float]) -> str:
    """What a step waits for, in one sentence (TR001)."""
    timing = evidence.timing
    host_ms = 1e3 * timing.host_s
    if evidence.on_gpu and timing.host_s < _HOST_IS_THE_LIMIT * timing.step_s:
        return f"device: the CPU queues a step in {host_ms:.3g} of {_step(evidence)}"
    waits = _input(evidence, lanes)
    if evidence.on_gpu:
        return waits or f"host: the CPU needs {host_ms:.3g} of {_step(evidence)} to queue a step"
    found = waits or _messages(evidence) or _processor(evidence, lanes)
    return found + _taken(evidence)


def _step(evidence: Evidence) -> str:
    return f"{1e3 * evidence.timing.step_s:.3g} ms"


def _input(evidence: Evidence, lanes: Mapping[str, float]) -> str:
    """That the input is the limit, of all ranks or of one; empty if it is not."""
    window = evidence.window_or_none(InputSeen)
    slowest = None if window is None else window.slowest(waited_s)
    if window is None or slowest is None or not any(each.seen.loaders for each in window.ranks):
        data = lanes.get(_DATA, 0.0)
        said = f"input: {data:.0%} of a step of the first look waits for the next batch"
        return said if data >= _INPUT_IS_THE_LIMIT else ""
    waited = waited_s(slowest)
    step_s = free_step_s(slowest)
    share = min(waited / step_s, 1.0)
    if share < _INPUT_IS_THE_LIMIT:
        return ""
    lines = sum(each.blocked_s > 0 for each in slowest.seen.loaders)
    at = f", at {lines} lines" if lines > 1 else ""
    where = f"{1e3 * waited:.3g} of {1e3 * step_s:.3g} ms in the run that watches the input"
    where += at
    if others_wait_s(window) is None:
        return f"input: {share:.0%} of a step waits for the next batch ({where})"
    blocked = [each for rank, each in _blocked(evidence).items() if rank != slowest.rank]
    held_up = blocked and min(blocked) >= _MOSTLY * waited
    more = f", and the other ranks for {slowest.who}" if held_up else ""
    said = f"input: {slowest.who} waits for its next batch for {share:.0%} of a step"
    return f"{said} ({where}){more}"


def _messages(evidence: Evidence) -> str:
    """That ranks wait for each other, or for what they send; empty if they do not."""
    blocked = _blocked(evidence)
    if len(blocked) < 2:
        return ""
    window = evidence.windows["exchanges"]
    first = min(blocked, key=lambda rank: blocked[rank])
    others = statistics.fmean(each for rank, each in blocked.items() if rank != first)
    share = (others - blocked[first]) / window.step_s
    if share >= _MESSAGES_ARE_THE_LIMIT and blocked[first] <= _MOSTLY * others:
        who = next(each.who for each in window.ranks if each.rank == first)
        return f"ranks: the others wait for {who} for {share:.0%} of a step of {_step(evidence)}"
    share = statistics.fmean(blocked.values()) / window.step_s
    if share < _MESSAGES_ARE_THE_LIMIT:
        return ""
    return f"messages: they block a rank for {share:.0%} of a step of {_step(evidence)} on average"


def _blocked(evidence: Evidence) -> Mapping[int, float]:
    """Seconds of a step that each rank waits for messages, where that was measured."""
    return blocked_by_rank(evidence) if "exchanges" in evidence.windows else {}


def _processor(evidence: Evidence, lanes: Mapping[str, float]) -> str:
    busy = _busy(evidence)
    most = _largest(lanes)
    if busy + _held(evidence) >= _COMPUTES:
        return f"processor: {_keeps_busy(busy, evidence.processors)} ({most})"
    what = "another rank" if evidence.ranks > 1 else "another process"
    taken = "" if _lacked(evidence) else "a processor that others have, "
    return (
        f"waiting: the process has {1e3 * evidence.timing.cpu_s:.3g} ms of processor time in a "
        f"step of {_step(evidence)}; the rest waits, as for {taken}a disk, a network or {what} "
        f"({most})"
    )


def _keeps_busy(busy: float, processors: int) -> str:
    """How much of the machine a process takes, in words.

    Args:
        busy: its processor time in a step, as a share of the step.
    """
    if busy < _ALL_OF_ONE:
        return f"the script computes for {busy:.0%} of a step, on one processor at a time"
    if processors == 1:
        return "the script keeps the processor busy"
    return f"the script keeps {busy:.2g} of {processors} processors busy"


def _taken(evidence: Evidence) -> str:
    """That others have the processors; empty if they do not."""
    lanes_held = _held(evidence)
    # Threads of its own wait for each other where they fill the machine.
    if lanes_held < _BUSY_ELSEWHERE or _busy(evidence) > _FILLED * evidence.processors:
        return ""
    own = _workers_busy(evidence) >= _MOSTLY * evidence.processors
    who = "its own workers" if own else "other processes"
    return f"; {who} take the processor from it for {lanes_held:.0%} of a step"


def _workers_busy(evidence: Evidence) -> float:
    """Processors that the workers of loaders have, on average; 0 if unknown."""
    window = evidence.window_or_none(PausesSeen)
    found = {} if window is None else worker_threads(window.seen)
    return sum(each.workers * each.ran_s / each.seconds for each in found.values())


def _busy(evidence: Evidence) -> float:
    return evidence.timing.cpu_s / evidence.timing.step_s


def _held(evidence: Evidence) -> float:
    """The share of a step for which the thread that trains had no processor; 0 if unknown."""
    return statistics.median(_lacked(evidence) or [0.0])


def _lacked(evidence: Evidence) -> list[float]:
    """The same in each run that says it."""
    windows = evidence.windows.values()
    return [each.held_s / each.seconds for each in windows if each.held_s is not None]

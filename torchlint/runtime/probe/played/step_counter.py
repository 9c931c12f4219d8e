"""Counts what the steps of a rehearsal ask of the device, and which lines run in them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from torchlint.runtime.probe.messages import CountedCall, Filled, Rehearsed
from torchlint.runtime.probe.played import handed_out
from torchlint.runtime.probe.played.marks import MARKS, mark_of
from torchlint.runtime.probe.played.ran_lines import RanLines
from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, OPTIMIZER
from torchlint.runtime.probe.steps.lane_clock import LaneClock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.runtime.probe.messages import Place, Stretch
    from torchlint.runtime.probe.played.ledger import Key, Ledger, Tally
    from torchlint.runtime.probe.run_settings import Anchor, RunSettings

_SKIPPED: Final = 2
"""Steps in which optimizers make their state, and caches fill."""
_TRACED: Final = {OPTIMIZER: 5}
"""Steps of an optimizer after which the lines that run are known; to see them costs."""
_TRACED_OTHERS: Final = 320
"""Events of another kind: so many backward passes may belong to five steps."""
_MOST: Final = 4096
"""Segments that are kept apart; the oldest go."""


class Segment(NamedTuple):
    """What was asked for before an event, since the one before it."""

    kind: str
    number: int
    counted: dict[Key, Tally]
    strip: list[Stretch]
    ran: dict[str, set[int]]


class PhaseLanes(LaneClock):
    """Tells the ledger, too, when a model is called.

    Args:
        ledger: that of the played device.
    """

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def enter(self, lane: str) -> None:
        """A part of a step begins."""
        super().enter(lane)
        if lane == FORWARD:
            self._ledger.forward = torch.is_grad_enabled()
        elif lane in (BACKWARD, OPTIMIZER):
            self._ledger.forward = False


class StepCounter:
    """Keeps the counts between one event and the next, until it is known which events end a step.

    Args:
        settings: of the run.
        ledger: that of the played device.
    """

    def __init__(self, settings: RunSettings, ledger: Ledger) -> None:
        self._ledger = ledger
        self.lanes = PhaseLanes(ledger)
        self._segments: list[Segment] = []
        self._lines = RanLines(settings)
        self._heard: dict[tuple[str, int], int] = {}
        self._optimizers: dict[int, Any] = {}
        handed_out.watch(settings, ledger.line)

    def heard(self, kind: str, number: int, subject: Any) -> None:
        """Something has ended that may end a step.

        Args:
            subject: an optimizer, a model, or the iterator of a loader.
        """
        if kind == OPTIMIZER:
            self._optimizers[id(subject)] = subject
        ledger = self._ledger
        if not ledger.open:
            ledger.open = True
            self._lines.begin()
        if kind in (BACKWARD, OPTIMIZER):
            ledger.part += 1
        self._segments.append(Segment(kind, number, *ledger.take(), self._lines.take()))
        if len(self._segments) > _MOST:
            del self._segments[0]
        seen = self._heard[kind, number] = self._heard.get((kind, number), 0) + 1
        if seen == _TRACED.get(kind, _TRACED_OTHERS):
            self._lines.end()

    def report(self, anchor: Anchor | None) -> Rehearsed:
        """What was counted, by the steps that this event ends.

        Args:
            anchor: the event; None: none was seen.
        """
        ledger = self._ledger
        ledger.open = False
        self._lines.end()
        steps = list(_steps(self._segments, anchor)) if anchor is not None else []
        skipped = min(_SKIPPED, max(0, len(steps) - 1))
        counted = steps[skipped:]
        merged: dict[Key, CountedCall] = {}
        for step in counted:
            _add(merged, step)
        return Rehearsed(
            len(counted),
            skipped,
            ledger.launches,
            list(merged.values()),
            _filled(ledger.peak, self._optimizers.values()),
            _rows(counted),
            [each for segment in (counted or [[]])[-1] for each in segment.strip],
            ledger.compiles,
        )


def _steps(segments: Iterable[Segment], anchor: Anchor) -> Iterator[list[Segment]]:
    """The segments of each step."""
    step: list[Segment] = []
    for segment in segments:
        step.append(segment)
        if (segment.kind, segment.number) == (anchor.kind, anchor.index):
            yield step
            step = []


def _rows(steps: Iterable[list[Segment]]) -> dict[str, list[int]]:
    """Rows that ran in these steps, by real path, as far as it was looked."""
    found: dict[str, set[int]] = {}
    for segment in chain.from_iterable(steps):
        for path, rows in segment.ran.items():
            found.setdefault(path, set()).update(rows)
    return {path: sorted(rows) for path, rows in found.items()}


def _add(merged: dict[Key, CountedCall], step: list[Segment]) -> None:
    """Add one step."""
    last = max((at for at, each in enumerate(step) if each.kind == BACKWARD), default=-1)
    seen: set[Key] = set()
    for at, segment in enumerate(step):
        for key, count in segment.counted.items():
            what, kind, place, via, backward = key
            call = merged.get(key)
            if call is None:
                call = merged[key] = CountedCall(what, kind, place, via, backward)
            call.calls += count.calls
            call.steps += key not in seen
            seen.add(key)
            if at <= last:
                call.before += count.before
            call.idle += count.idle
            call.queued += count.queued
            call.size += count.size
            call.same += count.same
            call.small += count.small
            call.flops += count.flops
            call.made = call.made or count.first
            call.loader = call.loader or count.loader


def _filled(place: Place | None, optimizers: Iterable[Any]) -> Filled:
    filled = Filled(MARKS.peak, place=place)
    counted: set[int] = set()

    def size(tensors: Iterable[Any]) -> int:
        """Of their storages, each once."""
        marks = [mark_of(each) for each in tensors if isinstance(each, torch.Tensor)]
        new = {
            id(each): each.size for each in marks if each is not None and id(each) not in counted
        }
        counted.update(new)
        return sum(new.values())

    for each in optimizers:
        if not hasattr(each, "param_groups"):
            continue
        held = [one for group in each.param_groups for one in group["params"]]
        filled.parameters += size(held)
        filled.gradients += size(one.grad for one in held)
        states = (state.values() for state in each.state.values() if hasattr(state, "values"))
        filled.optimizer += size(value for values in states for value in values)
    return filled

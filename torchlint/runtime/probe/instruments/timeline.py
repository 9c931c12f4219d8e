"""When each part of a step begins and ends, for the first steps of the window."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import torch

from torchlint.runtime.probe.instrument_messages import TimelinePart, TimelineSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.instruments.reads import METHODS, is_of_data
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, LOADER, OPTIMIZER

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place

MOST_STEPS = 20
MOST_SPANS = 4000
READ, COLLECTOR = "read", "collector"
_KINDS = {LOADER: "data", FORWARD: FORWARD, BACKWARD: BACKWARD, OPTIMIZER: OPTIMIZER}
_READING = ("item", "__float__", "__int__", "__bool__", "tolist", "numpy", "cpu")


class TimelineObserver(Observer):
    """Writes down what the stepping thread does, on the host's clock, in the order in which it
    ends. After `MOST_STEPS` steps or `MOST_SPANS` spans it stops to listen."""

    def begin(self) -> None:
        self._spans: list[TimelinePart] = []
        self._ends: list[float] = []
        self._open: list[tuple[str, float, Place | None]] = []
        self._collecting = 0.0
        self.hear_collector(self._collected)
        self.at_end(events.watch_lanes(self))
        for name in _READING:
            note = partial(self._note_read, METHODS[name][0])
            self.around(torch.Tensor, name, partial(self.timed, note))
        self._begun = time.perf_counter()

    def step(self) -> None:
        if not self._undo:
            return
        self._ends.append(time.perf_counter() - self._begun)
        if len(self._ends) >= MOST_STEPS or len(self._spans) >= MOST_SPANS:
            self._stop()

    def end(self) -> TimelineSeen:
        self._stop()
        last = self._ends[-1] if self._ends else 0.0
        return TimelineSeen(self._ends, [each for each in self._spans if each.start < last])

    def enter(self, lane: str) -> None:
        """A part of a step begins (`interpose.LaneListener`)."""
        if threading.get_ident() == self.thread:
            self._open.append((lane, time.perf_counter(), self.places.here()))

    def leave(self) -> None:
        """The part that began last ends."""
        if threading.get_ident() == self.thread and self._open:
            self._close()

    def _stop(self) -> None:
        """What is open ends now: `optimizer.step` ends a step before it returns."""
        while self._open:
            self._close()
        self._restore()

    def _close(self) -> None:
        lane, start, place = self._open.pop()
        if all(outer != LOADER for outer, *_ in self._open):  # what a data set computes is data
            self._add(_KINDS[lane], "", start, place)

    def _add(self, kind: str, name: str, start: float, place: Place | None) -> None:
        if len(self._spans) < MOST_SPANS:
            stop = time.perf_counter() - self._begun
            begun = max(0.0, start - self._begun)
            self._spans.append(TimelinePart(kind, name, begun, stop, place))

    def _note_read(self, name: str, seconds: float) -> None:
        place = self.places.here()
        in_optimizer = any(lane == OPTIMIZER for lane, *_ in self._open)
        if place is not None and not in_optimizer and not is_of_data(sys._getframe(1)):
            self._add(READ, name, time.perf_counter() - seconds, place)

    def _collected(self, phase: str, _about: dict[str, int]) -> None:
        if threading.get_ident() != self.thread:
            return
        if phase == "start":
            self._collecting = time.perf_counter()
        elif self._collecting:
            self._add(COLLECTOR, "", self._collecting, None)
            self._collecting = 0.0


watch = TimelineObserver

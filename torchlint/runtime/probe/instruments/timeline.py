"""When each part of a step begins and ends, for the first steps of the window."""

from __future__ import annotations

import gc
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments.reads import METHODS, is_of_data
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, LOADER, OPTIMIZER
from torchlint.runtime.probe.steps.interpose import replace, shielded
from torchlint.runtime.probe.steps.places import Places

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo
    from torchlint.runtime.probe.steps.places import Place

    Span = tuple[str, str, float, float, Place | None]

MOST_STEPS = 20
MOST_SPANS = 4000
READ, COLLECTOR = "read", "collector"
_KINDS = {LOADER: "data", FORWARD: FORWARD, BACKWARD: BACKWARD, OPTIMIZER: OPTIMIZER}
_READING = ("item", "__float__", "__int__", "__bool__", "tolist", "numpy", "cpu")


def install(settings: Settings) -> Timeline:
    """Nothing to prepare."""
    return Timeline(settings)


class Timeline:
    """Writes down what the stepping thread does, on the host's clock, in the order in which it
    ends. After `MOST_STEPS` steps or `MOST_SPANS` spans it stops to listen."""

    def __init__(self, settings: Settings) -> None:
        self._places = Places(settings)
        self._undo: list[Undo] = []
        self._spans: list[Span] = []
        self._ends: list[float] = []
        self._open: list[tuple[str, float, Place | None]] = []
        self._collecting = 0.0
        self._thread = 0
        self._begun = 0.0
        self._hear = shielded(self._collected)

    def begin(self) -> None:
        self._thread = threading.get_ident()
        self._undo = [
            events.watch_lanes(self),
            *(
                replace(torch.Tensor, name, partial(self._reader, METHODS[name][0]))
                for name in _READING
            ),
        ]
        gc.callbacks.append(self._hear)
        self._begun = time.perf_counter()

    def step(self) -> None:
        """A step has ended."""
        if not self._undo:
            return
        self._ends.append(time.perf_counter() - self._begun)
        if len(self._ends) >= MOST_STEPS or len(self._spans) >= MOST_SPANS:
            self._stop()

    def end(self) -> dict[str, object]:
        """`spans` of whole steps, in seconds since the window began; `ends`: when each step
        ended."""
        self._stop()
        last = self._ends[-1] if self._ends else 0.0
        return {
            "ends": self._ends,
            "spans": [
                {"kind": kind, "name": name, "start": start, "stop": stop, "place": place}
                for kind, name, start, stop, place in self._spans
                if start < last
            ],
        }

    def enter(self, lane: str) -> None:
        """A part of a step begins (`interpose.Lanes`)."""
        if threading.get_ident() == self._thread:
            self._open.append((lane, time.perf_counter(), self._places.here()))

    def leave(self) -> None:
        """The part that began last ends."""
        if threading.get_ident() == self._thread and self._open:
            self._close()

    def _stop(self) -> None:
        """What is open ends now: `optimizer.step` ends a step before it returns."""
        while self._open:
            self._close()
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        if self._hear in gc.callbacks:
            gc.callbacks.remove(self._hear)

    def _close(self) -> None:
        lane, start, place = self._open.pop()
        if all(outer != LOADER for outer, *_ in self._open):  # what a data set computes is data
            self._add(_KINDS[lane], "", start, place)

    def _add(self, kind: str, name: str, start: float, place: Place | None) -> None:
        if len(self._spans) < MOST_SPANS:
            stop = time.perf_counter() - self._begun
            self._spans.append((kind, name, max(0.0, start - self._begun), stop, place))

    def _reader(self, name: str, plain: Function) -> Function:
        compiling, note = private.compiling(), shielded(self._note_read)

        def read(*args: Any, **kwargs: Any) -> Any:
            if compiling() or threading.get_ident() != self._thread:
                return plain(*args, **kwargs)
            start = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:
                note(name, start)

        private.keep_from_compiler(read)
        return read

    def _note_read(self, name: str, start: float) -> None:
        place = self._places.here()
        in_optimizer = any(lane == OPTIMIZER for lane, *_ in self._open)
        if place is not None and not in_optimizer and not is_of_data(sys._getframe(1)):
            self._add(READ, name, start, place)

    def _collected(self, phase: str, _about: dict[str, int]) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting = time.perf_counter()
        elif self._collecting:
            self._add(COLLECTOR, "", self._collecting, None)
            self._collecting = 0.0

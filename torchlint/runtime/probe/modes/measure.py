"""Times blocks of steps, a turn at a time; in between the script waits inside a hook."""

from __future__ import annotations

import os
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import install_all
from torchlint.runtime.probe.machine.clock import CpuClock, clock_for, is_capturing
from torchlint.runtime.probe.messages import Timed
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.link import Link
    from torchlint.runtime.probe.run_settings import RunSettings

NEVER = 1 << 62
_SHORTEST_S = 1e-9
"""Of a block: what is left if the instruments' own work was all of it."""


def install(settings: RunSettings, link: Link) -> Meter:
    """Listen for the anchor alone.

    Raises:
        ValueError: the settings name no anchor that can be heard.
    """
    import torch

    if settings.anchor is None:
        raise ValueError("a measurement needs an anchor")
    meter = Meter(settings, link, torch.cuda)
    events.at_anchor(settings.anchor, meter.boundary)
    os.register_at_fork(after_in_child=meter.begin_again)
    return meter


class Meter:
    """Counts steps, and does something else only at those that are due.

    The first step of all asks for a turn. A turn is some steps to settle, in which caches and
    queues fill again, then those that are timed; `steps: 0` only warms up. Instruments that change
    what a step does begin after the first turn, and their own work is not part of the time.

    Args:
        settings: say what may be a GPU.
        link: the parent gives the turns.
        cuda: `torch.cuda`.
    """

    def __init__(self, settings: RunSettings, link: Link, cuda: Any) -> None:
        self.steps = 0
        self._due = 1
        self._then: Callable[[], None] = self._ask_for_a_turn
        self._planned = 0
        self._compiled = 0
        self._instruments = list(install_all(settings).values())
        self._altered = False
        self._beside = 0.0
        self._settings = settings
        self._link = link
        self._cuda = cuda
        self._clock = CpuClock()
        self._lock = threading.Lock()

    def boundary(self) -> None:
        """A step has ended."""
        self.steps += 1
        if self.steps >= self._due:
            self._arrive()

    def finish(self) -> None:
        """The script has ended; the blocks that were measured have been sent."""

    def begin_again(self) -> None:
        """This process is a copy, as a loader's worker. If it trains, it is one of its own."""
        self._lock = threading.Lock()
        self._altered = False
        self.steps, self._due, self._then = 0, 1, self._ask_for_a_turn

    def _arrive(self) -> None:
        # A second thread that trains waits here while the first one waits for its turn.
        with self._lock, private.out_of_compiler():
            if self.steps < self._due:
                return
            if is_capturing(self._cuda):
                self._due = self.steps + 1
                return
            try:
                self._then()
            except Exception:
                # An error of the GPU is the script's own, and meets the script's next call too.
                self._due = NEVER
                raise

    def _ask_for_a_turn(self) -> None:
        assert self._settings.anchor is not None
        if not events.may_end_steps(self._settings.anchor.kind, self._link.role):
            self._due = NEVER
            return
        self._clock = clock_for(self._settings, self._cuda)
        self._clock.settle()
        self._take("ready")

    def _take(self, word: str, message: object = None) -> None:
        turn = self._link.ask(word, message)
        settle, steps = turn["settle"], turn["steps"]
        assert isinstance(settle, int)
        assert isinstance(steps, int)
        self._planned, self._due = steps, self.steps + settle
        self._then = self._start
        if self.steps >= self._due:
            self._start()

    def _start(self) -> None:
        self._due = self.steps + self._planned
        if not self._altered:
            self._altered = True
            for each in self._instruments:
                each.open()
        if self._planned == 0:
            self._hand_over()
        else:
            self._then = self._stop
            self._compiled = private.compiled_frames()
            self._beside = self._beside_s()
            self._clock.start()

    def _stop(self) -> None:
        self._clock.stop()
        self._beside = self._beside_s() - self._beside
        self._due = self.steps + self._clock.tail
        self._then = self._hand_over
        if self.steps >= self._due:
            self._hand_over()

    def _hand_over(self) -> None:
        self._clock.settle()
        compiled = private.compiled_frames() > self._compiled
        block = Timed(self._planned, **asdict(self._clock.read()), compiled=compiled)
        if self._planned == 0:
            block.wall, block.cpu, block.gpu, block.compiled = 0.0, 0.0, None, False
        if self._instruments:
            block.wall = max(_SHORTEST_S, block.wall - self._beside)
            block.altered = all(each.alters for each in self._instruments)
        self._take("block", block)

    def _beside_s(self) -> float:
        return sum(each.beside_s for each in self._instruments)

"""What the training thread does besides its computations: the garbage collector, logs, files,
progress bars, and the user's own lines of Python and NumPy."""

from __future__ import annotations

import gc
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import CollectorCalls, PausesSeen, Residue
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.lane_clock import OTHER, OpenLanes
from torchlint.runtime.probe.steps.line_sampler import (
    MOST_PLACES,
    Sampler,
    count,
    is_inside,
    looked_at_soon,
    sight_of,
)
from torchlint.runtime.probe.steps.worker_lines import WorkerLines
from torchlint.runtime.probe.wrapping.interpose import shielded
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.steps.line_sampler import Counted
    from torchlint.runtime.probe.wrapping.interpose import Function

_TIMED = (
    ("builtins", "print", "print"),
    ("json", "dump", "json"),
    ("json", "dumps", "json"),
    ("pickle", "dump", "pickle"),
    ("pickle", "dumps", "pickle"),
    ("logging:Logger", "handle", "logging"),
)
"""What may hold the interpreter from beginning to end, or has no frame since it is written in C."""
_COMPILING = ("torch._dynamo", "torch._inductor")


class PauseObserver(Observer):
    """Hears of the garbage collector, and looks every millisecond where the stepping thread is.

    The thread that looks gets its turn only where the other one lets go of the interpreter: in an
    operation of torch, in a write, or when it is asked to, which Python does after five
    milliseconds, and here after a tenth of one. Whatever held it until then is counted there. So
    what usually holds it in C is timed as well, and the larger number counts.
    """

    def prepare(self) -> None:
        """Listen for the parts of steps."""
        self._lanes = OpenLanes()
        self._worker = WorkerLines(self.settings)
        self.at_end(events.watch_lanes(self._lanes))

    def rest(self) -> None:
        """This process is a copy. The first worker of a loader has lines of its own."""
        super().rest()
        self._worker.begin()

    def begin(self) -> None:
        """Begin to listen and to look."""
        self._collector = CollectorClock(self.places)
        self.hear_collector(self._collector.collecting)
        self.around(gc, "collect", self._collector.asked)
        self._timed: Counted = {}
        self._inside = False
        for owner, name, what in _TIMED:
            self.around(private.find(owner), name, partial(self._outermost, what))
        # With places of its own: the other thread fills it.
        self.at_end(looked_at_soon())
        self._sampler = Sampler(Places(self.settings), self._lanes.stack)
        self._sampler.begin()
        self.at_end(self._sampler.end)

    def end(self) -> PausesSeen:
        sampled, timed, nothing = self._sampler.found, self._timed, (0, 0.0)
        seen = self._collector.seen
        for place, what in {**sampled, **timed}:
            (samples, sampled_s), (calls, timed_s) = (
                each.get((place, what), nothing) for each in (sampled, timed)
            )
            seen.residue.append(Residue(place, what, samples, calls, max(sampled_s, timed_s)))
        seen.own = self._sampler.told()
        seen.worker_s, seen.worker, seen.threads = self._worker.told()
        return seen

    def _outermost(self, what: str, plain: Function) -> Function:
        """Times outermost calls, by the user's line and what they are."""
        note, watched = shielded(partial(self._note, what)), self.thread

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside or threading.get_ident() != watched:
                return plain(*args, **kwargs)
            self._inside = True
            begun = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:
                self._inside = False
                note(time.perf_counter() - begun)

        private.keep_from_compiler(call)
        return call

    def _note(self, what: str, seconds: float) -> None:
        sight = sight_of(self.places, sys._getframe(1), OTHER, what)
        if sight is not None and sight.residue is not None:
            count(self._timed, sight.residue, seconds)


class CollectorClock:
    """Times the garbage collector; a call of `gc.collect` by its line."""

    def __init__(self, places: Places) -> None:
        self.seen = PausesSeen()
        self._places = places
        self._taken = 0.0, 0.0
        """Seconds of collections that have ended, and when one began that has not; 0: there is
        none. They change together, for the thread that looks."""
        self._asking = threading.local()
        self._asked: dict[Place | None, CollectorCalls] = {}

    def asked(self, plain: Function) -> Function:
        """What replaces `gc.collect`."""
        asking, note = self._asking, shielded(self._note)

        def collect(*args: Any, **kwargs: Any) -> Any:
            begun, asking.now = time.perf_counter(), True
            try:
                return plain(*args, **kwargs)
            finally:
                asking.now = False
                note(time.perf_counter() - begun)

        private.keep_from_compiler(collect)
        return collect

    def _note(self, seconds: float) -> None:
        place = self._places.here()
        asked = self._asked.get(place)
        if asked is None:
            if len(self._asked) >= MOST_PLACES:
                return
            asked = self._asked[place] = CollectorCalls(place)
            self.seen.asked.append(asked)
        asked.calls += 1
        asked.seconds += seconds

    def collecting(self, phase: str, about: dict[str, int]) -> None:
        if getattr(self._asking, "now", False):
            return
        seconds, begun = self._taken
        if phase == "start":
            compiles = is_inside(sys._getframe(1), _COMPILING)
            self._taken = seconds, 0.0 if compiles else time.perf_counter()
        elif begun:
            self._taken = seconds + time.perf_counter() - begun, 0.0
            self.seen.gc_seconds = self._taken[0]
            self.seen.collections += 1
            self.seen.full_collections += about.get("generation") == 2

    def so_far_s(self) -> float:
        """Seconds that collections have taken until now, that of now included."""
        seconds, begun = self._taken
        return seconds + (time.perf_counter() - begun if begun else 0.0)


watch = PauseObserver

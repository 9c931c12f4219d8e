"""Decides which events end a step, and when enough of them were seen.

Better before worse: an optimizer's step, a backward pass, a model's forward, a batch. The worse
kinds occur in a better script too, several times a step or in its validation, so each has to be
seen for some time without a better one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, LOADER, OPTIMIZER

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.steps.lane_clock import Seconds

KINDS = (OPTIMIZER, BACKWARD, FORWARD, LOADER)
"""From the best boundary of a step to the worst."""

FEW = 4
"""Steps that a survey makes do with when more would take too long."""
_RARE = 8
"""As many times the wanted steps of one optimizer are enough to wait for another, rarer one."""
_ACCUMULATED, _NEVER_STEPS = 256, 1024
"""Backward passes without a step of an optimizer that exists: after the first number the time
decides, after the second it never steps. Gradients have been accumulated over 64 and more."""
_REMEMBERED = 4096


@dataclass(frozen=True)
class Moment:
    """An event: when it was heard, what its thread had spent in each lane until then, and an event
    of the GPU's stream at the same place, if there is one."""

    time: float
    spent: Seconds
    mark: Any = None


class EventStream:
    """The events of one kind and number. `name` is the class of what stepped."""

    def __init__(self, kind: str, number: int, name: str, tick: int) -> None:
        self.kind = kind
        self.number = number
        self.name = name
        self.count = 0
        self.first = 0.0
        self.moments: deque[Moment] = deque(maxlen=_REMEMBERED)
        self._last_tick = 0
        self._longest_gap = tick

    def add(self, moment: Moment, tick: int) -> None:
        """One more event, the `tick`-th of its kind."""
        if not self.moments:
            self.first = moment.time
        else:
            self._longest_gap = max(self._longest_gap, tick - self._last_tick)
        self.count += 1
        self.moments.append(moment)
        self._last_tick = tick

    def goes_on(self, tick: int) -> bool:
        """Whether its next event may still come, by the longest pause that it has made."""
        return tick - self._last_tick <= 3 * self._longest_gap


class Streams:
    """All events of a script so far."""

    def __init__(self) -> None:
        self._streams: dict[tuple[str, int], EventStream] = {}
        self._ticks = dict.fromkeys(KINDS, 0)

    def add(self, kind: str, number: int, name: str, moment: Moment) -> EventStream:
        """One more event; gives the stream that it belongs to."""
        self._ticks[kind] += 1
        tick = self._ticks[kind]
        stream = self._streams.get((kind, number))
        if stream is None:
            stream = self._streams[kind, number] = EventStream(kind, number, name, tick)
        stream.add(moment, tick)
        return stream

    def of(self, kind: str) -> list[EventStream]:
        """Those of a kind, by number."""
        return sorted((s for s in self._streams.values() if s.kind == kind), key=lambda s: s.number)

    def count(self, kind: str) -> int:
        """Events of a kind."""
        return self._ticks[kind]

    def rarest(self, kind: str, least: int = 1) -> EventStream | None:
        """Of those that continue and have as many events, the one with the fewest, and the last of
        several: it ends what repeats itself, as the generator's step does in a GAN."""
        tick = self._ticks[kind]
        going = [s for s in self.of(kind) if s.count >= least and s.goes_on(tick)]
        return min(going, key=lambda s: (s.count, -s.number), default=None)

    def best(self, kind: str, least: int = 1) -> EventStream | None:
        """What ends a step among the events of this kind."""
        if kind in (OPTIMIZER, FORWARD):
            return self.rarest(kind, least)
        # A gradient that is taken in addition to a backward pass is part of the step.
        return next((s for s in self.of(kind) if s.count >= least), None)

    def last_step(self) -> float:
        """When an event was heard that is not a batch; 0 if none was."""
        steps = (s for s in self._streams.values() if s.kind != LOADER)
        return max((s.moments[-1].time for s in steps), default=0.0)


@dataclass(frozen=True)
class Chooser:
    """Knows how many steps are wanted, and how long a script may take for them.

    Args:
        wanted: steps.
        give_up_s: seconds after which fewer steps, or a worse kind, will do.
        kinds: that may end a step.
        may_step: whether there is an optimizer whose first step may still come.
    """

    wanted: int
    give_up_s: float
    kinds: tuple[str, ...]
    may_step: Callable[[], bool]

    def enough(self, streams: Streams, heard: EventStream) -> bool:
        """Whether the event that was just heard ends a step, and enough of its kind were seen.

        What has stopped is never chosen.
        """
        if heard.kind == LOADER and LOADER in self.kinds and self._only_loads(streams, heard):
            return True
        return self._best(streams, heard.moments[-1].time) is heard

    def _best(self, streams: Streams, now: float) -> EventStream | None:
        kind = next((each for each in self.kinds if streams.count(each)), None)
        if kind is None:
            return None
        seen = streams.of(kind)
        waited = now - min(stream.first for stream in seen)
        late = waited >= self.give_up_s
        if kind == OPTIMIZER:
            late = late or max(s.count for s in seen) >= _RARE * self.wanted
            patient = False
        elif kind == BACKWARD:
            patient = self._accumulates(streams.count(BACKWARD), late)
        elif kind == FORWARD:
            # An evaluation before the training has an optimizer ready, as a rule.
            patient = waited < self.give_up_s / 4 or (not late and self.may_step())
        else:
            patient = not late
        if patient:
            return None
        best = streams.best(kind)
        if best is not None and best.count >= self.wanted:
            return best
        return streams.best(kind, FEW) if late else None

    def at_the_end(self, streams: Streams) -> EventStream | None:
        """What ends a step of a script that has ended."""
        for kind in self.kinds:
            stream = streams.best(kind, 2) or streams.best(kind)
            if stream is not None:
                return stream
        return None

    def _accumulates(self, passes: int, late: bool) -> bool:
        """Whether these backward passes may belong to a step that is still to come."""
        if passes >= (_ACCUMULATED if late else _NEVER_STEPS):
            return False
        return (passes < self.wanted and not late) or self.may_step()

    def _only_loads(self, streams: Streams, batches: EventStream) -> bool:
        """Whether what trains is no longer seen, as in a captured CUDA graph."""
        last = streams.last_step()
        if batches.moments[-1].time - (last or batches.first) < self.give_up_s:
            return False
        return sum(moment.time > last for moment in batches.moments) >= self.wanted

"""What comes before the first step and between epochs: evaluation, saving, the first batch.

Epochs of a `DataLoader` end after some steps, so that their end is seen soon.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
import traceback
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.utils.data import get_worker_info

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.instrument_messages import OutsidePart, OutsideSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.instruments.pauses import CollectorClock
from torchlint.runtime.probe.steps.gap_lines import GapLines
from torchlint.runtime.probe.wrapping.interpose import Inside, shielded
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torchlint.runtime.probe.steps.gap_lines import Part
    from torchlint.runtime.probe.wrapping.interpose import Function

_ENOUGH_ENDS = 3
_ENOUGH_S, _MOST_S, _NO_LOADER_S = 10.0, 30.0, 5.0
"""After which one end of an epoch has to do, or none, or a script that uses no `DataLoader`."""
_LONGEST_S = 60.0
"""That the script may take from one step to the next."""
_LONG = 3.0
"""Times the median: a step with something that others have not."""
_LEAST_S = 0.02
_USUAL = 0.1
"""Of a step: a part that usual steps have as well is not what makes some of them long."""
_MOST_GAPS = 5000


class OutsideObserver(Observer):
    """Ends an epoch after `settings.steps` of its steps, and looks where the time goes until the
    next step has ended. What a usual step takes at a line is not counted there.
    """

    def prepare(self) -> None:
        """From now on, epochs are short."""
        self._started = time.perf_counter()
        self._inside = Inside()
        self._passes: dict[int, int] = {}
        self._begun: dict[tuple[int, int], int] = {}
        self._loader: tuple[int, ...] = ()
        self._trains: tuple[int, ...] = ()
        self._new = False
        self._taken = self._batches = 0
        self._epoch_steps: float | None = None
        self._unfinished = False
        iterator = private.loader_iterator()
        if iterator is not None:
            self.around(iterator, "__next__", self._next)

    def begin(self) -> None:
        self._window = self._last = time.perf_counter()
        self._trains = self._loader
        self._gaps: list[_Gap] = []
        clock = CollectorClock(self.places)
        self.hear_collector(clock.collecting)
        self.around(gc, "collect", clock.asked)
        self._lines = GapLines(Places(self.settings), clock.so_far_s)
        self._lines.begin()
        self._over = threading.Event()
        guard = threading.Thread(target=self._guard, name="torchlint-guard", daemon=True)
        guard.start()

        def dismiss() -> None:
            self._over.set()
            if guard is not threading.current_thread():
                guard.join()

        self.at_end(self._lines.end, dismiss)
        self._lines.step()

    @property
    def enough(self) -> bool:
        """Whether some epochs have ended, or none does soon."""
        ends = sum(each.ends for each in self._gaps)
        spent_s = self._last - self._window
        most_s = _ENOUGH_S if ends else _MOST_S if self._loader else _NO_LOADER_S
        return ends >= _ENOUGH_ENDS or spent_s > most_s or len(self._gaps) >= _MOST_GAPS

    def step(self) -> None:
        now = time.perf_counter()
        self._gaps.append(_Gap(now - self._last, self._new, self._lines.step()))
        self._taken += 1
        self._trains, self._new, self._last = self._loader, False, now

    def _guard(self) -> None:
        """What takes very long is reported while it does."""
        while not self._over.wait(1.0):
            if time.perf_counter() - self._last > _LONGEST_S:
                self._unfinished = True
                self.finish()

    def end(self) -> OutsideSeen:
        gaps, open_s = self._gaps, time.perf_counter() - self._last
        step_s = statistics.median(each.seconds for each in gaps) if gaps else 0.0
        longest_s = _LONG * step_s + _LEAST_S
        if open_s > longest_s and (self._unfinished or not any(each.ends for each in gaps)):
            # The script has ended after its only epoch, or does not go on with the next one.
            gaps.append(_Gap(open_s + step_s, True, self._lines.rest()))
        ends = [each for each in gaps if each.ends]
        within = [each for each in gaps if not each.ends]
        usual = [each for each in within if each.seconds <= longest_s]
        once: dict[Part, float] = defaultdict(float)
        for each in usual:
            for part, seconds in each.parts.items():
                once[part] += seconds / len(usual)
        long = [each for each in within if each.seconds > longest_s]
        return OutsideSeen(
            start_s=self._window - self._started,
            step_s=step_s,
            ends=len(ends),
            between_s=sum(max(0.0, each.seconds - step_s) for each in ends),
            within_s=sum(each.seconds for each in within),
            unfinished=self._unfinished,
            epoch_steps=self._epoch_steps,
            parts=_sums(ends, once),
            seldom=[
                each
                for each in _sums(long, once)
                if once.get((each.place, each.call, each.does), 0.0) <= _USUAL * step_s
            ],
        )

    def _next(self, plain: Function) -> Function:
        compiling, inside = private.compiling(), self._inside
        note = shielded(self._stopped)

        def next_batch(iterator: Any) -> Any:
            if compiling() or inside.now or get_worker_info() is not None:
                return plain(iterator)
            inside.now = True  # a loader inside a dataset is part of this
            undo = self._stops(iterator)
            try:
                return plain(iterator)
            except StopIteration:
                note(iterator, undo is not None)
                raise
            finally:
                inside.now = False
                if undo is not None:
                    undo()

        private.keep_from_compiler(next_batch)
        return next_batch

    def _stops(self, iterator: Any) -> Callable[[], bool] | None:
        """Have the epoch end, if it has had its steps."""
        try:
            number, loader = id(iterator), tuple(map(id, loader_iterators.identity(iterator)))
            if loader_iterators.handed_out(iterator) == 0:
                self._passes[number] = self._passes.get(number, 0) + 1
                self._new |= loader == self._trains
            self._loader = loader
            begun = self._begun.setdefault((number, self._passes.get(number, 0)), self._taken)
            if self._taken - begun < self.settings.steps:
                return None
            return loader_iterators.stop_once(iterator)
        except Exception:
            traceback.print_exc()
            return None

    def _stopped(self, iterator: Any, cut: bool) -> None:
        """An epoch has ended: how many steps it has had, or would have had."""
        number = id(iterator)
        begun = self._begun.get((number, self._passes.get(number, 0)), self._taken)
        steps, batches = self._taken - begun, loader_iterators.handed_out(iterator)
        if not steps:
            return
        self._new = True
        length = loader_iterators.length(iterator)
        if not cut:
            self._epoch_steps = float(steps)
        elif length is not None and batches:
            self._epoch_steps = length * steps / batches


@dataclass(frozen=True)
class _Gap:
    """Seconds from the end of a step to that of the next one, whole and by part; and whether an
    epoch has ended in it."""

    seconds: float
    ends: bool
    parts: Mapping[Part, float]


def _sums(gaps: Sequence[_Gap], once: Mapping[Part, float]) -> list[OutsidePart]:
    """What the parts take in some gaps, in addition to what they take in a usual step."""
    found: dict[Part, tuple[int, float]] = {}
    for each in gaps:
        for part, seconds in each.parts.items():
            times, before = found.get(part, (0, 0.0))
            found[part] = times + 1, before + max(0.0, seconds - once.get(part, 0.0))
    return [OutsidePart(*part, *sums) for part, sums in found.items() if sums[1] > 0]


watch = OutsideObserver

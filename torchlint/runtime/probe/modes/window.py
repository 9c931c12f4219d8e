"""Watches a window of steps with instruments, then reports what they saw."""

from __future__ import annotations

import os
import threading
import time
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.clock import is_capturing, uses_gpu
from torchlint.runtime.probe.steps.ranks import has_ranks

if TYPE_CHECKING:
    from torchlint.runtime.probe.link import Link
    from torchlint.runtime.probe.settings import Settings

_NEVER = 1 << 62


_BLOCKS = 10
"""Parts of a window, of which the fastest one says how long a step takes if nothing disturbs it."""


class Instrument(Protocol):
    """What `install(settings)` of a module in `probe.instruments` returns.

    One may have `beside_s`: seconds since the window began that went into its own work, on the
    thread that takes the steps.
    """

    def begin(self) -> None: ...
    def step(self) -> None: ...
    def end(self) -> dict[str, object]: ...


def install(settings: Settings, link: Link) -> Window:
    """Listen for the anchor, and let the instruments prepare.

    Raises:
        ValueError: the settings name no anchor that can be heard.
    """
    if settings.anchor is None:
        raise ValueError("a window needs an anchor")
    window = Window(settings, link)
    events.at_anchor(settings.anchor, window.boundary)
    os.register_at_fork(after_in_child=window.begin_again)
    return window


class Window:
    """Lets `skip` steps pass, watches `steps` steps, and sends what was seen.

    A script that ends in its window reports what was seen until then.
    """

    def __init__(self, settings: Settings, link: Link) -> None:
        self._settings = settings
        self._link = link
        self._instruments: dict[str, Instrument] = {
            name: import_module(f"torchlint.runtime.probe.instruments.{name}").install(settings)
            for name in settings.instruments
        }
        self.begin_again()

    def begin_again(self) -> None:
        """This process is a copy, as a loader's worker. If it trains, it is one of its own."""
        self.steps = 0
        self._lock = threading.Lock()
        self._begun: float | None = None
        self._ends: list[float] = []
        self._done = False

    def boundary(self) -> None:
        """A step has ended."""
        self.steps += 1
        if self._done or self.steps <= self._settings.skip:
            return
        with self._lock, private.out_of_compiler():
            if self._done or is_capturing(torch.cuda):
                return
            if self._begun is None:
                self._begin()
                return
            self._ends.append(self._clock())
            for instrument in self._instruments.values():
                instrument.step()
            if self.steps - self._settings.skip > self._settings.steps:
                self._report()

    def finish(self) -> None:
        """The script has ended; report the steps of the window that there were."""
        with self._lock:
            if not self._done and self._begun is not None and self._seen:
                self._report(finished=True)

    @property
    def _seen(self) -> int:
        """Whole steps since the window began."""
        return self.steps - self._settings.skip - 1

    def _begin(self) -> None:
        assert self._settings.anchor is not None
        if not events.may_end_steps(self._settings.anchor.kind, self._link.role):
            self._done = True
            return
        for instrument in self._instruments.values():
            instrument.begin()
        self._wait_for_gpu()
        self._begun = time.perf_counter()
        self._ends = [self._clock()]

    def _clock(self) -> float:
        """Seconds, without those of the instruments that say theirs."""
        beside = sum(getattr(each, "beside_s", 0.0) for each in self._instruments.values())
        return time.perf_counter() - beside

    def _report(self, *, finished: bool = False) -> None:
        self._done = True
        self._wait_for_gpu()
        assert self._begun is not None
        seconds = time.perf_counter() - self._begun
        found = {name: instrument.end() for name, instrument in self._instruments.items()}
        steps = self._seen
        message = {"steps": steps, "seconds": seconds, "fastest_s": self._fastest_s()}
        self._link.send({"type": "window", **message, "found": found})
        if not finished and not has_ranks():
            self._link.wait_to_be_killed()

    def _fastest_s(self) -> float | None:
        """Seconds of a step in the fastest tenth of the window; None on a GPU, where the host only
        queues steps."""
        if uses_gpu(self._settings.device, torch.cuda):
            return None
        size = max(1, self._seen // _BLOCKS)
        return min(stop - start for start, stop in pairwise(self._ends[::size])) / size

    def _wait_for_gpu(self) -> None:
        if uses_gpu(self._settings.device, torch.cuda):
            torch.cuda.synchronize()

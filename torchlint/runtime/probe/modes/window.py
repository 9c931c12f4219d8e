"""Watches a window of steps with instruments, then reports what they saw."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import install_all
from torchlint.runtime.probe.machine.clock import is_capturing, uses_gpu
from torchlint.runtime.probe.machine.own_rank import has_ranks
from torchlint.runtime.probe.machine.thread_time import ThreadTime
from torchlint.runtime.probe.messages import WindowSeen
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from torchlint.runtime.probe.link import Link
    from torchlint.runtime.probe.run_settings import RunSettings

_NEVER = 1 << 62


def install(settings: RunSettings, link: Link) -> WindowWatch:
    """Listen for the anchor, and let the instruments prepare.

    Raises:
        ValueError: the settings name no anchor that can be heard.
    """
    if settings.anchor is None:
        raise ValueError("a window needs an anchor")
    window = WindowWatch(settings, link)
    events.at_anchor(settings.anchor, window.boundary)
    os.register_at_fork(after_in_child=window.begin_again)
    return window


class WindowWatch:
    """Lets `skip` steps pass, watches `steps` steps, and sends what was seen.

    A script that ends in its window reports what was seen until then.
    """

    def __init__(self, settings: RunSettings, link: Link) -> None:
        self._settings = settings
        self._link = link
        self._instruments = install_all(settings)
        for each in self._instruments.values():
            each.finish = self.finish
        self.begin_again()

    def begin_again(self) -> None:
        """This process is a copy, as a loader's worker. If it trains, it is one of its own."""
        self.steps = 0
        self._lock = threading.Lock()
        self._begun: float | None = None
        self._time: ThreadTime | None = None
        self._held_s: float | None = None
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
            for instrument in self._instruments.values():
                instrument.passed()
            if self._is_enough():
                self._report()

    def finish(self) -> None:
        """The script has ended; report the steps of the window that there were."""
        with self._lock:
            if not self._done and self._begun is not None and self._seen:
                self._report(finished=True)

    def _is_enough(self) -> bool:
        said = [each.enough for each in self._instruments.values() if each.enough is not None]
        return all(said) if said else self.steps - self._settings.skip > self._settings.steps

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
            instrument.open()
        self._wait_for_gpu()
        self._time = ThreadTime()
        self._held_s = self._time.held_s()
        self._begun = time.perf_counter()

    def _report(self, *, finished: bool = False) -> None:
        self._done = True
        self._wait_for_gpu()
        assert self._begun is not None
        seconds, held_s = time.perf_counter() - self._begun, self._lacked_s()
        found = {name: instrument.close() for name, instrument in self._instruments.items()}
        self._link.send("window", WindowSeen(self._seen, seconds, held_s, found))
        if not finished and not has_ranks():
            self._link.wait_to_be_killed()

    def _lacked_s(self) -> float | None:
        """Seconds of the window for which the thread that began it had no processor."""
        held_s = None if self._time is None else self._time.held_s()
        if self._time is not None:
            self._time.close()
        return None if held_s is None or self._held_s is None else held_s - self._held_s

    def _wait_for_gpu(self) -> None:
        if uses_gpu(self._settings.device, torch.cuda):
            torch.cuda.synchronize()

"""How long the training thread waits for batches, and which stage of a loader it waits for.

What it waits for a processor meanwhile is counted apart: that is not the loader's time.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from torch.utils.data import DataLoader, get_worker_info

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.batches.loader_makers import LoaderMakers
from torchlint.runtime.probe.instrument_messages import InputSeen, LoaderWaits
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.thread_time import ThreadTime
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from torchlint.runtime.probe.instrument_messages import LoaderOptions
    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function


class InputObserver(Observer):
    """Times `next` of every loader's iterator."""

    def prepare(self) -> None:
        """Note from now on where loaders are made."""
        self._makers = LoaderMakers(self.places)
        self.around(DataLoader, "__init__", self._makers.around_init)

    def begin(self) -> None:
        self._waits: dict[tuple[Place | None, Place | None, LoaderOptions], LoaderWaits] = {}
        self._loaders: WeakKeyDictionary[Any, tuple[Place | None, LoaderOptions]] = (
            WeakKeyDictionary()
        )
        self._starting: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._open: tuple[Any, bool, float, float] | None = None
        self._fetching = False
        self._samples_s = self._collate_s = 0.0
        self._time = ThreadTime()
        iterator = private.loader_iterator()
        if iterator is None:
            return
        self.around(DataLoader, "__iter__", self._timed_start)
        self.around(iterator, "__next__", self._timed_next)
        for fetcher in loader_iterators.fetchers():
            self.around(fetcher, "fetch", self._timed_fetch)

    def end(self) -> InputSeen:
        # Where a batch ends a step, this is called before `next` has returned.
        self._ended(True)
        self._time.close()
        return InputSeen(list(self._waits.values()))

    def _timed_start(self, plain: Function) -> Function:
        started = shielded(self._started)

        def start(loader: Any) -> Any:
            if not self.watching or self._open is not None:
                return plain(loader)
            if threading.get_ident() != self.thread:
                return plain(loader)
            begun = self._time.now_s()
            iterator = plain(loader)
            started(iterator, self._time.now_s() - begun)
            return iterator

        return start

    def _started(self, iterator: Any, seconds: float) -> None:
        self._starting[iterator] = seconds

    def _timed_next(self, plain: Function) -> Function:
        compiling, began, ended = private.compiling(), shielded(self._began), shielded(self._ended)

        def next_batch(iterator: Any) -> Any:
            if compiling() or not self.watching:
                return plain(iterator)
            # Not on another thread, nor of a loader inside a dataset.
            if threading.get_ident() != self.thread or self._open is not None:
                return plain(iterator)
            began(iterator)
            given = False
            try:
                batch = plain(iterator)
                given = True
            finally:
                ended(given)
            return batch

        private.keep_from_compiler(next_batch)
        return next_batch

    def _began(self, iterator: Any) -> None:
        first = loader_iterators.handed_out(iterator) == 0
        self._samples_s = self._collate_s = 0.0
        self._open = (iterator, first, *self._time.read())

    def _ended(self, given: bool) -> None:
        if self._open is None:
            return
        iterator, first, begun, held_before = self._open
        now_s, held_s = self._time.read()
        seconds = now_s - begun
        self._open = None
        watched = self._loaders.get(iterator)
        if watched is None:
            loader = loader_iterators.describe(iterator, self.places)
            watched = self._loaders[iterator] = (self._makers.of(iterator), loader)
        place, (made, loader) = self.places.here(), watched
        waits = self._waits.setdefault((place, made, loader), LoaderWaits(place, made, loader))
        waits.batches += given
        waits.samples_s += self._samples_s
        waits.collate_s += self._collate_s
        waits.held_s += held_s - held_before
        if first:
            waits.firsts += given
            waits.first_s += seconds + self._starting.pop(iterator, 0.0)
        else:
            waits.wait_s += seconds

    def _timed_fetch(self, plain: Function) -> Function:
        """The collate function is timed on its own, for this call."""

        def fetch(fetcher: Any, index: Any) -> Any:
            if not self._watches_fetch():
                return plain(fetcher, index)
            collate, collate_s = fetcher.collate_fn, 0.0

            def timed(samples: Any) -> Any:
                nonlocal collate_s
                begun = self._time.now_s()
                try:
                    return collate(samples)
                finally:
                    collate_s = self._time.now_s() - begun

            fetcher.collate_fn, self._fetching = timed, True
            begun = self._time.now_s()
            try:
                return plain(fetcher, index)
            finally:
                fetcher.collate_fn, self._fetching = collate, False
                self._collate_s += collate_s
                self._samples_s += self._time.now_s() - begun - collate_s

        return fetch

    def _watches_fetch(self) -> bool:
        """Not in a worker, whose memory is a copy of this process's, nor in a loader in a dataset
        of a loader."""
        waiting = self._open is not None and threading.get_ident() == self.thread
        return waiting and not self._fetching and get_worker_info() is None


watch = InputObserver

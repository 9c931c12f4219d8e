"""How long the training thread waits for batches, and which stage of a loader it waits for.

What it waits for a processor meanwhile is counted apart: that is not the loader's time.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from torch.utils.data import DataLoader, get_worker_info

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps import loader_iterators
from torchlint.runtime.probe.steps.interpose import replace, shielded
from torchlint.runtime.probe.steps.places import Places
from torchlint.runtime.probe.steps.thread_time import ThreadTime

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo
    from torchlint.runtime.probe.steps.loader_iterators import Loader
    from torchlint.runtime.probe.steps.places import Place


def install(settings: Settings) -> Input:
    """Before the window begins, only where loaders are made is noted."""
    watch = Input(settings)
    watch.note_makers()
    return watch


@dataclass(slots=True)
class Waits:
    """Of one place that asks one loader for batches.

    Args:
        batches: handed out, the first ones of epochs too.
        wait_s: seconds in `next`, without the first batches of epochs.
        firsts: first batches of epochs.
        first_s: seconds until they were there, with the start of the iterator.
        samples_s: seconds that the dataset took, in this process.
        collate_s: seconds that making batches of samples took, in this process.
        held_s: seconds in `next` in which the thread had no processor; not in the others.
    """

    batches: int = 0
    wait_s: float = 0.0
    firsts: int = 0
    first_s: float = 0.0
    samples_s: float = 0.0
    collate_s: float = 0.0
    held_s: float = 0.0


class Input:
    """Times `next` of every loader's iterator.

    `end()` returns `steps`; `elsewhere`, the batches that other threads took, which the training
    thread may wait for out of sight; and `loaders`: a list of objects with the fields of `Loader`
    and `Waits`, with `place`, and with `made`, where the loader was made.
    """

    def __init__(self, settings: Settings) -> None:
        self._places = Places(settings)
        self._undo: list[Undo] = []
        # What others have wrapped meanwhile stays in place at the end, and does nothing then.
        self._watching = False
        self._made: WeakKeyDictionary[Any, Place | None] = WeakKeyDictionary()

    def note_makers(self) -> None:
        """Note from now on where loaders are made."""
        self._undo.append(replace(DataLoader, "__init__", self._noted_init))

    def begin(self) -> None:
        self._thread = threading.get_ident()
        self._steps = self._elsewhere = 0
        self._waits: dict[tuple[Place | None, Place | None, Loader], Waits] = {}
        self._loaders: WeakKeyDictionary[Any, tuple[Place | None, Loader]] = WeakKeyDictionary()
        self._starting: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._open: tuple[Any, bool, float, float] | None = None
        self._fetching = False
        self._samples_s = self._collate_s = 0.0
        self._watching = True
        self._time = ThreadTime()
        iterator = private.loader_iterator()
        if iterator is None:
            return
        self._undo.append(replace(DataLoader, "__iter__", self._timed_start))
        self._undo.append(replace(iterator, "__next__", self._timed_next))
        for fetcher in loader_iterators.fetchers():
            self._undo.append(replace(fetcher, "fetch", self._timed_fetch))

    def step(self) -> None:
        self._steps += 1

    def end(self) -> dict[str, object]:
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        self._watching = False
        # Where a batch ends a step, this is called before `next` has returned.
        self._ended(True)
        self._time.close()
        loaders = [
            {"place": place, "made": made, **loader._asdict(), **_values(waits)}
            for (place, made, loader), waits in self._waits.items()
        ]
        return {"steps": self._steps, "elsewhere": self._elsewhere, "loaders": loaders}

    def _noted_init(self, plain: Function) -> Function:
        noted = shielded(self._noted)

        def init(loader: Any, *args: Any, **kwargs: Any) -> None:
            plain(loader, *args, **kwargs)
            noted(loader)

        return init

    def _noted(self, loader: Any) -> None:
        self._made[loader] = self._places.here()

    def _maker(self, iterator: Any) -> Place | None:
        for loader, made in self._made.items():
            if loader_iterators.is_of(iterator, loader):
                return made
        return None

    def _timed_start(self, plain: Function) -> Function:
        started = shielded(self._started)

        def start(loader: Any) -> Any:
            if not self._watching or self._open is not None:
                return plain(loader)
            if threading.get_ident() != self._thread:
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
            if compiling() or not self._watching:
                return plain(iterator)
            if threading.get_ident() != self._thread:
                batch = plain(iterator)
                self._elsewhere += 1
                return batch
            if self._open is not None:  # a loader inside a dataset
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
        known = self._loaders.get(iterator)
        if known is None:
            loader = loader_iterators.describe(iterator, self._places)
            known = self._loaders[iterator] = (self._maker(iterator), loader)
        waits = self._waits.setdefault((self._places.here(), *known), Waits())
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
        waiting = self._open is not None and threading.get_ident() == self._thread
        return waiting and not self._fetching and get_worker_info() is None


def _values(waits: Waits) -> dict[str, object]:
    return {name: getattr(waits, name) for name in Waits.__slots__}

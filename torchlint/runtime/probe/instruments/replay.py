"""What a step takes if batches cost nothing: each loader hands out the same batch again."""

from __future__ import annotations

import threading
import time
import traceback
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from torch.utils.data import DataLoader, get_worker_info

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.batches.kept_batch import KeptBatch
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.wrapping.interpose import Inside, shielded

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.wrapping.interpose import Function

_MOST_LOADERS = 16
"""Whose first batches are remembered."""


class Epoch:
    """One pass of an iterator over its data.

    Args:
        kept: the batch that is handed out again.
        left: batches to go once its sampler has ended; None before.
        why: the reason why it has to load a batch though it has one: `changed` or `endless`, of
            the next batch, and `unknown`, of all of them.
    """

    def __init__(self) -> None:
        self.kept: KeptBatch | None = None
        self.left: int | None = None
        self.why: str | None = None


class Replay(Observer):
    """Stands in for what a loader's iterator would load. Epochs stay as long as they are.

    Attributes:
        count: `replayed` and `real` batches, and of the real ones those that could not be replayed:
            `endless`, since nobody knows when their epoch ends, `unknown`, since they cannot be
            handed out twice, and `changed`, since the script wrote into the one before.
    """

    def begin(self) -> None:
        self._inside = Inside()
        self._since: float | None = None
        self._real_s = 0.0
        self.count = dict.fromkeys(("replayed", "real", "endless", "unknown", "changed"), 0)
        self._epochs: WeakKeyDictionary[Any, Epoch] = WeakKeyDictionary()
        # With what they are known by, so that no other object gets one's `id`.
        self._firsts: dict[tuple[int, ...], tuple[object, KeptBatch]] = {}
        iterator = private.loader_iterator()
        if iterator is not None:
            self.around(DataLoader, "__iter__", self._timed_start)
            self.around(iterator, "__next__", self._next)

    @property
    def beside_s(self) -> float:  # type: ignore[override]
        """Seconds that went into real batches, the start of iterators and the choice of indices;
        where a batch ends a step, of that one as well."""
        open_s = 0.0 if self._since is None else time.perf_counter() - self._since
        return self._real_s + open_s

    def end(self) -> None:
        # Where a batch ends a step, this is called before `next` has returned.
        self._loaded()
        self._epochs.clear()
        self._firsts.clear()

    def _timed_start(self, plain: Function) -> Function:
        def start(loader: Any) -> Any:
            if self._inside.now or not self.watching:
                return plain(loader)
            self._loading()
            try:
                return plain(loader)
            finally:
                self._loaded()

        return start

    def _next(self, plain: Function) -> Function:
        compiling, remember = private.compiling(), shielded(self._remember)

        def next_batch(iterator: Any) -> Any:
            if compiling() or not self._replays():
                return plain(iterator)
            self._inside.now = True  # a loader inside a dataset is part of this
            undo = self._prepare(iterator)
            replays = undo is not None
            if not replays:
                self._loading()
            try:
                batch = plain(iterator)
            finally:
                self._loaded()
                self._inside.now = False
                if undo is not None:
                    replays = undo()
            if replays:
                self.count["replayed"] += 1
            else:
                remember(iterator, batch)
            return batch

        private.keep_from_compiler(next_batch)
        return next_batch

    def _replays(self) -> bool:
        return self.watching and not self._inside.now and get_worker_info() is None

    def _prepare(self, iterator: Any) -> Callable[[], bool] | None:
        """Have the iterator hand out an old batch or end; None: it has to load one."""
        self._loading()
        try:
            return self._stand_in(iterator)
        except Exception:
            traceback.print_exc()
            return None
        finally:
            self._loaded()

    def _stand_in(self, iterator: Any) -> Callable[[], bool] | None:
        epoch = self._epoch(iterator)
        kept = epoch.kept
        if kept is None or epoch.why == "unknown":
            return None
        if kept.is_changed:
            epoch.why = "changed"
            return None
        batch = kept.again()
        ends = self._ends(iterator, epoch)
        if ends is None:
            epoch.why = "endless"
            return None
        if ends:
            return loader_iterators.stop_once(iterator)
        return loader_iterators.give_once(iterator, batch)

    def _epoch(self, iterator: Any) -> Epoch:
        epoch = self._epochs.get(iterator)
        if epoch is None or loader_iterators.handed_out(iterator) == 0:
            epoch = self._epochs[iterator] = Epoch()
            if loader_iterators.handed_out(iterator) == 0:
                known = self._firsts.get(_ids(iterator))
                epoch.kept = known[1] if known is not None else None
        return epoch

    @staticmethod
    def _ends(iterator: Any, epoch: Epoch) -> bool | None:
        """Whether the real iterator would end now; None: only it can tell."""
        given = loader_iterators.handed_out(iterator)
        if loader_iterators.is_stream(iterator):
            length = loader_iterators.length(iterator)
            return None if length is None or given is None or given > length else given == length
        if epoch.left is None:
            chosen = loader_iterators.skip(iterator)
            if chosen is None or chosen:
                return None if chosen is None else False
            epoch.left = loader_iterators.prefetched(iterator)
        epoch.left -= 1
        return epoch.left < 0

    def _remember(self, iterator: Any, batch: Any) -> None:
        if not self.watching:  # the window ended with this batch
            return
        self.count["real"] += 1
        epoch = self._epoch(iterator)
        if epoch.why in ("changed", "endless"):
            self.count[epoch.why] += 1
            epoch.why = None
        try:
            epoch.kept = KeptBatch(batch)
        except Exception:  # a class of the user's may not bear to be copied
            epoch.why = "unknown"
            self.count[epoch.why] += 1
            return
        if loader_iterators.handed_out(iterator) == 1 and len(self._firsts) < _MOST_LOADERS:
            parts = loader_iterators.identity(iterator)
            self._firsts[_ids(iterator)] = (parts, epoch.kept)

    def _loading(self) -> None:
        if threading.get_ident() == self.thread and self._since is None:
            self._since = time.perf_counter()

    def _loaded(self) -> None:
        if self._since is not None and threading.get_ident() == self.thread:
            self._real_s += time.perf_counter() - self._since
            self._since = None


def _ids(iterator: Any) -> tuple[int, ...]:
    return tuple(map(id, loader_iterators.identity(iterator)))


watch = Replay

"""Shares work among processes, through joblib: here with loky, or on a Dask or Ray cluster."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from torchlint.workers.clusters import Cluster

_T = TypeVar("_T")
_R = TypeVar("_R")

BACKENDS: Final = ("dask", "ray")
"""The clusters that `clusters.connected` knows."""
_WORTH_PROCESSES: Final = 1_500_000
"""Bytes below which starting processes costs more than it saves."""
_WORTH_WAKING: Final = 50_000
"""The same where they are there already, from a call before."""
_SHARES_EACH: Final = 32
"""Shares per process, so that all end at about the same time."""
_LARGEST_SHARE: Final = 4_000_000
"""Bytes of files that travel together; what a process holds at a time."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Processes that share work.

    Args:
        jobs: how many processes on this machine; 1 means this one.
        cluster: other machines that do the work instead; this machine does what they leave undone.
        endable: do the work of this process in a child, so that Ctrl-C ends it at once, and what
            takes forever is lost alone.

    Attributes:
        troubles: sentences about failures that were recovered from.
    """

    def __init__(
        self, jobs: int = 1, cluster: Cluster | None = None, *, endable: bool = False
    ) -> None:
        self.jobs = jobs
        self._endable = endable
        self.troubles: list[str] = []
        self._cluster = cluster
        self._started = False

    def map(
        self,
        work: Callable[[list[_T]], list[_R]],
        items: Iterable[_T],
        *,
        weigh: Callable[[_T], int],
        pack: Callable[[_T], _T] = lambda item: item,
    ) -> Iterator[tuple[_T, _R | None]]:
        """Each item with what `work` makes of it, share by share; None if its process died.

        If a process dies, only the item that it was working on is lost.

        Args:
            work: gives a result for each item of a list; a function that can be pickled, which
                raises nothing.
            weigh: the bytes of an item, which its cost goes by.
            pack: makes an item ready for a machine that does not have this one's files.
        """
        todo = list(items)
        if not todo:
            return
        jobs = self.jobs if self._cluster is None else self._cluster.processes
        weight = sum(map(weigh, todo))
        shares = _shares(todo, weigh, max(_SHARES_EACH * jobs, weight // _LARGEST_SHARE))
        if self._cluster is not None:
            shares = yield from self._on_cluster(self._cluster, work, shares, pack)
        elif len(todo) < 2 or weight < (_WORTH_WAKING if self._started else _WORTH_PROCESSES):
            yield from self._here(work, shares)
            return
        yield from self._on_this_machine(work, shares)

    def close(self) -> None:
        """End the processes on this machine, which else wait for more work to come."""
        if not self._started:
            return
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)
        self._started = False

    def _on_cluster(
        self,
        cluster: Cluster,
        work: Callable[[list[_T]], list[_R]],
        shares: list[list[_T]],
        pack: Callable[[_T], _T],
    ) -> Generator[tuple[_T, _R], None, list[list[_T]]]:
        """The results of the shares on a cluster; returns the shares that it does not complete."""
        for _ in range(2):
            shares, error = yield from _together(
                work, shares, cluster.backend, pack=pack, slots=cluster.processes
            )
            if not shares:
                return []
        self.troubles.append(f"{cluster.name} gave up ({error}); this machine did the rest.")
        return shares

    def _on_this_machine(
        self, work: Callable[[list[_T]], list[_R]], shares: list[list[_T]]
    ) -> Iterator[tuple[_T, _R | None]]:
        from torchlint.workers.safe_path import is_safe_to_start, safe_path

        if self.jobs <= 1 or not is_safe_to_start():
            yield from self._here(work, shares)
            return
        self._started = True
        loky = {"backend": "loky", "n_jobs": self.jobs, "initializer": _begin}
        with safe_path():
            while shares:
                shares, _error = yield from _together(work, shares, loky, slots=self.jobs)
                # These of the remaining shares were already sent to a process.
                for share in shares[: 2 * self.jobs]:
                    yield from _apart(work, share)
                del shares[: 2 * self.jobs]

    def _here(
        self, work: Callable[[list[_T]], list[_R]], shares: Iterable[list[_T]]
    ) -> Iterator[tuple[_T, _R | None]]:
        from torchlint.workers.endable import in_child, is_possible

        if self._endable and is_possible():
            yield from in_child(work, list(chain.from_iterable(shares)))
            return
        for share in shares:
            yield from zip(share, work(share), strict=True)


def _together(
    work: Callable[[list[_T]], list[_R]],
    shares: Sequence[list[_T]],
    backend: Mapping[str, Any],
    *,
    slots: int,
    pack: Callable[[_T], _T] = lambda item: item,
) -> Generator[tuple[_T, _R], None, tuple[list[list[_T]], Exception | None]]:
    """The results of the shares until a process or a whole cluster dies.

    Args:
        backend: arguments of joblib's `parallel_config`.

    Returns:
        the shares that are left, and why.
    """
    from joblib import Parallel, delayed, parallel_config

    left = dict(enumerate(shares))

    def tasks() -> Iterator[object]:
        for number, share in enumerate(shares):
            yield delayed(_numbered)(work, number, list(map(pack, share)))

    with parallel_config(**backend):
        try:
            parallel = Parallel(
                return_as="generator_unordered", batch_size=1, pre_dispatch=2 * slots
            )
        except ValueError:  # Ray returns results all at once
            parallel = Parallel(batch_size=1, pre_dispatch=2 * slots)
        local = backend.get("backend") == "loky"
        try:
            with _without_interrupts() if local else nullcontext():
                done = iter(parallel(tasks()))
                first = next(done)  # by now all processes run
            for number, results in chain([first], done):
                yield from zip(left.pop(number), results, strict=True)
        except Exception as error:  # `work` raises nothing, so this is the backend's own
            return list(left.values()), error
    return [], None


def _numbered(
    work: Callable[[list[_T]], list[_R]], number: int, share: list[_T]
) -> tuple[int, list[_R]]:
    return number, work(share)


def _apart(work: Callable[[list[_T]], list[_R]], share: list[_T]) -> Iterator[tuple[_T, _R | None]]:
    """The same with a process for this share alone, and for each half of it if that dies."""
    from concurrent.futures import BrokenExecutor

    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(1, initializer=_begin) as executor:
        try:
            with _without_interrupts():
                results = executor.submit(work, share)
            yield from zip(share, results.result(), strict=True)
            return
        except BrokenExecutor:
            if len(share) == 1:
                yield share[0], None
                return
    middle = len(share) // 2
    yield from _apart(work, share[:middle])
    yield from _apart(work, share[middle:])


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C, even during their imports: they inherit the
    signals that this thread blocks. This process gets the signal in another thread."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    import threading
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # or its start would unblock the signal
    over = threading.Event()
    threading.Thread(target=over.wait, daemon=True).start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        over.set()


def _begin() -> None:
    """The beginning of a process."""
    from torchlint.workers.endable import end_with_parent, ignore_interrupts, may_be_ended

    ignore_interrupts()
    may_be_ended()
    end_with_parent()


def _shares(items: Iterable[_T], weigh: Callable[[_T], int], count: int) -> list[list[_T]]:
    """At most so many lists of about equal weight, heavy items first."""
    import heapq

    ordered = sorted(items, key=weigh, reverse=True)
    shares: list[list[_T]] = [[] for _ in range(min(count, len(ordered)))]
    loads = [(0, number) for number in range(len(shares))]
    for item in ordered:
        load, number = loads[0]
        shares[number].append(item)
        heapq.heapreplace(loads, (load + weigh(item), number))
    return shares

"""Random numbers of samples that do not depend on the process which loads them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.utils.data import get_worker_info

from torchlint.runtime.probe import private
from torchlint.runtime.probe.numbers.streams import Stream, number, seed_processor

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Batch:
    """What a loader asks a fetcher for, with what its samples' random numbers hang on."""

    index: Any
    key: tuple[object, ...]

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _unpacked, (self.index, self.key)


def _unpacked(index: object, key: tuple[object, ...]) -> object:
    # A worker that the probe did not get into takes indices as they are.
    return Batch(index, key) if private.fetchers_are_wrapped() else index


class _Samples:
    """A dataset each of whose samples begins with random numbers of its own."""

    def __init__(self, dataset: Any, key: tuple[object, ...]) -> None:
        self._dataset = dataset
        self._key = key

    def __getitem__(self, index: Any) -> Any:
        seed_processor(number(*self._key, "sample", _name(index)))
        return self._dataset[index]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._dataset, name)
        if name != "__getitems__" or not callable(found):
            return found

        def several(indices: Any) -> Any:
            seed_processor(number(*self._key, "samples", _name(indices)))
            return found(indices)

        return several


def _name(index: object) -> object:
    """An index as something that reads the same in every process."""
    try:
        return operator.index(index)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        parts = index.tolist() if hasattr(index, "tolist") else index
        if isinstance(parts, (tuple, list)):
            return tuple(map(_name, parts))
        simple = isinstance(index, (str, bytes, float, type(None)))
        return index if simple else type(index).__name__


def fetch_indexed(fetch: Callable[[Any], Any], fetcher: Any, batch: Any) -> Any:
    """A batch of a dataset that is asked by index."""
    if not isinstance(batch, Batch):
        return fetch(batch)
    dataset = fetcher.dataset
    fetcher.dataset = _Samples(dataset, batch.key)
    try:
        with Stream(*batch.key)():
            return fetch(batch.index)
    finally:
        fetcher.dataset = dataset


def fetch_next(fetch: Callable[[Any], Any], fetcher: Any, batch: Any) -> Any:
    """A batch of a dataset that is a stream."""
    if not isinstance(batch, Batch):
        return fetch(batch)
    worker = get_worker_info()
    key = (*batch.key, "worker", 0 if worker is None else worker.id)
    key_and_stream = getattr(fetcher, "torchlint_stream", None)
    if key_and_stream is None or key_and_stream[0] != key:
        key_and_stream = fetcher.torchlint_stream = (key, Stream(*key))
    with key_and_stream[1]():
        return fetch(batch.index)

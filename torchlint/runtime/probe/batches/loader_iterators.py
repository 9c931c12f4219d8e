"""What an iterator of a torch `DataLoader` tells about its loader and how far it has come.

The names that it reads are torch's own; each function bears their absence.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import LoaderOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.user_lines import Places

_WRAPPERS = 8
"""Datasets inside others, as in `Subset`, that are looked into."""


def fetchers() -> list[Any]:
    """The classes whose `fetch` reads a batch of samples and collates it."""
    found = map(private.find, (_FETCH + "_MapDatasetFetcher", _FETCH + "_IterableDatasetFetcher"))
    return [each for each in found if "fetch" in vars(each)]


_FETCH = "torch.utils.data._utils.fetch:"


def describe(iterator: Any, places: Places) -> LoaderOptions:
    """The loader that an iterator belongs to."""
    return LoaderOptions(
        dataset=type(getattr(iterator, "_dataset", None)).__name__,
        workers=workers(iterator),
        persistent=bool(getattr(iterator, "_persistent_workers", False)),
        length=length(iterator),
        samples=_made_at(getattr(iterator, "_dataset", None), places),
        collate=_defined_at(getattr(iterator, "_collate_fn", None), places),
    )


def ahead(iterator: Any) -> int:
    """Batches that its workers prepare while nobody asks for one."""
    prefetch = _whole(getattr(iterator, "_prefetch_factor", None)) or 0
    return workers(iterator) * prefetch


def workers(iterator: Any) -> int:
    """The processes that load its batches, beside that of the training."""
    return int(getattr(iterator, "_num_workers", 0))


def identity(iterator: Any) -> tuple[object, ...]:
    """Objects that all iterators of one loader share, and no others."""
    parts = (getattr(iterator, name, None) for name in ("_dataset", "_collate_fn"))
    return (_sampler(iterator), *parts)


def is_of(iterator: Any, loader: Any) -> bool:
    """Whether this loader made the iterator, or one that shares its dataset and its sampler."""
    names = ("_index_sampler", "dataset", "collate_fn")
    theirs = [getattr(loader, name, None) for name in names]
    return theirs[0] is not None and all(map(operator.is_, identity(iterator), theirs))


def handed_out(iterator: Any) -> int | None:
    """Batches that it has given in this epoch; None if it does not count them."""
    return _whole(getattr(iterator, "_num_yielded", None))


def length(iterator: Any) -> int | None:
    """Batches of an epoch, as `len(loader)` has it; None if nobody can tell."""
    try:
        if is_stream(iterator):
            samples, size = len(iterator._dataset), getattr(_sampler(iterator), "batch_size", 1)
            return samples // size if iterator._drop_last else -(-samples // size)
        return len(iterator)
    except Exception:  # `__len__` may be the user's
        return None


def is_stream(iterator: Any) -> bool:
    """Whether its dataset decides by itself when it ends."""
    from torch.utils.data import IterableDataset

    return isinstance(getattr(iterator, "_dataset", None), IterableDataset)


def skip(iterator: Any) -> bool | None:
    """Let the sampler of a dataset with indices choose one more batch, which nobody loads.

    Returns:
        Whether there was one; None if this torch does not say how to choose.
    """
    choose = getattr(iterator, "_next_index", None)
    if choose is None:
        return None
    try:
        choose()
    except StopIteration:
        return False
    return True


def prefetched(iterator: Any) -> int:
    """Batches that its workers were asked for, and that it has not given yet."""
    return int(getattr(iterator, "_send_idx", 0)) - int(getattr(iterator, "_rcvd_idx", 0))


def give_once(iterator: Any, batch: Any) -> Callable[[], bool]:
    """Let the iterator's next batch be this one, instead of one that is loaded. Everything else
    that `next` does is done.

    Returns:
        To be called after `next`: takes this back, and says whether the batch was used.
    """
    return _instead(iterator, lambda: batch)


def stop_once(iterator: Any) -> Callable[[], bool]:
    """Let the iterator end now; as `give_once`."""

    def stop() -> Any:
        raise StopIteration

    return _instead(iterator, stop)


def _instead(iterator: Any, load: Callable[[], Any]) -> Callable[[], bool]:
    used = False

    def next_data() -> Any:
        nonlocal used
        used = True
        return load()

    iterator._next_data = next_data

    def undo() -> bool:
        vars(iterator).pop("_next_data", None)
        return used

    return undo


def _sampler(iterator: Any) -> Any:
    return getattr(iterator, "_index_sampler", None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _made_at(dataset: Any, places: Places) -> Place | None:
    """The user's method that makes samples: of the dataset, or of the first one that it wraps."""
    for each in itertools.islice(_nested(dataset), _WRAPPERS):
        for name in ("__getitems__", "__getitem__", "__iter__"):
            place = _defined_at(getattr(type(each), name, None), places)
            if place is not None:
                return place
    return None


def _nested(dataset: Any) -> Iterator[Any]:
    while dataset is not None:
        yield dataset
        dataset = getattr(dataset, "__dict__", {}).get("dataset")


def _defined_at(function: Any, places: Places) -> Place | None:
    """The row of the `def` of a function, or of the `__call__` of another object."""
    while isinstance(function, functools.partial):
        function = function.func
    if function is None:
        return None
    function = inspect.unwrap(function)
    called = inspect.getattr_static(type(function), "__call__", None)  # of a callable object
    code = getattr(function, "__code__", None) or getattr(called, "__code__", None)
    if code is None:
        return None
    path = places.path_of(code)
    return None if path is None else (path, code.co_firstlineno)

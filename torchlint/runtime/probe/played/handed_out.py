"""What a loader hands out is marked with the line that made the loader."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.utils.data import DataLoader

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches.loader_makers import LoaderMakers
from torchlint.runtime.probe.played.marks import BATCH, mark_batch
from torchlint.runtime.probe.wrapping.interpose import Inside, replace
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.run_settings import RunSettings

    Function = Callable[..., Any]

_MOST: Final = 1000
"""Parts of a batch that are looked at."""


def watch(settings: RunSettings, line: Callable[[], Place | None]) -> None:
    """Mark the tensors of every batch from now on.

    Args:
        settings: say whose lines are the user's.
        line: gives the user's line that is running, for a loader that is gone by then, since it
            was made in the head of its loop.
    """
    makers, inside = LoaderMakers(Places(settings)), Inside()

    def around_next(plain: Function) -> Function:
        def hand_out(iterator: Any) -> Any:
            if inside.now:
                return plain(iterator)
            inside.now = True
            try:
                batch = plain(iterator)
            finally:
                inside.now = False
            place = makers.of(iterator) or line()
            if place is not None:
                for tensor in _tensors(batch):
                    mark_batch(tensor, (place, BATCH))
            return batch

        return hand_out

    replace(DataLoader, "__init__", makers.around_init)
    iterator = private.loader_iterator()
    if iterator is not None:
        replace(iterator, "__next__", around_next)


def _tensors(batch: Any) -> Iterator[torch.Tensor]:
    """Those in containers, and in attributes of objects, as far as they are looked at."""
    left, seen = deque([batch]), 0
    while left and seen < _MOST:
        each = left.popleft()
        seen += 1
        if isinstance(each, torch.Tensor):
            yield each
        else:
            left.extend(_parts(each))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return tuple(value.values())
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return tuple(getattr(value, "__dict__", {}).values())

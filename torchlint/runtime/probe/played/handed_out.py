"""What a loader hands out is marked with the line that made the loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches.batch_tensors import batch_tensors
from torchlint.runtime.probe.batches.loader_makers import LoaderMakers
from torchlint.runtime.probe.played.marks import BATCH, mark_batch
from torchlint.runtime.probe.wrapping.interpose import Inside, replace
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.run_settings import RunSettings

    Function = Callable[..., Any]


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
                for tensor in batch_tensors(batch):
                    mark_batch(tensor, (place, BATCH))
            return batch

        return hand_out

    replace(DataLoader, "__init__", makers.around_init)
    iterator = private.loader_iterator()
    if iterator is not None:
        replace(iterator, "__next__", around_next)

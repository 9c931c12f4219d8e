"""Which line of the user's code has made the loader that hands out a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function
    from torchlint.runtime.probe.wrapping.user_lines import Places


class LoaderMakers:
    """Notes where loaders are made.

    Args:
        places: of the user's code.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._made: WeakKeyDictionary[Any, Place | None] = WeakKeyDictionary()

    def around_init(self, plain: Function) -> Function:
        """For `DataLoader.__init__`."""
        noted = shielded(self._noted)

        def init(loader: Any, *args: Any, **kwargs: Any) -> None:
            plain(loader, *args, **kwargs)
            noted(loader)

        return init

    def of(self, iterator: Any) -> Place | None:
        """Where the loader of an iterator was made."""
        for loader, made in self._made.items():
            if loader_iterators.is_of(iterator, loader):
                return made
        return None

    def _noted(self, loader: Any) -> None:
        self._made[loader] = self._places.here()

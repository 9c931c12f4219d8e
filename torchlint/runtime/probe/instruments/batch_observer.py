"""What instruments that look at batches have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.wrapping.interpose import Inside, shielded

if TYPE_CHECKING:
    from torchlint.runtime.probe.wrapping.interpose import Function


read_values: Any = torch.Tensor.tolist
"""As it was before any instrument wrapped it, for this is not a read of the script."""


class BatchObserver(Observer):
    """Looks at each batch that a loader hands out; a loader inside a dataset is part of this."""

    def begin(self) -> None:
        self._inside = Inside()
        self.around(private.loader_iterator(), "__next__", self._watched)

    def look(self, batch: Any) -> None:
        """A loader has handed out a batch."""
        raise NotImplementedError

    def _watched(self, plain: Function) -> Function:
        compiling, look = private.compiling(), shielded(self.look)

        def next_batch(iterator: Any) -> Any:
            if compiling() or self._inside.now or not self.watching:
                return plain(iterator)
            self._inside.now = True
            try:
                batch = plain(iterator)
            finally:
                self._inside.now = False
            if self.watching:
                look(batch)
            return batch

        private.keep_from_compiler(next_batch)
        return next_batch

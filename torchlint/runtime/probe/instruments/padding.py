"""How much of the batches is padding, by the masks that come with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe.instrument_messages import PaddedPlace, PaddingSeen
from torchlint.runtime.probe.instruments.batch_observer import BatchObserver, read_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.messages import Place

_KEY = "attention_mask"
_DEEPEST = 2
_WIDEST = 100
"""Parts of a batch that are looked through."""


class PaddingObserver(BatchObserver):
    """Counts the zeros of `attention_mask` in batches that are in main memory. Without such a mask
    nothing says what is padding."""

    def begin(self) -> None:
        super().begin()
        self._by_place: dict[Place | None, PaddedPlace] = {}

    def end(self) -> PaddingSeen:
        return PaddingSeen(list(self._by_place.values()))

    def look(self, batch: Any) -> None:
        place = self.places.here()
        seen = self._by_place.setdefault(place, PaddedPlace(place))
        masks = list(_masks(batch))
        if not masks:
            seen.unmasked += 1
            return
        counted = [_counted(mask) for mask in masks]
        if None in counted:
            seen.odd += 1
            return
        seen.batches += 1
        for positions, padded, beyond in filter(None, counted):
            seen.positions += positions
            seen.padded += padded
            seen.beyond += beyond


def _masks(batch: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    if isinstance(batch, Mapping):
        mask = batch.get(_KEY)
        if isinstance(mask, torch.Tensor):
            yield mask
            return
        parts = list(batch.values())
    elif isinstance(batch, (list, tuple)):
        parts = list(batch)
    else:
        return
    if depth < _DEEPEST:
        for each in parts[:_WIDEST]:
            yield from _masks(each, depth + 1)


@torch.no_grad()
def _counted(mask: torch.Tensor) -> tuple[int, int, int] | None:
    """Positions, padding, and padding in columns that are nothing else; None if the mask
    tells something else, or would have to be read from a device."""
    if mask.device.type != "cpu" or mask.layout != torch.strided or mask.dim() != 2:
        return None
    if mask.is_floating_point() or mask.is_complex() or not mask.numel():
        return None
    real = mask != 0
    # One block of ones begins once and ends once: padding to the right, to the left, or both.
    begins = real[:, 0].long() + (real[:, 1:] & ~real[:, :-1]).sum(dim=1)
    most, used, kept = read_values(torch.stack((begins.max(), real.any(dim=0).sum(), real.sum())))
    if most > 1:
        return None
    rows, columns = mask.shape
    return mask.numel(), mask.numel() - kept, rows * (columns - used)


watch = PaddingObserver

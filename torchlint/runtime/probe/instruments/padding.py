"""How much of the batches is padding, by the masks that come with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps.interpose import Inside, replace, shielded
from torchlint.runtime.probe.steps.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.settings import Settings
    from torchlint.runtime.probe.steps.interpose import Function, Undo
    from torchlint.runtime.probe.steps.places import Place

_KEY = "attention_mask"
_DEEPEST = 2
_read = torch.Tensor.tolist
"""As it was before any instrument wrapped it, for this is no read of the script."""
_WIDEST = 100
"""Parts of a batch that are looked through."""


def install(settings: Settings) -> Padding:
    """Nothing is touched before the window begins."""
    return Padding(settings)


@dataclass(slots=True)
class Masks:
    """Of the batches that one place took.

    Args:
        batches: with a mask that was counted.
        rows: samples in them.
        positions: in their masks.
        padded: positions of padding.
        beyond: those of them that lie beyond the longest sample of their batch.
        odd: batches whose mask is not one block of ones in each row, or lies on a device.
        unmasked: batches without any mask.
    """

    batches: int = 0
    rows: int = 0
    positions: int = 0
    padded: int = 0
    beyond: int = 0
    odd: int = 0
    unmasked: int = 0


class Padding:
    """Counts the zeros of `attention_mask` in batches that lie in main memory. Without such a mask
    nothing says what is padding.

    `end()` returns `steps` and `places`: a list of objects with the fields of `Masks`, and with
    `place`.
    """

    def __init__(self, settings: Settings) -> None:
        self._places = Places(settings)
        self._undo: list[Undo] = []
        # What others have wrapped meanwhile stays in place at the end, and does nothing then.
        self._watching = False

    def begin(self) -> None:
        self._steps = 0
        self._inside = Inside()
        self._masks: dict[Place | None, Masks] = {}
        self._watching = True
        iterator = private.loader_iterator()
        if iterator is not None:
            self._undo.append(replace(iterator, "__next__", self._watched))

    def step(self) -> None:
        self._steps += 1

    def end(self) -> dict[str, object]:
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        self._watching = False
        places = [{"place": place, **_values(masks)} for place, masks in self._masks.items()]
        return {"steps": self._steps, "places": places}

    def _watched(self, plain: Function) -> Function:
        compiling, count = private.compiling(), shielded(self._count)

        def next_batch(iterator: Any) -> Any:
            if compiling() or self._inside.now or not self._watching:
                return plain(iterator)
            self._inside.now = True  # a loader inside a dataset is part of this
            try:
                batch = plain(iterator)
            finally:
                self._inside.now = False
            if self._watching:
                count(batch)
            return batch

        private.keep_from_compiler(next_batch)
        return next_batch

    def _count(self, batch: Any) -> None:
        seen = self._masks.setdefault(self._places.here(), Masks())
        masks = list(_masks(batch))
        if not masks:
            seen.unmasked += 1
            return
        counted = [_counted(mask) for mask in masks]
        if None in counted:
            seen.odd += 1
            return
        seen.batches += 1
        for rows, positions, padded, beyond in filter(None, counted):
            seen.rows += rows
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
def _counted(mask: torch.Tensor) -> tuple[int, int, int, int] | None:
    """Rows, positions, padding, and padding in columns that are nothing else; None if the mask
    tells something else, or would have to be read from a device."""
    if mask.device.type != "cpu" or mask.layout != torch.strided or mask.dim() != 2:
        return None
    if mask.is_floating_point() or mask.is_complex() or not mask.numel():
        return None
    real = mask != 0
    # One block of ones begins once and ends once: padding to the right, to the left, or both.
    begins = real[:, 0].long() + (real[:, 1:] & ~real[:, :-1]).sum(dim=1)
    most, used, kept = _read(torch.stack((begins.max(), real.any(dim=0).sum(), real.sum())))
    if most > 1:
        return None
    rows, columns = mask.shape
    return rows, mask.numel(), mask.numel() - kept, rows * (columns - used)


def _values(masks: Masks) -> dict[str, object]:
    return {name: getattr(masks, name) for name in Masks.__slots__}

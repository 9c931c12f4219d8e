"""A few numbers that represent a tensor, so that two runs can be compared without its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

BUCKETS = 8
"""Signed sums that a tensor is reduced to."""
_PERIOD = 1 << 16
_CHUNK = 1 << 22
_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_ODD = 0x1C69B3F74AC4AE35


@dataclass(frozen=True)
class Sketch:
    """One tensor at one moment. The parts stay on its device until somebody reads them.

    Args:
        digest: int64 scalar. Tensors with the same bits in the same logical order have the same
            digest, and others almost never.
        sums: float64, `BUCKETS` + 1 long. Every element enters one of the buckets with a fixed
            random sign, so that for the difference of two tensors the squares of the buckets'
            differences add up to the square of its norm, give or take a half (Charikar, Chen,
            Farach-Colton 2002, the count sketch). The last is the sum of squares.
    """

    digest: Tensor
    sums: Tensor


@dataclass(frozen=True)
class Sketcher:
    """Makes sketches. Two sketchers make the same ones of the same tensors."""

    _tables: dict[torch.device, tuple[Tensor, Tensor]] = field(default_factory=dict)

    @torch.no_grad()
    def __call__(self, tensor: Tensor) -> Sketch:
        """Sketch a dense tensor of any type and memory layout, without waiting for its device.

        Raises:
            RuntimeError, TypeError, NotImplementedError: this kind of tensor has no plain values.
        """
        flat = _plain(tensor)
        size = flat.numel()
        digest = torch.zeros((), dtype=torch.int64, device=flat.device)
        sums = torch.zeros(BUCKETS + 1, dtype=torch.float64, device=flat.device)
        for start in range(0, size, _CHUNK):
            chunk = flat[start : start + _CHUNK]
            digest = digest * _ODD + self._digest(chunk)
            sums += self._sums(chunk)
        return Sketch(digest, sums)

    def _digest(self, flat: Tensor) -> Tensor:
        """A weighted sum of the bits modulo 2**64, which comes out the same in any order."""
        bits = flat.view(_SIGNED[flat.element_size()]).to(torch.int64)
        rows = _rows(bits)
        factors, _ = self._table(flat.device)
        by_row = (rows * factors[: rows.shape[1]]).sum(dim=1)
        numbers = torch.arange(1, 2 * len(by_row), 2, device=flat.device)
        return (by_row * (numbers * _ODD)).sum()

    def _sums(self, flat: Tensor) -> Tensor:
        values = flat.to(torch.float64)
        rows = _rows(values)
        _, signs = self._table(flat.device)
        by_column = rows.sum(dim=0) * signs[: rows.shape[1]]
        buckets = by_column.view(-1, BUCKETS).sum(dim=0)
        return torch.cat([buckets, (values * values).sum().view(1)])

    def _table(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Odd factors and signs, of one period."""
        if device not in self._tables:
            generator = torch.Generator("cpu").manual_seed(0x5EED)
            draw = partial(torch.randint, size=(_PERIOD,), generator=generator, device="cpu")
            factors = draw(-(2**62), 2**62) * 2 + 1
            signs = (draw(0, 2) * 2 - 1).to(torch.float64)
            self._tables[device] = factors.to(device), signs.to(device)
        return self._tables[device]


def _plain(tensor: Tensor) -> Tensor:
    """The values in their logical order, as one dense row of a type that has bits and numbers."""
    local = getattr(tensor, "to_local", None)
    tensor = (tensor if local is None else local()).detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.device.type == "mps":
        tensor = tensor.cpu()  # which has no float64
    if tensor.dtype is torch.bool:
        tensor = tensor.to(torch.int8)
    return tensor.resolve_neg().reshape(-1).contiguous()


def _rows(flat: Tensor) -> Tensor:
    """As rows of one period, or as a single shorter one, with zeros at the end."""
    size = flat.numel()
    width = _PERIOD if size >= _PERIOD else -(-size // BUCKETS) * BUCKETS
    return torch.nn.functional.pad(flat, (0, -size % width)).view(-1, width)

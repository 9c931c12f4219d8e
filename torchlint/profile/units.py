"""Large quantities in words, with three figures."""

from __future__ import annotations

from typing import Final

_STEPS: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def scaled(value: float, unit: str) -> str:
    """`1.24 GFLOP` for 1.24e9 of them."""
    for size, letter in _STEPS:
        if value >= 0.9995 * size:
            return f"{_three(value / size)} {letter}{unit}"
    return f"{_three(value)} {unit}"


def mebibytes(value: float) -> str:
    """`512 MiB`, `12.5 GiB`."""
    return f"{_three(value / 1024)} GiB" if value >= 0.9995 * 1024 else f"{_three(value)} MiB"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 999.5 else f"{value:.3g}"

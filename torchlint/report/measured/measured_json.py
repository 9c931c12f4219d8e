"""JSON of what was measured: six significant figures, None for what is not a finite number, laid
out as a person would break it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Json = dict[str, object]

_WIDTH: Final = 100
_FIGURES: Final = 6


def rounded(value: float | None) -> float | None:
    """Six significant figures; None for what is not finite."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{_FIGURES}g}")


def laid_out(value: object, indent: str = "") -> str:
    """JSON in ASCII with short things and lists of numbers on one line.

    Raises:
        ValueError: a number in it is not finite.
    """
    line = json.dumps(value, allow_nan=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list) or _plain(value):
        return line
    inner = indent + "  "
    parts = f",\n{inner}".join(_parts(value, inner))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}{parts}\n{indent}{closing}"


def _parts(value: Mapping[str, object] | Sequence[object], indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{json.dumps(key)}: {laid_out(each, indent)}"
    else:
        for each in value:
            yield laid_out(each, indent)


def _plain(value: object) -> bool:
    """Whether it is a list of nothing but numbers, or of lists of them."""
    return isinstance(value, list) and all(
        each is None or isinstance(each, int | float) or _plain(each) for each in value
    )

"""What `--sweep` asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_WORKERS: Final = "workers"
_MOST_WORKERS: Final = 16
_MOST_CHOICES: Final = 8


@dataclass(frozen=True, slots=True)
class Wish:
    """What to sweep: workers, or a number that the script takes as an argument.

    Args:
        option: of the script; empty for workers.
        values: to try, ascending.
    """

    option: str
    values: tuple[int, ...]


def wish(text: str, processors: int) -> Wish:
    """What `--sweep` asks for: `workers`, `workers:0,2,4` or `batch-size=--batch-size:32,64`.

    Raises:
        ValueError: it is not one of these; the message says so.
    """
    name, _, listed = text.partition(":")
    values = tuple(int(each) for each in listed.split(",") if each.strip().isdecimal())
    if listed and (len(values) != listed.count(",") + 1 or len(set(values)) != len(values)):
        raise ValueError(f'"{listed}" is not a list of different numbers, such as 32,64,128')
    if len(values) > _MOST_CHOICES:
        raise ValueError(f"{len(values)} values are too many; give {_MOST_CHOICES} at most")
    if name == _WORKERS:
        return Wish("", tuple(sorted(values)) or _numbers_of_workers(processors))
    option = re.fullmatch(r"batch-size=(-{1,2}[\w-]+)", name)
    if option is None or len(values) < 2:
        raise ValueError(
            "give `workers`, `workers:0,2,4`, or `batch-size=--batch-size:32,64,128` with the "
            "script's own option"
        )
    if 0 in values:
        raise ValueError("a batch has at least one sample")
    return Wish(option[1], tuple(sorted(values)))


def _numbers_of_workers(processors: int) -> tuple[int, ...]:
    """0, 1, 2, 4, … up to the processors."""
    found, most = [0, 1], min(processors, _MOST_WORKERS)
    while found[-1] * 2 <= most:
        found.append(found[-1] * 2)
    return (*found, most) if found[-1] < most else tuple(found)

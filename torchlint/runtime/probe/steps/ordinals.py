"""Gives optimizers and modules numbers that mean the same in another run of the script."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Reference = Callable[[], object]


def _nothing(_: object = None) -> None:
    return None


class Ordinals:
    """Numbers things in the order in which they are first seen, without keeping them alive.

    A thing takes over the number of one that is gone, or that has the same mark: a script may
    well make a new optimizer for every epoch.

    Args:
        mark: gives an object that a thing shares with its successors only, or None.
    """

    def __init__(self, mark: Callable[[object], object] = _nothing) -> None:
        self.known: dict[int, int] = {}
        """Numbers of the living, by `id`."""
        self._mark = mark
        self._references: dict[int, Reference] = {}
        self._latest: list[tuple[Reference, Reference]] = []
        """By number: the last thing that had it, and its mark."""

    def of(self, thing: object) -> int:
        """The number of a thing."""
        number = self.known.get(id(thing))
        if number is None:
            mark = self._mark(thing)
            self.known[id(thing)] = number = self._inherited(mark)
            self._latest[number : number + 1] = [(self._follow(thing), _reference(mark))]
        return number

    def _inherited(self, mark: object) -> int:
        for number, (thing, old_mark) in enumerate(self._latest):
            if thing() is None or (mark is not None and old_mark() is mark):
                return number
        return len(self._latest)

    def _follow(self, thing: object) -> Reference:
        key = id(thing)

        def forget(_: object) -> None:
            # Another thing may get the same id.
            self.known.pop(key, None)
            self._references.pop(key, None)

        self._references[key] = reference = _reference(thing, forget)
        return reference


def _reference(thing: object, gone: Callable[[object], None] | None = None) -> Reference:
    if thing is None:
        return _nothing
    try:
        return weakref.ref(thing, gone)
    except TypeError:
        return lambda: thing

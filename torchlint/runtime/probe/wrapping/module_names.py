"""The names of modules within the root modules that a script calls."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class ModuleNames:
    """Knows the modules inside each root by their `id`, and keeps none of them alive."""

    def __init__(self) -> None:
        self._roots: list[tuple[Callable[[], Any], dict[int, str]]] = []

    def add_root(self, module: Any) -> None:
        """A module that no other one calls."""
        names = {id(each): name for name, each in module.named_modules()}
        self._roots.append((weakref.ref(module), names))

    def of(self, module: Any) -> str:
        """`encoder.blocks.3`; empty for a root, and for what is inside of none."""
        for root, names in self._roots:
            name, owner = names.get(id(module)), root()
            # The `id` may have been that of another module.
            if name and owner is not None and owner.get_submodule(name) is module:
                return name
        return ""

    def forget_gone(self) -> None:
        """Drop the names of roots that are gone."""
        self._roots = [each for each in self._roots if each[0]() is not None]

    def clear(self) -> None:
        """Drop all names."""
        self._roots.clear()

"""Calls a function as soon as a module has been imported, without importing it."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import find_spec
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def call(name: str, then: Callable[[], object]) -> None:
    """Call `then` when the top-level module `name` has been imported: now, if it is already.

    Looking for the module without importing it (`importlib.util.find_spec`) does not count, and a
    module whose import raises calls nothing.
    """
    if name in sys.modules:
        then()
        return
    # The protocol's types ask for more than importlib does: https://docs.python.org/3/library/sys.html#sys.meta_path
    finders: list[Any] = sys.meta_path
    finders.insert(0, _Awaiting(name, then))


def change(name: str, how: Callable[..., None], *more: object) -> None:
    """Call `how` with the module, and with more, when it has been imported.

    Another version may have other names, or a module of the project may bear this one: what `how`
    does not find there stays as it is.
    """

    def then() -> None:
        with suppress(AttributeError, TypeError):
            how(sys.modules[name], *more)

    call(name, then)


class _Awaiting:
    """Stands before the finders until its module runs."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self._name = name
        self._then = then
        self._asking: set[int] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        thread = get_ident()
        if name != self._name or thread in self._asking:
            return None
        self._asking.add(thread)
        try:
            spec = find_spec(name)
        finally:
            self._asking.discard(thread)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            execute(module)
            self._then()

        # On the instance: the module keeps its loader, and the loader its class.
        loader.exec_module = exec_module

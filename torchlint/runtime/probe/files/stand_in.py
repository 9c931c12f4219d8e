"""Replaces functions written in C, wherever Python code refers to them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Theirs are the functions that all others are made of: importing itself goes through them.
_LEFT_ALONE = ("posix", "_io", "torchlint.runtime.probe.", "importlib._", "_frozen_importlib")


class StandIn:
    """Called like the function that it replaces.

    As a function in C, and unlike one in Python, it does not become a method in a class that
    holds it, and it is pickled and copied by its name.
    """

    def __init__(self, real: Callable[..., Any], module: str, call: Callable[..., Any]) -> None:
        self.__wrapped__ = real
        self.__name__ = self.__qualname__ = real.__name__
        self.__module__ = module
        self.__doc__ = real.__doc__
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<function {self.__name__} under torchlint>"


def put(pairs: Iterable[tuple[object, object]]) -> None:
    """Replace the first of each pair by the second in all modules imported so far.

    Also where a class of such a module holds it or a function has it as a default, and in the sets
    of functions of `os`.
    """
    new = {id(real): stand_in for real, stand_in in pairs}
    for name, module in list(sys.modules.items()):
        if not name.startswith(_LEFT_ALONE):
            for value in _replace_in(module, new):
                if issubclass(type(value), type) and value.__module__ == name:
                    _replace_in(value, new)
    for functions in (
        os.supports_dir_fd,
        os.supports_effective_ids,
        os.supports_fd,
        os.supports_follow_symlinks,
    ):
        functions.update([new[id(value)] for value in functions if id(value) in new])  # type: ignore[misc]


def _replace_in(holder: object, new: dict[int, object]) -> list[Any]:
    """Replace in one module or class; what it held.

    Classes are asked for by `type`: some objects warn, or import, when they are asked themselves.
    """
    try:
        attributes = dict(vars(holder))
    except TypeError:
        return []
    for name, value in attributes.items():
        bare = value.__func__ if type(value) is staticmethod else value
        defaults = bare.__defaults__ if type(bare) is FunctionType else None
        if defaults and not new.keys().isdisjoint(map(id, defaults)):
            bare.__defaults__ = tuple(new.get(id(each), each) for each in defaults)
        if id(bare) in new:
            with suppress(AttributeError, TypeError):
                setattr(holder, name, new[id(bare)])
    return list(attributes.values())

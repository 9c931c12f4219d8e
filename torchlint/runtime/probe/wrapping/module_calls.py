"""Stands around the calls of all modules, also where `events` listens to one class of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import torch

from torchlint.runtime.probe.wrapping.interpose import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.runtime.probe.wrapping.interpose import Function, Undo


def around_modules(make: Callable[[Function], Function]) -> Undo:
    """Replace `Module.__call__` by `make` of it.

    A root module that ends the steps has a stand-in of its own in its class, which goes past the
    one in `Module` (`events.watch_forward`). It is replaced too.
    """
    plain = inspect.unwrap(torch.nn.Module.__call__)
    owners = [
        owner
        for owner in _classes(torch.nn.Module)
        if hasattr(vars(owner).get("__call__"), "__wrapped__")
        and inspect.unwrap(vars(owner)["__call__"]) is plain
    ]
    undo_all = [replace(owner, "__call__", make) for owner in (*owners, torch.nn.Module)]

    def undo() -> None:
        for each in undo_all:
            each()

    return undo


def _classes(parent: type) -> Iterator[type]:
    seen: set[type] = {parent}
    left: list[type] = [parent]
    while left:
        children: list[type] = type.__subclasses__(left.pop())
        for each in children:
            if each not in seen:
                seen.add(each)
                left.append(each)
                yield each

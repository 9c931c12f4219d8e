"""Wraps torch's own functions, so that the script sees no difference."""

from __future__ import annotations

import functools
import threading
import traceback
from typing import TYPE_CHECKING, Any, Protocol

from torchlint.runtime.probe import private

if TYPE_CHECKING:
    from collections.abc import Callable

    Undo = Callable[[], None]
    Function = Callable[..., Any]


class LaneListener(Protocol):
    """Notes when this thread begins a part of a step, and when it ends the one begun last."""

    def enter(self, lane: str) -> None: ...
    def leave(self) -> None: ...


class Inside(threading.local):
    """Whether this thread is inside a watched call."""

    now = False


def shielded(listener: Function) -> Callable[..., None]:
    """The listener; its exceptions go to the run's standard error and not into the script."""

    def call(*arguments: Any) -> None:
        try:
            listener(*arguments)
        except Exception:
            traceback.print_exc()

    return private.out_of_graphs(call)


def outermost(
    plain: Function, after: Function, lane: str, lanes: LaneListener | None, inside: Inside
) -> Function:
    """`plain`, with a call of `after(args, kwargs)` when an outermost call of it has returned."""
    compiling, graph_task, after = private.compiling(), private.graph_task(), shielded(after)

    def call(*args: Any, **kwargs: Any) -> Any:
        if compiling() or inside.now or graph_task() != -1:
            return plain(*args, **kwargs)
        inside.now = True
        if lanes is not None:
            lanes.enter(lane)
        try:
            result = plain(*args, **kwargs)
        finally:
            inside.now = False
            if lanes is not None:
                lanes.leave()
        after(args, kwargs)
        return result

    private.keep_from_compiler(call)
    return call


def replace(owner: Any, name: str, make: Callable[[Function], Function]) -> Undo:
    """Replace an attribute by `make` of it. Undone, it stays where others built on it."""
    own, plain = name in vars(owner), getattr(owner, name)
    # A class may hold what binds, as static methods and those of pybind11, and give what it wraps.
    held = vars(owner).get(name)
    stand_in = functools.wraps(plain)(make(plain))
    setattr(owner, name, stand_in)

    def undo() -> None:
        if vars(owner).get(name) is not stand_in:
            return
        if own:
            setattr(owner, name, held)
        else:
            delattr(owner, name)

    return undo


def replace_scripted(owner: Any, name: str, make: Callable[[Function], Function]) -> Undo:
    """The same for a function that TorchScript compiles, which it does as before."""
    plain = getattr(owner, name)
    undo = replace(owner, name, make)
    private.script_like(getattr(owner, name), plain)
    return undo

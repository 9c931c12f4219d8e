"""The events that steps consist of: optimizers, backward passes, forward passes, batches.

Each `watch_…` hooks or replaces what all scripts of its kind go through, calls its listener after
every event, and returns a function that undoes this. Listening changes nothing that the script
computes, and no exception of a listener reaches it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.steps.ordinals import Ordinals
from torchlint.runtime.probe.wrapping import interpose
from torchlint.runtime.probe.wrapping.interpose import (
    Inside,
    outermost,
    replace,
    replace_scripted,
    shielded,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from torchlint.runtime.probe.run_settings import Anchor
    from torchlint.runtime.probe.wrapping.interpose import Function, LaneListener, Undo

    Heard = Callable[[int, Any, Any], None]
    """Gets a number, the optimizer or the module, and the module's arguments."""

OPTIMIZER, BACKWARD, FORWARD, LOADER = "optimizer", "backward", "forward", "loader"
PASS, GRAD = 0, 1
"""Numbers of `torch.autograd.backward` and `torch.autograd.grad` among backward events."""
_CALLED = Inside()
"""By an optimizer's hook: torch goes through its hooks, and none of them can be removed."""
_BETWEEN = frozenset({interpose.__name__, private.__name__})
"""Modules whose frames are between a hook's listener and what calls the hook."""


def at_anchor(anchor: Anchor, boundary: Callable[[], None]) -> Undo:
    """Call `boundary` after each event that ends a step, and listen for nothing else.

    Raises:
        ValueError: there is no such kind of event.
    """
    index = anchor.index

    def heard(number: int, *_: object) -> None:
        if number == index:
            boundary()

    if anchor.kind == OPTIMIZER:
        return watch_optimizers(heard)
    if anchor.kind == BACKWARD:
        return watch_backward(heard)
    if anchor.kind == FORWARD:
        return watch_forward(heard, only=index)
    if anchor.kind == LOADER:
        return watch_loader(heard)
    raise ValueError(f"no event of the kind {anchor.kind!r} can be heard")


def may_end_steps(kind: str, role: str) -> bool:
    """Whether an event of this kind can be part of the training in this process.

    A loader's worker prepares data, whatever it does for that. Other processes that the script
    starts train if they take gradients; they too may only run a model over some data.

    Args:
        kind: of the event.
        role: of the process: `main`, or `child` if the script has started it.
    """
    if role == "main":
        return True
    from torch.utils.data import get_worker_info

    return kind in (OPTIMIZER, BACKWARD) and get_worker_info() is None


def watch_lanes(lanes: LaneListener, stepped: Heard | None = None) -> Undo:
    """Note which part of a step each thread is in.

    To be called before the script runs: a hook that is registered while a step ends breaks the
    loop over the hooks.

    Args:
        lanes: hears when a part begins and ends.
        stepped: hears every optimizer's steps, as in `watch_optimizers`.
    """

    def unheard(*_: object) -> None:
        """Only where a part begins and ends counts."""

    undo_all = [
        watch_optimizers(stepped or unheard, lanes),
        watch_backward(unheard, lanes),
        watch_forward(unheard, lanes),
        watch_loader(unheard, lanes),
    ]

    def undo() -> None:
        for each in undo_all:
            each()

    return undo


def watch_optimizers(
    heard: Heard, lanes: LaneListener | None = None, skipped: Callable[[], None] | None = None
) -> Undo:
    """Hear every optimizer's steps, numbered in the order of their first ones.

    A step that is taken inside another step is part of that one. A step that a GradScaler leaves
    out because of infinite gradients is heard like the others, after a call of `skipped`.
    """
    from torch.optim import optimizer as optim

    numbers = Ordinals(_first_parameter)
    doubtful: set[int] = set()
    ended, on = 0, True

    def step_ended(optimizer: object, *_: object) -> None:
        nonlocal ended
        if not on:
            return
        ended += 1
        if lanes is not None:
            lanes.leave()
        number = numbers.known.get(id(optimizer))
        if number is None or doubtful:
            if (number is None or id(optimizer) in doubtful) and _is_nested(sys._getframe(1)):
                doubtful.add(id(optimizer))
                return
            number = numbers.of(optimizer)
        before, _CALLED.now = _CALLED.now, True
        try:
            heard(number, optimizer, None)
        finally:
            _CALLED.now = before

    def step_begins(*_: object) -> None:
        if lanes is not None and on:
            lanes.enter(OPTIMIZER)

    def step_skipped(optimizer: object) -> None:
        if skipped is not None:
            skipped()
        heard(numbers.of(optimizer), optimizer, None)

    handles = [optim.register_optimizer_step_post_hook(shielded(step_ended))]
    if lanes is not None:
        handles.append(optim.register_optimizer_step_pre_hook(shielded(step_begins)))
    undo_scaler = _watch_scaler(lambda: ended, shielded(step_skipped))

    def undo() -> None:
        nonlocal on
        on = False
        undo_scaler()
        for handle in () if _CALLED.now else handles:
            handle.remove()

    return undo


def _watch_scaler(ended: Callable[[], int], skipped: Callable[..., None]) -> Undo:
    """Hear of the steps that never reach their optimizer."""
    import torch

    # Before torch 2.3 there was only the one for CUDA.
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler

    def make(plain: Function) -> Function:
        def step(self: object, optimizer: object, *args: Any, **kwargs: Any) -> Any:
            before = ended()
            result = plain(self, optimizer, *args, **kwargs)
            if ended() == before:
                skipped(optimizer)
            return result

        return step

    return replace(scaler, "step", make)


def _first_parameter(optimizer: Any) -> object:
    try:
        return optimizer.param_groups[0]["params"][0]
    except (AttributeError, LookupError, TypeError):
        return None


def _is_nested(hook: FrameType) -> bool:
    """Whether the function that calls an optimizer's hooks is twice on the stack: this step
    is that of a parent class, or of an optimizer that another one wraps."""
    wrapper: FrameType | None = hook
    while wrapper is not None and wrapper.f_globals.get("__name__") in _BETWEEN:
        wrapper = wrapper.f_back
    outer = wrapper.f_back if wrapper is not None else None
    while wrapper is not None and outer is not None and outer.f_code is not wrapper.f_code:
        outer = outer.f_back
    return outer is not None


def watch_backward(heard: Heard, lanes: LaneListener | None = None) -> Undo:
    """Hear backward passes, numbered PASS and GRAD.

    Not those inside others, as of reentrant checkpoints, and not gradients that get a graph of
    their own: those are terms of a loss.
    """
    import torch

    autograd: Any = torch.autograd
    inside = Inside()

    def passed(*_: object) -> None:
        heard(PASS, None, None)

    def differentiated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not kwargs.get("create_graph", args[4] if len(args) > 4 else False):
            heard(GRAD, None, None)

    undo_backward = replace_scripted(
        autograd, "backward", lambda plain: outermost(plain, passed, BACKWARD, lanes, inside)
    )
    undo_grad = replace_scripted(
        autograd, "grad", lambda plain: outermost(plain, differentiated, BACKWARD, lanes, inside)
    )

    def undo() -> None:
        undo_backward()
        undo_grad()

    return undo


def watch_forward(heard: Heard, lanes: LaneListener | None = None, only: int | None = None) -> Undo:
    """Hear calls of modules that have parameters and are called by no other module.

    They are numbered in the order of their first calls. What a backward pass computes again is
    not heard.

    Args:
        heard: gets the number, the module, and its arguments by position and by name.
        lanes: as elsewhere.
        only: once the module of this number is found, listen to its class alone, so that calls of
            other modules cost nothing.
    """
    import torch

    numbers, inside = Ordinals(), Inside()
    replaced: list[Undo] = []

    def called(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        module, *inputs = args
        number = numbers.known.get(id(module))
        if number is None:
            if next(module.parameters(), None) is None:
                return
            number = numbers.of(module)
        if number == only and len(replaced) == 1:
            undo()
            replaced.append(replace(type(module), "__call__", make))
        heard(number, module, (inputs, kwargs))

    def make(plain: Function) -> Function:
        return outermost(plain, called, FORWARD, lanes, inside)

    def undo() -> None:
        for take_back in replaced:
            take_back()

    replaced.append(replace(torch.nn.Module, "__call__", make))
    return undo


def watch_loader(heard: Heard, lanes: LaneListener | None = None) -> Undo:
    """Hear every batch that a torch `DataLoader` yields, with the number 0 and the iterator."""
    iterator, inside = private.loader_iterator(), Inside()
    if iterator is None:
        return lambda: None

    def handed_out(args: tuple[object, ...], _kwargs: object) -> None:
        heard(0, args[0], None)

    return replace(
        iterator, "__next__", lambda plain: outermost(plain, handed_out, LOADER, lanes, inside)
    )

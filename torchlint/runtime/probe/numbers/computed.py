"""What a script computes, seen from hooks: losses, models before their first call, outputs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchlint.runtime.probe import private
from torchlint.runtime.probe.wrapping.interpose import Inside, replace, replace_scripted, shielded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[..., Any]

_DEEPEST = 8


def watch_losses(heard: Callable[[list[Tensor]], None]) -> None:
    """Pass on the tensors that gradients are taken of, one by one, before each backward pass.

    Passes inside others are not heard, nor gradients that get a graph of their own: those are
    terms of a loss. Of a loss that a GradScaler has scaled, the loss itself is passed on.
    """
    autograd: Any = torch.autograd
    _watch_scaler()
    inside = Inside()

    def before_backward(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        heard(_unscaled(args[0] if args else kwargs.get("tensors")))

    def before_grad(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not kwargs.get("create_graph", args[4] if len(args) > 4 else False):
            heard(_unscaled(args[0] if args else kwargs.get("outputs")))

    for name, before in (("backward", before_backward), ("grad", before_grad)):
        replace_scripted(autograd, name, partial(_around, inside, before))


_LOSS = "_torchlint_loss"
"""On a scaled loss: what it was before."""


def _watch_scaler() -> None:
    """Remember what each loss was before it was scaled: a scale is not part of what a program
    computes, and changes from step to step."""
    # Before torch 2.3 there was only the one for CUDA.
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler

    def note(losses: object, scaled: object) -> None:
        for before, after in zip(_tensors(losses), _tensors(scaled), strict=True):
            if after is not before:
                setattr(after, _LOSS, before)

    remember = shielded(note)

    def make(plain: Function) -> Function:
        def scale(self: Any, outputs: Any) -> Any:
            scaled = plain(self, outputs)
            remember(outputs, scaled)
            return scaled

        return scale

    replace(scaler, "scale", make)


def _unscaled(value: object) -> list[Tensor]:
    return [getattr(each, _LOSS, each) for each in _tensors(value)]


def watch_models(
    met: Callable[[torch.nn.Module], None], answered: Callable[[list[Tensor]], None]
) -> None:
    """Pass on modules that have parameters and are called by no other module.

    Args:
        met: gets the module before each of its calls.
        answered: gets the tensors that it has returned.
    """
    inside = Inside()

    def before(args: tuple[Any, ...], *_: object) -> None:
        if _is_model(args[0]):
            met(args[0])

    def after(args: tuple[Any, ...], result: object) -> None:
        if _is_model(args[0]):
            answered(_tensors(result))

    replace(torch.nn.Module, "__call__", lambda plain: _around(inside, before, plain, after))


def watch_parameters(changed: Callable[[list[Tensor]], None]) -> None:
    """Pass on an optimizer's parameters before each of its steps."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    def before_step(optimizer: Any, *_: object) -> None:
        groups = optimizer.param_groups
        changed([each for group in groups for each in group["params"] if isinstance(each, Tensor)])

    register_optimizer_step_pre_hook(shielded(before_step))


def _is_model(module: torch.nn.Module) -> bool:
    return next(module.parameters(), None) is not None and not private.is_replica(module)


def _around(
    inside: Inside, before: Function, plain: Function, after: Function = lambda *_: None
) -> Function:
    """`plain`, with `before(args, kwargs)` and `after(args, result)` around an outermost call."""
    compiling, graph_task = private.compiling(), private.graph_task()
    before, after = shielded(before), shielded(after)

    def call(*args: Any, **kwargs: Any) -> Any:
        if compiling() or inside.now or graph_task() != -1:
            return plain(*args, **kwargs)
        inside.now = True
        try:
            before(args, kwargs)
            result = plain(*args, **kwargs)
        finally:
            inside.now = False
        after(args, result)
        return result

    private.keep_from_compiler(call)
    return call


def _tensors(value: object, depth: int = 0) -> list[Tensor]:
    """The tensors in what a model or a script has put together, in its order."""
    return list(_walk(value, depth))


def _walk(value: object, depth: int) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
        return
    if depth == _DEEPEST:
        return
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _walk(part, depth + 1)

"""Parameters without gradients, and gradients without an optimizer."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import optimizer as optim

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import GradientsSeen, ParameterGroup
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.runtime.probe.messages import Place

    Group = tuple[str, Place | None]

_MOST_GROUPS = 50
_SAMPLE = 1024
_MOST_MODULES = 1000
"""Root modules whose names are kept; a script may make one for each step."""


@dataclass(slots=True)
class _Held:
    """A parameter of an optimizer.

    Args:
        reference: to the parameter.
        optimizer: `id` of the one that held it last.
        looked: steps of an optimizer before which it was looked at.
        had: it had a gradient before one of them.
    """

    reference: Callable[[], Any]
    optimizer: int
    looked: int = 0
    had: bool = False


@dataclass(slots=True)
class _Free:
    """A parameter of a module that no optimizer has held so far.

    Args:
        reference: to the parameter.
        version: of its values, when it was first seen.
        sample: some of its values then.
        gradient: the `id` and version of its gradient after the last step.
        renewed: steps that gave it another gradient, or added to the one that it had.
    """

    reference: Callable[[], Any]
    version: int | None
    sample: Any
    gradient: tuple[int, int | None] | None
    renewed: int = 0


class GradientObserver(Observer):
    """Looks whether there are gradients, never at their values: those may be on a GPU. Only after
    the window a few values of parameters are read: what changes `p.data` changes no version."""

    def begin(self) -> None:
        """Listen for optimizers and root modules. Torch 1.13 has no hooks for all optimizers."""
        self._held: dict[int, _Held] = {}
        self._free: dict[int, _Free] = {}
        self._names: dict[int, str] = {}
        """Of modules, by the `id` of each of their own parameters."""
        self._roots: dict[int, weakref.ref[Any]] = {}
        self._rows: dict[int, Place | None] = {}
        register = getattr(optim, "register_optimizer_step_pre_hook", None)
        self._known = register is not None
        if register is not None:
            self.at_end(
                register(shielded(self._before_step)).remove, events.watch_forward(self._called)
            )

    def step(self) -> None:
        """See which parameters have a new gradient that no optimizer takes."""
        for key, free in list(self._free.items()):
            parameter = free.reference()
            if parameter is None or key in self._held:
                del self._free[key]
                continue
            gradient = parameter.grad
            now = _identity(gradient)
            free.renewed += now is not None and now != free.gradient
            free.gradient = now

    def end(self) -> GradientsSeen:
        idle, for_nothing = self._idle(), self._for_nothing()
        return GradientsSeen(self._known, idle[:_MOST_GROUPS], for_nothing[:_MOST_GROUPS])

    def _before_step(self, optimizer: Any, *_: object) -> None:
        owner = id(optimizer)
        if owner not in self._rows:
            self._rows[owner] = self.places.here()
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                before = self._held.get(id(parameter))
                if before is None or before.reference() is not parameter:
                    before = _Held(weakref.ref(parameter), owner)
                    self._held[id(parameter)] = before
                before.looked += 1
                before.had = before.had or parameter.grad is not None or not parameter.requires_grad

    def _called(self, _: int, module: Any, __: object) -> None:
        known = self._roots.get(id(module))
        if (
            not self.watching
            or (known is not None and known() is module)
            or len(self._roots) >= _MOST_MODULES
        ):
            return
        self._roots[id(module)] = weakref.ref(module)
        for name, part in module.named_modules():
            for parameter in part.parameters(recurse=False):
                self._names[id(parameter)] = name or type(module).__name__
                if parameter.requires_grad and id(parameter) not in self._held:
                    self._free[id(parameter)] = _Free(
                        weakref.ref(parameter),
                        private.version(parameter),
                        _sample(parameter).clone(),
                        _identity(parameter.grad),
                    )

    def _idle(self) -> list[ParameterGroup]:
        idle = (
            (each.reference(), self._rows.get(each.optimizer), each.looked)
            for each in self._held.values()
            if not each.had
        )
        return self._by_module(idle)

    def _for_nothing(self) -> list[ParameterGroup]:
        """Without parameters that change nevertheless, or that an optimizer holds which did not
        step in the window."""
        there = [(each, each.reference()) for each in self._free.values() if each.renewed > 1]
        there = [
            (each, it)
            for each, it in there
            if it is not None
            and private.version(it) == each.version
            and torch.equal(_sample(it), each.sample)
        ]
        waiting = _held_by_any() if there else set()
        row = next(iter(self._rows.values()), None)
        return self._by_module(
            (it, row, each.renewed)
            for each, it in there
            if id(it) not in waiting and id(it) not in self._held
        )

    def _by_module(self, found: Iterable[tuple[Any, Place | None, int]]) -> list[ParameterGroup]:
        """Sorted by the number of values, most first."""
        groups: dict[Group, list[int]] = {}
        for parameter, row, steps in found:
            if parameter is not None:
                group = groups.setdefault((self._names.get(id(parameter), ""), row), [0, 0, steps])
                group[0] += 1
                group[1] += parameter.numel()
                group[2] = min(group[2], steps)
        ranked = sorted(groups.items(), key=lambda each: (-each[1][1], each[0][0]))
        return [
            ParameterGroup(module, row, count, values, steps)
            for (module, row), (count, values, steps) in ranked
        ]


def _sample(parameter: Any) -> Any:
    """Values from all over it, at least one and less than twice `_SAMPLE`."""
    values = parameter.detach().reshape(-1)
    return values[:: max(1, len(values) // _SAMPLE)]


def _identity(gradient: Any) -> tuple[int, int | None] | None:
    """Another one after each step that has made a new gradient, or added to it."""
    return None if gradient is None else (id(gradient), private.version(gradient))


def _held_by_any() -> set[int]:
    """`id`s of the parameters of all optimizers that there are."""
    optimizers = [
        each for each in gc.get_objects() if issubclass(type(each), torch.optim.Optimizer)
    ]
    groups = [group for each in optimizers for group in getattr(each, "param_groups", ())]
    return {id(parameter) for group in groups for parameter in group["params"]}


watch = GradientObserver

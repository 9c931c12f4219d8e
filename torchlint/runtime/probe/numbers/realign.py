"""Gives every part of a program random numbers of its own, so that a change that draws more of
them, fewer, or in another process leaves the others' where they were.

What is left out: `numpy.random.Generator`, `random.Random` and `torch.Generator` objects that the
script makes are its own.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import on_import, private
from torchlint.runtime.probe.numbers import samples
from torchlint.runtime.probe.numbers.streams import NUMPY, Stream, number, rank, seed_devices

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDED, RESEEDED, ISOLATED, KEYED = 0, 1, 2, 3
"""Levels, each with all below it: only seeded; seeded again at each step and each loader's start;
initialization draws apart; samplers and samples draw apart."""


def seed_all(seed: int) -> None:
    """Seed Python's, torch's and, as soon as it is imported, NumPy's global generator."""
    seed_devices(seed)
    on_import.call("numpy.random", NUMPY.arrive)


class Realigner:
    """Realigns this process, and those it starts, from now on.

    Args:
        seed: what all keys begin with.
        level: `SEEDED` to `KEYED`.
    """

    def __init__(self, seed: int, level: int) -> None:
        self._given = seed
        self._loaders = 0
        self._calls: dict[object, int] = {}
        self._starting = threading.local()
        self.level = level
        if level >= RESEEDED:
            self._watch_loaders()
        if level >= ISOLATED:
            self._set_initialization_apart()
        if level >= KEYED:
            self._set_samples_apart()

    def after_step(self, step: int) -> None:
        """Step number `step` is over."""
        if self.level >= RESEEDED:
            self._seed("step", step)

    def _seed(self, *key: object) -> None:
        seed_devices(number(self._given, rank(), *key))

    def _watch_loaders(self) -> None:
        loader_class: Any = torch.utils.data.DataLoader
        start = loader_class.__iter__

        @functools.wraps(start)
        def start_realigned(loader: Any) -> Any:
            self._loaders += 1
            self._seed("loader", self._loaders)
            epoch = _Epoch(self._given, rank(), self._loaders)
            outer = getattr(self._starting, "epoch", None)
            self._starting.epoch = epoch
            try:
                iterator = start(loader)
            finally:
                self._starting.epoch = outer
            iterator.torchlint_epoch = epoch
            return iterator

        loader_class.__iter__ = start_realigned

    def _set_initialization_apart(self) -> None:
        """The functions of `torch.nn.init`, also where torch's own modules have imported them."""
        init: Any = torch.nn.init
        apart = {
            getattr(init, name): self._apart(name, getattr(init, name))
            for name in dir(init)
            if name.endswith("_") and not name.startswith("_")
        }
        for name, module in list(sys.modules.items()):
            if name.startswith("torch.nn.") and module is not None:
                for attribute, value in list(vars(module).items()):
                    if callable(value) and not isinstance(value, type) and value in apart:
                        setattr(module, attribute, apart[value])

    def _apart(self, name: str, initialize: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(initialize)
        def initialize_apart(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if tensor.device.type not in ("cpu", "cuda"):
                return initialize(tensor, *args, **kwargs)
            call = (name, tuple(tensor.shape))
            count = self._calls[call] = self._calls.get(call, 0) + 1
            devices = [tensor.device] if tensor.is_cuda else []
            with torch.random.fork_rng(devices):
                seed = number(self._given, "init", *call, count)
                torch.default_generator.manual_seed(seed)
                if tensor.is_cuda:
                    with torch.cuda.device(tensor.device):
                        torch.cuda.manual_seed(seed)
                return initialize(tensor, *args, **kwargs)

        return initialize_apart

    def _set_samples_apart(self) -> None:
        if private.wrap_fetchers(samples.fetch_indexed, samples.fetch_next):
            private.wrap_next_index(self._next_index)

    def _next_index(self, ask: Callable[[], Any], iterator: Any) -> Any:
        epoch: _Epoch | None = getattr(self._starting, "epoch", None)
        if epoch is None:
            epoch = getattr(iterator, "torchlint_epoch", None)
        if epoch is None:
            return ask()
        with epoch.sampler():
            index = ask()
        return samples.Batch(index, epoch.samples)


class _Epoch:
    """One pass of a loader."""

    def __init__(self, *key: object) -> None:
        self.sampler = Stream(*key, "sampler")
        self.samples = key

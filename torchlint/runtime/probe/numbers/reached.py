"""How far into a training the recorded steps have come: a change may act only later, at the end of
an epoch, in an evaluation, or when a schedule changes the learning rate."""

from __future__ import annotations

import gc
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe.messages import Extent
from torchlint.runtime.probe.script.loaded_files import loaded_files
from torchlint.runtime.probe.wrapping.interpose import replace, shielded

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.run_settings import RunSettings

    Function = Callable[..., Any]

_MOST_DATASETS = 64


@dataclass
class _Dataset:
    """What loaders read from; held, so that no other gets its number."""

    dataset: object
    batches: int | None
    passes: int = 0


class Reached:
    """Listens from now on.

    Args:
        settings: say which project the script belongs to.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._project = settings.project
        self._datasets: dict[int, _Dataset] = {}
        self._evaluates = False
        loaders: Any = torch.utils.data.DataLoader
        replace(loaders, "__iter__", lambda plain: _before(plain, self._begins))
        replace(torch.nn.Module, "train", lambda plain: _before(plain, self._switches))

    def report(self) -> Extent:
        """What was reached, for the parent."""
        most = max(self._datasets.values(), key=lambda each: each.passes, default=None)
        return Extent(
            most.passes if most else 0,
            most.batches if most else None,
            sorted(_idle_schedules()),
            self._evaluates,
            loaded_files(self._project),
        )

    def _begins(self, loader: Any, *_: object) -> None:
        # A script may make a loader for each pass; what it reads from stays.
        dataset = loader.dataset
        number = self._datasets.get(id(dataset))
        if number is None and len(self._datasets) < _MOST_DATASETS:
            number = self._datasets[id(dataset)] = _Dataset(dataset, _length(loader))
        if number is not None:
            number.passes += 1

    def _switches(self, module: torch.nn.Module, mode: bool = True) -> None:
        # A teacher or a frozen backbone is put there once and for all.
        if not mode and any(each.requires_grad for each in module.parameters()):
            self._evaluates = True


def _before(plain: Function, listener: Function) -> Function:
    listener = shielded(listener)

    def call(*args: Any, **kwargs: Any) -> Any:
        listener(*args, **kwargs)
        return plain(*args, **kwargs)

    return call


def _length(loader: Any) -> int | None:
    with suppress(Exception):  # its dataset's or sampler's own code
        return len(loader)
    return None


def _idle_schedules() -> set[str]:
    from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

    kinds = (LRScheduler, ReduceLROnPlateau)
    made = [each for each in gc.get_objects() if issubclass(type(each), kinds)]
    return {type(each).__name__ for each in made if _is_idle(each)}


def _is_idle(schedule: Any) -> bool:
    try:
        groups = schedule.optimizer.param_groups
        known = [group for group in groups if "initial_lr" in group]
        if known:
            return all(float(group["lr"]) == float(group["initial_lr"]) for group in known)
        return int(schedule.last_epoch) <= 0
    except (AttributeError, KeyError, TypeError, ValueError):
        return False

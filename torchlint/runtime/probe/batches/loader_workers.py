"""Gives the script's loaders another number of worker processes than it asks for."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.wrapping.interpose import replace

if TYPE_CHECKING:
    from torchlint.runtime.probe.wrapping.interpose import Function, Undo

_OF_WORKERS = ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context")
"""Arguments that a loader without workers does not take."""


def force(workers: int) -> Undo:
    """From now on every new loader has this number of workers.

    Not those of a dataset that is a stream: each worker would read all of it. What the loader
    cannot be made with stays as the script has it.
    """
    from torch.utils.data import DataLoader, IterableDataset

    def make(plain: Function) -> Function:
        signature = inspect.signature(plain)

        def init(*args: Any, **kwargs: Any) -> None:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:  # the script's own error, which it must see
                plain(*args, **kwargs)
                return
            if not isinstance(bound.arguments.get("dataset"), IterableDataset):
                bound.arguments["num_workers"] = workers
                for name in _OF_WORKERS if workers == 0 else ():
                    bound.arguments.pop(name, None)
            plain(*bound.args, **bound.kwargs)

        return init

    return replace(DataLoader, "__init__", make)

"""What all of the played device shares: the ledger, the card, and what this thread is doing."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Final

import torch

from torchlint.runtime.probe.played.cards import CARDS, DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.played.cards import Card
    from torchlint.runtime.probe.played.ledger import Ledger


class ThisThread(threading.local):
    """This thread.

    Attributes:
        quiet: how many calls of ours it is in; what happens in them is neither seen nor counted.
        making: where a function that was told a device makes its tensors; None: in none.
        device: the number of its current device.
        setting: an item of a tensor is being set to a number, or the gradient of that is taken.
        moving: where a tensor that is made of others is moved, and whether the host waits; None:
            nowhere.
        reading: what the script calls to read a value: `float`, `bool`; None: nothing.
    """

    quiet = 0
    making: int | None = None
    device = 0
    moving: tuple[int | None, bool] | None = None
    reading: str | None = None
    setting = False


class Played:
    """The device of this process.

    Attributes:
        on: it is played here; a loader's worker has none.
        forked: this process is a copy of one that had asked the device for something.
        by_nccl: a process group was to use NCCL.
    """

    def __init__(self) -> None:
        self.on = False
        self.forked = False
        self.by_nccl = False
        self.card: Card = CARDS[DEFAULT]
        self.devices = 1
        self.ledger: Ledger
        self.thread: Final = ThisThread()

    def touch(self) -> None:
        """Something is about to use the device.

        Raises:
            RuntimeError: this is a forked process, where CUDA cannot be used.
        """
        if self.forked:
            raise RuntimeError(
                "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
                "you must use the 'spawn' start method"
            )

    def index_of(self, device: Any) -> int | None:
        """The number of a CUDA device that is named in any way; None if it is another kind.

        Args:
            device: a `torch.device`, its name, a number, or None, which is no device.

        Raises:
            RuntimeError: there is no such device.
        """
        if device is None:
            return None
        if isinstance(device, bool) or not isinstance(device, (str, int, torch.device)):
            return None
        if isinstance(device, int):
            index = device
        else:
            made = torch.device(device)
            if made.type != "cuda":
                return None
            index = self.thread.device if made.index is None else made.index
        if index >= self.devices:
            raise RuntimeError(
                "CUDA error: invalid device ordinal (torchlint plays "
                f"{self.devices} device{'s' if self.devices > 1 else ''}; more with --devices)"
            )
        self.touch()
        return index

    def index_or_current(self, device: Any) -> int:
        """The same; of any other kind, and of None, the number of the current device."""
        index = self.index_of(device)
        return self.thread.device if index is None else index

    def quietly(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call something of torch as it is; nothing is seen and nothing is counted."""
        self.thread.quiet += 1
        try:
            return call(*args, **kwargs)
        finally:
            self.thread.quiet -= 1

    def making(self, lies: int, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call something of torch whose results lie there: on a device, `HOST`, or `UNSAID`."""
        before, self.thread.making = self.thread.making, lies
        try:
            return call(*args, **kwargs)
        finally:
            self.thread.making = before

    def rest(self) -> None:
        """This process is a copy, as a loader's worker."""
        self.forked = self.on and self.ledger.launches > 0
        self.on = False


PLAYED: Final = Played()
TORCH: Final = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
"""Major and minor version."""


def rank_device() -> int:
    """The device that a process of torchrun would take."""
    return int(os.environ.get("LOCAL_RANK", "0"))

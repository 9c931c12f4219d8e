"""The global generators of random numbers, and sequences that several parts of a program share."""

from __future__ import annotations

import os
import random
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


def number(*key: object) -> int:
    """A seed for this key, the same in every process."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "big") >> 1


def rank() -> int:
    """Which of the ranks of a distributed run this process is."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    return int(os.environ.get("RANK", "0"))


class Stream:
    """A place in a sequence of random numbers: entered, it continues from where it was left."""

    def __init__(self, *key: object) -> None:
        self._seed = number(*key)
        self._place: _Place | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        outside = _Place.now()
        if self._place is None:
            seed_processor(self._seed)
        else:
            self._place.resume()
        try:
            yield
        finally:
            self._place = _Place.now()
            outside.resume()


class _Numpy:
    """NumPy's global generator, which may be seeded long before it is imported."""

    def __init__(self) -> None:
        self._seed = 0

    def seed(self, seed: int) -> None:
        """Begin here, now or when it is imported."""
        self._seed = seed % 2**32
        if "numpy.random" in sys.modules:
            self.arrive()

    def arrive(self) -> None:
        """It has just been imported."""
        sys.modules["numpy.random"].seed(self._seed)

    def place(self) -> Any:
        """Where it is, or would begin."""
        module = sys.modules.get("numpy.random")
        return self._seed if module is None else module.get_state()

    def resume(self, place: Any) -> None:
        """Go on from a place."""
        if isinstance(place, int):
            self.seed(place)
        else:
            sys.modules["numpy.random"].set_state(place)


NUMPY = _Numpy()
"""As global as what it represents."""


@dataclass(frozen=True)
class _Place:
    """The state of the processor's global generators."""

    python: Any
    torch: torch.Tensor
    numpy: Any

    @classmethod
    def now(cls) -> _Place:
        return cls(random.getstate(), torch.get_rng_state(), NUMPY.place())

    def resume(self) -> None:
        random.setstate(self.python)
        torch.set_rng_state(self.torch)
        NUMPY.resume(self.numpy)


def seed_processor(seed: int) -> None:
    """Seed the generators of the processor."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    NUMPY.seed(seed)


def seed_devices(seed: int) -> None:
    """Seed them and those of all accelerators, when they are initialized."""
    random.seed(seed)
    torch.manual_seed(seed)
    NUMPY.seed(seed)

"""Random numbers of a device: a stream of its own, as on a GPU; that of the host stays as it is."""

from __future__ import annotations

from typing import Any, Final

import torch

from torchlint.runtime.probe.played.state import PLAYED

_Plain: Any = torch.Generator
_SEED: Final = 67280421310721
"""What torch seeds a generator with that nobody has seeded (`c10::detail` of its sources)."""
_own: dict[int, Any] = {}


class _Meta(type(_Plain)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Plain)


class Generator(_Plain, metaclass=_Meta):  # type: ignore[misc]
    """`torch.Generator`, of the host or of a played device."""

    def __new__(cls, device: Any = "cpu") -> Any:
        index = PLAYED.index_of(device)
        made = super().__new__(cls, device="cpu" if index is not None else device)
        made.torchlint_lies = index
        return made

    @property
    def device(self) -> Any:
        """Where it draws."""
        index = getattr(self, "torchlint_lies", None)
        return torch.device("cpu") if index is None else torch.device("cuda", index)


def of(device: int) -> Any:
    """The generator of a device that is used where none is given."""
    found = _own.get(device)
    if found is None:
        found = _own[device] = Generator(torch.device("cuda", device))
        found.manual_seed(_SEED)
    return found


def draw(device: int, func: Any, args: Any, kwargs: dict[str, Any], *, takes: bool) -> Any:
    """Run an operation with random numbers of the device's stream.

    Args:
        takes: it has an argument for a generator.
    """
    if takes:
        given = kwargs.get("generator")
        positional = any(isinstance(each, _Plain) for each in args)
        if given is not None or positional:
            return func(*args, **kwargs)
        return func(*args, **{**kwargs, "generator": of(device)})
    host, own = torch.default_generator, of(device)
    before = host.get_state()
    host.set_state(own.get_state())
    try:
        return func(*args, **kwargs)
    finally:
        own.set_state(host.get_state())
        host.set_state(before)
